// SPDX-License-Identifier: Apache-2.0
// A task as cublasLt is told it: matrices, what is done on their product, in which arithmetic; the
// algorithms that the library proposes for it, and one of them made again from its id. True FP32 is
// what has no tensor cores in it, by the library's own word.
//
//   lt_problem p(task, numeric::f16);   for (const lt_found& f : p.proposals(on)) id_of(f.choice);
//   lt_found same = p.rebuilt(on, f.choice);   same.algo is ready to run
#pragma once

#include "context.hpp"
#include "lt_choice.hpp"
#include "task.hpp"

#include <set>

namespace benanza::backend::cublas {

/// How many algorithms are asked for.
inline constexpr int most_proposals = 16;

/// cuBLAS's name of an element type; only for types of classes that it computes in.
constexpr cudaDataType_t data_type_of(dtype t) {
  switch (t) {
  case dtype::f16: return CUDA_R_16F;
  case dtype::bf16: return CUDA_R_16BF;
  case dtype::s8: return CUDA_R_8I;
  case dtype::e4m3: return CUDA_R_8F_E4M3;
  default: return CUDA_R_32F;
  }
}

/// In which products are computed and added up.
constexpr cublasComputeType_t compute_type_of(numeric t) {
  return quantised(t)         ? CUBLAS_COMPUTE_32I
         : t == numeric::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                              : CUBLAS_COMPUTE_32F;
}

constexpr cublasOperation_t operation_of(const column_matrix& m) {
  return m.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

/// An algorithm with what the library says of it.
struct lt_found {
  lt_choice choice{};
  cublasLtMatmulAlgo_t algo{};
  std::int64_t workspace_bytes = 0;
  double waves = 0; ///< how many times over it fills the GPU
  bool tensor_cores = false;
};

namespace detail {
inline constexpr std::array<cublasLtMatmulAlgoConfigAttributes_t, lt_setting_names.size()>
    lt_attributes{CUBLASLT_ALGO_CONFIG_ID,
                  CUBLASLT_ALGO_CONFIG_TILE_ID,
                  CUBLASLT_ALGO_CONFIG_STAGES_ID,
                  CUBLASLT_ALGO_CONFIG_SPLITK_NUM,
                  CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
                  CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING,
                  CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION,
                  CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID,
                  CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID};
/// The last two are of 16 bits, all others of 32.
constexpr std::size_t lt_width(std::size_t setting) {
  return setting < 7 ? sizeof(std::uint32_t) : sizeof(std::uint16_t);
}

inline std::int64_t read_setting(const cublasLtMatmulAlgo_t& algo, std::size_t setting) {
  std::uint32_t wide = 0;
  std::uint16_t narrow = 0;
  const bool is_wide = lt_width(setting) == sizeof wide;
  std::size_t written = 0;
  const cublasStatus_t s =
      call::lt_algo_get(&algo, lt_attributes[setting],
                        is_wide ? static_cast<void*>(&wide) : &narrow, lt_width(setting), &written);
  // Algorithms without inner shapes or clusters may not know these words.
  if (!is_wide && (s == CUBLAS_STATUS_INVALID_VALUE || s == CUBLAS_STATUS_NOT_SUPPORTED)) return 0;
  check(s, "a setting of an algorithm");
  return is_wide ? std::int64_t{wide} : std::int64_t{narrow};
}
inline void write_setting(cublasLtMatmulAlgo_t& algo, std::size_t setting, std::int64_t value) {
  const auto wide = static_cast<std::uint32_t>(value);
  const auto narrow = static_cast<std::uint16_t>(value);
  const bool fits = lt_width(setting) == sizeof wide ? value == wide : value == narrow;
  if (!fits) throw refusal("cuBLAS: no setting of an algorithm is " + std::to_string(value));
  check(call::lt_algo_set(&algo, lt_attributes[setting],
                          lt_width(setting) == sizeof wide ? static_cast<const void*>(&wide)
                                                           : &narrow,
                          lt_width(setting)),
        std::string("an algorithm with ")
            .append(lt_setting_names[setting])
            .append(" ")
            .append(std::to_string(value)));
}
} // namespace detail

/// The settings that an algorithm really has.
inline lt_choice settings_of(const cublasLtMatmulAlgo_t& algo) {
  lt_choice c;
  for (std::size_t i = 0; i < c.values.size(); ++i)
    c.values[i] = detail::read_setting(algo, i);
  return c;
}

/// A task with all that cublasLt wants to be told of it.
class lt_problem {
public:
  /// `bias` is where the vector of the task stands; before it has a place, any that is aligned as
  /// the GPU's memory is.
  lt_problem(const task& of, numeric t, const void* bias = aligned_address())
      : type_(t)
      , column_(told(of.what))
      , operation_(
            [t](cublasLtMatmulDesc_t* d) {
              return call::lt_operation_create(d, compute_type_of(t), CUDA_R_32F);
            },
            "a product")
      , first_(column_.first, data_type_of(weights_of(t)), column_.batches)
      , second_(column_.second, data_type_of(source_of(t)), column_.batches)
      , addend_(column_.result, data_type_of(addend_type(t)), column_.batches)
      , result_(column_.result, data_type_of(result_of(t)), column_.batches) {
    set(CUBLASLT_MATMUL_DESC_TRANSA, operation_of(column_.first));
    set(CUBLASLT_MATMUL_DESC_TRANSB, operation_of(column_.second));
    int what = of.function == op::unary_function::relu   ? CUBLASLT_EPILOGUE_RELU
               : of.function == op::unary_function::gelu ? CUBLASLT_EPILOGUE_GELU
               : of.bias                                 ? CUBLASLT_EPILOGUE_BIAS
                                                         : CUBLASLT_EPILOGUE_DEFAULT;
    if (of.bias) {
      what |= CUBLASLT_EPILOGUE_BIAS;
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, data_type_of(bias_type(t)));
    }
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<cublasLtEpilogue_t>(what));
  }

