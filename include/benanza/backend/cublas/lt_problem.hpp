// SPDX-License-Identifier: Apache-2.0
// A task as described to cublasLt: matrices, what is done on their product, in which arithmetic;
// the algorithms that the library proposes for it, and one of them made again from its id, or from
// the bytes that the library keeps of it.
//
//   lt_problem p(task, numeric::f16);   for (const lt_found& f : p.proposals(on)) id_of(f.choice);
//   lt_found same = p.made(on, f.choice, f.algo);   same.algo is ready to run
#pragma once

#include "lt_algorithm.hpp"
#include "task.hpp"

#include <cstring>
#include <set>

namespace benanza::backend::cublas {

/// How many algorithms are asked for.
inline constexpr int most_proposals = 16;

constexpr cublasOperation_t operation_of(const column_matrix& m) {
  return m.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

/// A task with all that cublasLt wants to know of it.
class lt_problem {
public:
  /// `fast_accum`: products of FP8 are added up in fewer bits. `bias` is the address of the task's
  /// vector, `one` that of a 1, which operands and result of FP8 are scaled by; before they have a
  /// place, any address that is aligned as the GPU's memory is.
  lt_problem(const task& of, numeric t, bool fast_accum = false,
             const void* bias = aligned_address(), const void* one = aligned_address())
      : type_(t)
      , fast_accum_(fast_accum)
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
    int what = of.function == op::unary_function::relu ? CUBLASLT_EPILOGUE_RELU
               : of.function                           ? CUBLASLT_EPILOGUE_GELU
               : of.bias                               ? CUBLASLT_EPILOGUE_BIAS
                                                       : CUBLASLT_EPILOGUE_DEFAULT;
    if (of.bias) {
      what |= CUBLASLT_EPILOGUE_BIAS;
      place_bias(bias);
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, data_type_of(bias_type(t)));
    }
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<cublasLtEpilogue_t>(what));
    if (t != numeric::e4m3) return;
    for (const auto scale :
         {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
          CUBLASLT_MATMUL_DESC_D_SCALE_POINTER})
      set(scale, one);
    set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, static_cast<std::int8_t>(fast_accum));
  }

  /// Where the vector is from now on.
  void place_bias(const void* bias) { set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias); }

  cublasLtMatmulDesc_t operation() const { return operation_.get(); }
  cublasLtMatrixLayout_t first() const { return first_.get(); }
  cublasLtMatrixLayout_t second() const { return second_.get(); }
  cublasLtMatrixLayout_t addend() const { return addend_.get(); }
  cublasLtMatrixLayout_t result() const { return result_.get(); }

  /// What the library proposes, best first; none where it has no way. Only what computes in the
  /// class's own arithmetic; what the library proposes and then refuses says so. Ids have a hash
  /// where no algorithm can be made of the settings, or another one has the same: not wherever the
  /// bytes differ, as some may mean nothing, and other processes must find the id again.
  std::vector<lt_found> proposals(cublasLtHandle_t on) const {
    std::vector<lt_found> out;
    std::set<std::string> seen; // ids and bytes
    bool is_first = true;
    for (const std::uint32_t schemes : wished_schemes()) {
      for (const auto& [algo, is_steady] : asked(on, schemes)) {
        if (!seen.insert(hex_of(algo)).second) continue;
        lt_found f{.choice = choice_of(algo), .algo = algo};
        bool is_told = true; // by the settings
        try {
          f = restored(on, f.choice, algo);
          is_told = is_made_of(on, f.choice);
        } catch (const refusal& e) {
          f.refused = e.what();
        }
        if (f.refused.empty() && !has_own_arithmetic(f, type_)) continue;
        if (is_first && seen.contains(id_of(f.choice))) is_told = false;
        if (!is_told && is_steady) f.choice.hash = hash_of(algo);
        if (seen.insert(id_of(f.choice)).second) out.push_back(std::move(f));
      }
      is_first = false;
    }
    return out;
  }

  /// The algorithm of a choice: that of the library's own bytes, where they are known; that which
  /// it proposes under the same id; else what is made of the settings. Throws where the library has
  /// none such here.
  lt_found made(cublasLtHandle_t on, const lt_choice& c,
                const std::optional<cublasLtMatmulAlgo_t>& bytes = {}) const {
    if (bytes) return restored(on, c, *bytes);
    for (lt_found& f : proposals(on))
      if (f.choice == c && f.refused.empty()) return std::move(f);
    return rebuilt(on, c);
  }

  /// The algorithm that is made of a choice's settings. Throws where the library has none such
  /// here.
  lt_found rebuilt(cublasLtHandle_t on, const lt_choice& c) const {
    cublasLtMatmulAlgo_t algo{};
    check(call::lt_algo_init(on, compute_type_of(type_), CUDA_R_32F,
                             data_type_of(weights_of(type_)), data_type_of(source_of(type_)),
                             data_type_of(addend_type(type_)), data_type_of(result_of(type_)),
                             static_cast<int>(c[lt_setting::algo]), &algo),
          "algorithm " + std::to_string(c[lt_setting::algo]));
    // Only what differs: an algorithm may not take a setting that it does not have.
    for (std::size_t i = 1; i < c.values.size(); ++i)
      if (detail::read_setting(algo, i) != c.values[i]) detail::write_setting(algo, i, c.values[i]);
    return checked(on, algo);
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

  lt_choice choice_of(const cublasLtMatmulAlgo_t& algo) const {
    lt_choice c = settings_of(algo);
    c.fast_accum = fast_accum_;
    return c;
  }

  /// An algorithm with what the library says of it. Throws where it refuses it here.
  lt_found checked(cublasLtHandle_t on, const cublasLtMatmulAlgo_t& algo) const {
    lt_found f{.choice = choice_of(algo), .algo = algo};
    cublasLtMatmulHeuristicResult_t said{};
    check(call::lt_algo_check(on, operation(), first(), second(), addend(), result(), &algo, &said),
          id_of(f.choice));
    f.workspace_bytes = static_cast<std::int64_t>(said.workspaceSize);
    if (f.workspace_bytes > workspace_limit_bytes)
      throw refusal("cuBLAS: " + id_of(f.choice) + " needs a workspace of " +
                    std::to_string(f.workspace_bytes) + " bytes");
    f.waves = static_cast<double>(said.wavesCount);
    std::uint64_t flags = 0;
    std::size_t written = 0;
    check(call::lt_algo_property(&algo, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags,
                                 sizeof flags, &written),
          "an algorithm's arithmetic");
    f.tensor_cores = (flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK) != 0;
    return f;
  }

  /// The algorithm of the library's own bytes; that of the settings where it refuses these.
  lt_found restored(cublasLtHandle_t on, const lt_choice& c,
                    const cublasLtMatmulAlgo_t& bytes) const {
    try {
      lt_found f = checked(on, bytes);
      if (!c.hash.empty()) f.choice.hash = hash_of(bytes);
      return f;
    } catch (const refusal&) {
      return rebuilt(on, c);
    }
  }

  /// True where the settings alone make an algorithm that the library takes.
  bool is_made_of(cublasLtHandle_t on, const lt_choice& c) const {
    try {
      return rebuilt(on, c).choice == c;
    } catch (const refusal&) {
      return false;
    }
  }

  /// How parts of a sum may meet: the library's choice; and once more not in a narrow type, for
  /// such algorithms may leave the others no place in the list.
  std::vector<std::uint32_t> wished_schemes() const {
    std::vector<std::uint32_t> out{CUBLASLT_REDUCTION_SCHEME_MASK};
    if (may_meet_narrow(type_))
      out.push_back(CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
    return out;
  }

  /// A proposal, and whether the library gave the same bytes twice: no others name it in another
  /// process.
  struct proposal {
    cublasLtMatmulAlgo_t algo{};
    bool is_steady = true;
  };
  using answer = std::array<cublasLtMatmulHeuristicResult_t, most_proposals>;

  /// What the library proposes where sums meet by these schemes.
  std::vector<proposal> asked(cublasLtHandle_t on, std::uint32_t schemes) const {
    const owned<cublasLtMatmulPreference_t, call::lt_preference_destroy> wish(
        call::lt_preference_create, "a preference");
    const auto limit = static_cast<std::size_t>(workspace_limit_bytes);
    check(call::lt_preference_set(wish.get(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit,
                                  sizeof limit),
          "a preference");
    check(call::lt_preference_set(wish.get(), CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes,
                                  sizeof schemes),
          "a preference");
    answer once{}, again;
    again.fill(filled_with_ones()); // what is never written differs
    const int count = asked(on, wish.get(), once);
    const bool is_same = asked(on, wish.get(), again) == count;
    std::vector<proposal> out;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      if (once[i].state == CUBLAS_STATUS_SUCCESS)
        out.push_back({once[i].algo, is_same && hex_of(once[i].algo) == hex_of(again[i].algo)});
    return out;
  }
  int asked(cublasLtHandle_t on, cublasLtMatmulPreference_t wish, answer& to) const {
    int count = 0;
    const cublasStatus_t s = call::lt_heuristic(on, operation(), first(), second(), addend(),
                                                result(), wish, most_proposals, to.data(), &count);
    if (s == CUBLAS_STATUS_NOT_SUPPORTED || s == CUBLAS_STATUS_INVALID_VALUE ||
        s == CUBLAS_STATUS_ARCH_MISMATCH)
      return 0;
    check(s, "algorithms cannot be listed");
    return count;
  }
  static cublasLtMatmulHeuristicResult_t filled_with_ones() {
    cublasLtMatmulHeuristicResult_t r;
    std::memset(&r, 0xff, sizeof r);
    return r;
  }

  template <class T>
  void set(cublasLtMatmulDescAttributes_t what, const T& value) {
    check(call::lt_operation_set(operation(), what, &value, sizeof value), "a product");
  }

  numeric type_;
  bool fast_accum_;
  column_product column_;
  owned<cublasLtMatmulDesc_t, call::lt_operation_destroy> operation_;
  matrix first_, second_, addend_, result_;
};

} // namespace benanza::backend::cublas
