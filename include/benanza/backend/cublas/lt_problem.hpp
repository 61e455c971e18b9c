// SPDX-License-Identifier: Apache-2.0
// A task as cublasLt is told it: matrices, what is done on their product, in which arithmetic; the
// algorithms that the library proposes for it, and one of them made again from its id.
//
//   lt_problem p(task, numeric::f16);   for (const lt_found& f : p.proposals(on)) id_of(f.choice);
//   lt_found same = p.rebuilt(on, f.choice);   same.algo is ready to run
#pragma once

#include "lt_algorithm.hpp"
#include "task.hpp"

#include <set>

namespace benanza::backend::cublas {

/// How many algorithms are asked for.
inline constexpr int most_proposals = 16;

constexpr cublasOperation_t operation_of(const column_matrix& m) {
  return m.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
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
    int what = of.function == op::unary_function::relu ? CUBLASLT_EPILOGUE_RELU
               : of.function                           ? CUBLASLT_EPILOGUE_GELU
               : of.bias                               ? CUBLASLT_EPILOGUE_BIAS
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

  /// What the library proposes, best first; none where it has no way. Only what computes in the
  /// class's own arithmetic; what cannot be made again from its id says so.
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
      lt_found f{.choice = settings_of(r.algo)};
      if (!seen.insert(id_of(f.choice)).second) continue;
      try {
        f = rebuilt(on, f.choice);
        if (has_own_arithmetic(f, type_)) out.push_back(std::move(f));
      } catch (const refusal& e) {
        f.refused = e.what();
        out.push_back(std::move(f));
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

  numeric type_;
  column_product column_;
  owned<cublasLtMatmulDesc_t, call::lt_operation_destroy> operation_;
  matrix first_, second_, addend_, result_;
};

} // namespace benanza::backend::cublas