  cublasLtMatmulDesc_t operation() const { return operation_.get(); }
  cublasLtMatrixLayout_t first() const { return first_.get(); }
  cublasLtMatrixLayout_t second() const { return second_.get(); }
  cublasLtMatrixLayout_t addend() const { return addend_.get(); }
  cublasLtMatrixLayout_t result() const { return result_.get(); }

  /// What the library proposes, best first; none where it has no way. Only what can be made again
  /// from its id, and computes in the class's own arithmetic.
  std::vector<lt_found> proposals(cublasLtHandle_t on) const {
    const owned<cublasLtMatmulPreference_t, call::lt_preference_destroy> wish(
        call::lt_preference_create, "a preference");
    const auto limit = static_cast<std::size_t>(workspace_limit_bytes);
    check(call::lt_preference_set(wish.get(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit,
                                  sizeof limit),
          "a preference");
    std::array<cublasLtMatmulHeuristicResult_t, most_proposals> results{};
    int count = 0;
    const cublasStatus_t s =
        call::lt_heuristic(on, operation(), first(), second(), addend(), result(), wish.get(),
                           most_proposals, results.data(), &count);
    if (s == CUBLAS_STATUS_NOT_SUPPORTED || s == CUBLAS_STATUS_INVALID_VALUE ||
        s == CUBLAS_STATUS_ARCH_MISMATCH)
      return {};
    check(s, "algorithms cannot be listed");
    std::vector<lt_found> out;
    std::set<std::string> seen;
    for (int i = 0; i < count; ++i) {
      const auto& r = results[static_cast<std::size_t>(i)];
      if (r.state != CUBLAS_STATUS_SUCCESS) continue;
      try {
        lt_found f = rebuilt(on, settings_of(r.algo));
        if (has_own_arithmetic(f) && seen.insert(id_of(f.choice)).second)
          out.push_back(std::move(f));
      } catch (const refusal&) {
        // Proposed by the library, and then refused by it.
      }
    }
    return out;
  }

  /// The algorithm of these settings. Throws where the library has none such here.
  lt_found rebuilt(cublasLtHandle_t on, const lt_choice& c) const {
    lt_found f{.choice = c};
    const cudaDataType_t element = data_type_of(source_of(type_));
    check(call::lt_algo_init(on, compute_type_of(type_), CUDA_R_32F,
                             data_type_of(weights_of(type_)), element,
                             data_type_of(addend_type(type_)), data_type_of(result_of(type_)),
                             static_cast<int>(c[lt_setting::algo]), &f.algo),
          "algorithm " + std::to_string(c[lt_setting::algo]));
    // Only what differs: an algorithm may not take a setting that it does not have.
    for (std::size_t i = 1; i < c.values.size(); ++i)
      if (detail::read_setting(f.algo, i) != c.values[i])
        detail::write_setting(f.algo, i, c.values[i]);
    cublasLtMatmulHeuristicResult_t said{};
    check(
        call::lt_algo_check(on, operation(), first(), second(), addend(), result(), &f.algo, &said),
        id_of(c));
    f.workspace_bytes = static_cast<std::int64_t>(said.workspaceSize);
    if (f.workspace_bytes > workspace_limit_bytes)
      throw refusal("cuBLAS: " + id_of(c) + " needs a workspace of " +
                    std::to_string(f.workspace_bytes) + " bytes");
    f.waves = static_cast<double>(said.wavesCount);
    std::uint64_t flags = 0;
    std::size_t written = 0;
    check(call::lt_algo_property(&f.algo, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags,
                                 sizeof flags, &written),
          "an algorithm's arithmetic");
    f.tensor_cores = (flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK) != 0;
    return f;
  }

private:
  class matrix {
  public:
    matrix(const column_matrix& m, cudaDataType_t type, std::int64_t batches)
        : it_(
              [&](cublasLtMatrixLayout_t* d) {
                return call::lt_matrix_create(d, type, static_cast<std::uint64_t>(m.rows),
                                              static_cast<std::uint64_t>(m.columns), m.ld);
              },
              "a matrix") {
      if (batches == 1) return;
      set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batches));
      set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, m.step);
    }
    cublasLtMatrixLayout_t get() const { return it_.get(); }

  private:
    template <class T>
    void set(cublasLtMatrixLayoutAttribute_t what, const T& value) {
      check(call::lt_matrix_set(it_.get(), what, &value, sizeof value), "a matrix");
    }
    owned<cublasLtMatrixLayout_t, call::lt_matrix_destroy> it_;
  };

  static const void* aligned_address() {
    return reinterpret_cast<const void*>(std::uintptr_t{256});
  }

  template <class T>
  void set(cublasLtMatmulDescAttributes_t what, const T& value) {
    check(call::lt_operation_set(operation(), what, &value, sizeof value), "a product");
  }

  bool has_own_arithmetic(const lt_found& f) const {
    if (type_ == numeric::f32) return !f.tensor_cores;
    return type_ != numeric::tf32 || f.tensor_cores;
  }

  numeric type_;
  column_product column_;
  owned<cublasLtMatmulDesc_t, call::lt_operation_destroy> operation_;
  matrix first_, second_, addend_, result_;
};

/// Which algorithms it competes with: parts of k whose sums meet in a narrow type are a class of
/// their own.
inline std::string equivalence_of(const lt_found& f, numeric t) {
  std::string text(name(t));
  const std::int64_t by = f.choice[lt_setting::reduction];
  const bool meets_narrow =
      by == CUBLASLT_REDUCTION_SCHEME_INPLACE || by == CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
  if (f.choice[lt_setting::splitk] > 1 && meets_narrow && size_bytes(result_of(t)) < 4)
    text += "-reduced-accumulation";
  return text;
}

/// What the library says of it, in words.
inline std::string notes_of(const lt_found& f) {
  char waves[32];
  std::snprintf(waves, sizeof waves, ",waves=%.3g", f.waves);
  std::string text = "heuristic";
  if (f.tensor_cores) text += ",tensor-cores";
  if (const std::int64_t parts = f.choice[lt_setting::splitk]; parts > 1)
    text += ",split-k=" + std::to_string(parts);
  return text + waves;
}

} // namespace benanza::backend::cublas
