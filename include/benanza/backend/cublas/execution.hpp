// SPDX-License-Identifier: Apache-2.0
// One algorithm of one task, ready to run on the GPU: operands in its layouts in the GPU's memory,
// weights that rotate, the shared workspace. A plain function of cuBLAS, for matrices or for a
// matrix and a vector, or one algorithm of cublasLt.
//
//   lt_run r(context, task, numeric::f16, choice, operands);   r.run(1);   double ns = r.time(100);
#pragma once

#include "../cuda/device_run.hpp"
#include "enumerate.hpp"
#include "lt_problem.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace benanza::backend::cublas {

namespace detail {
inline constexpr float one = 1, none = 0;
} // namespace detail

/// What all of them have: operands and result.
class product_run : public cuda::device_run {
public:
  product_run(std::shared_ptr<context> on, task of, numeric t, const operands& values,
              const setting& s)
      : device_run(on->gpu(), values, s)
      , context_(std::move(on))
      , task_(std::move(of))
      , type_(t)
      , column_(told(task_.what))
      , scale_(static_cast<float>(values.output_scale))
      , left_(hold(task_.left, task_.weights == weights_place::left))
      , right_(hold(task_.right, task_.weights == weights_place::right)) {
    write(task_.result);
  }

protected:
  using device_run::hold;
  int hold(const task_operand& o, bool constant = false) {
    if (o.ones) return device_run::hold({&detail::one, o.is}, false, [&] { return ones(o.is); });
    return device_run::hold(o.input, o.is, constant, o.scaled ? values().output_scale : 1);
  }

  const context& on() const { return *context_; }
  const task& what() const { return task_; }
  numeric type() const { return type_; }
  const column_product& column() const { return column_; }
  float scale() const { return scale_; }
  const float* factor() const { return &task_.factor; }
  const std::byte* left(std::int64_t copy) const { return at(left_, copy); }
  const std::byte* right(std::int64_t copy) const { return at(right_, copy); }

private:
  static tensor_bytes ones(const cuda::stored& as) {
    tensor_bytes out(static_cast<std::size_t>(as.bytes()));
    for (std::int64_t i = 0; i < as.elements; ++i)
      store(as.type, out.data(), i, 1);
    return out;
  }

  std::shared_ptr<context> context_;
  task task_;
  numeric type_;
  column_product column_;
  float scale_;
  int left_, right_;
};

/// cublasGemmEx, or its form for stacks.
class gemm_run final : public product_run {
public:
  using product_run::product_run;
  std::string ran() const override { return what().before + std::string(gemm_id); }

private:
  void enqueue(std::int64_t copy) override {
    const column_product& p = column();
    const auto number = [](std::int64_t v) { return static_cast<int>(v); };
    const cudaDataType_t element = data_type_of(source_of(type()));
    const auto a = operation_of(p.first), b = operation_of(p.second);
    const int m = number(p.m), n = number(p.n), k = number(p.k);
    const int lda = number(p.first.ld), ldb = number(p.second.ld), ldc = number(p.result.ld);
    if (p.batches == 1)
      check_launch(call::gemm(on().plain(), a, b, m, n, k, factor(), right(copy), element, lda,
                              left(copy), element, ldb, &detail::none, result(copy), element, ldc,
                              compute_type_of(type()), CUBLAS_GEMM_DEFAULT));
    else
      check_launch(call::gemm_stacked(
          on().plain(), a, b, m, n, k, factor(), right(copy), element, lda, p.first.step,
          left(copy), element, ldb, p.second.step, &detail::none, result(copy), element, ldc,
          p.result.step, number(p.batches), compute_type_of(type()), CUBLAS_GEMM_DEFAULT));
  }
};

/// The functions for a matrix and a vector.
class gemv_run final : public product_run {
public:
  gemv_run(std::shared_ptr<context> with, task of, numeric t, const operands& values,
           const setting& s)
      : product_run(std::move(with), std::move(of), t, values, s)
      , column_(told_with_vector(what().what).value()) {}
  std::string ran() const override { return what().before + std::string(gemv_id); }

private:
  void enqueue(std::int64_t copy) override {
    switch (source_of(type())) {
    case dtype::f16: return stacked<__half>(call::gemv_stacked_f16, copy);
    case dtype::bf16: return stacked<__nv_bfloat16>(call::gemv_stacked_bf16, copy);
    default: break;
    }
    if (what().what.batches > 1) return stacked<float>(call::gemv_stacked_f32, copy);
    const column_matrix& m = column_.matrix;
    check_launch(call::gemv_f32(on().plain(), operation_of(m), static_cast<int>(m.rows),
                                static_cast<int>(m.columns), factor(), matrix<float>(copy),
                                static_cast<int>(m.ld), vector<float>(copy), 1, &detail::none,
                                reinterpret_cast<float*>(result(copy)), 1));
  }

  template <class Element, class Function>
  void stacked(const Function& f, std::int64_t copy) {
    const column_matrix& m = column_.matrix;
    check_launch(f(on().plain(), operation_of(m), static_cast<int>(m.rows),
                   static_cast<int>(m.columns), factor(), matrix<Element>(copy),
                   static_cast<int>(m.ld), m.step, vector<Element>(copy), 1, column_.vector_step,
                   &detail::none, reinterpret_cast<Element*>(result(copy)), 1, column_.result_step,
                   static_cast<int>(what().what.batches)));
  }
  template <class Element>
  const Element* matrix(std::int64_t copy) const {
    return reinterpret_cast<const Element*>(column_.matrix_is_right ? right(copy) : left(copy));
  }
  template <class Element>
  const Element* vector(std::int64_t copy) const {
    return reinterpret_cast<const Element*>(column_.matrix_is_right ? left(copy) : right(copy));
  }

  column_vector_product column_;
};

/// An algorithm of cublasLt.
class lt_run final : public product_run {
public:
  /// `bytes` are the library's own, of which it makes the algorithm again; empty: not known.
  lt_run(std::shared_ptr<context> with, task of, numeric t, const lt_choice& c,
         const std::optional<cublasLtMatmulAlgo_t>& bytes, const operands& values, const setting& s)
      : product_run(std::move(with), std::move(of), t, values, s)
      , bias_(what().bias ? hold(*what().bias) : none)
      , addend_(what().addend ? hold(*what().addend) : none)
      , problem_(what(), t, c.fast_accum, bias_ == none ? nullptr : at(bias_, 0), on().one())
      , how_(problem_.made(on().light(), c, bytes)) {}

  std::string ran() const override { return what().before + id_of(how_.choice); }

private:
  void enqueue(std::int64_t copy) override {
    const float alpha = scale() * *factor(), beta = what().addend ? 1 : 0;
    if (bias_ != none) problem_.place_bias(at(bias_, copy));
    // In place of an absent addend: the result, where the types are equal; of FP8 they differ.
    const void* const nothing =
        addend_type(type()) == result_of(type()) ? static_cast<const void*>(result(copy)) : nullptr;
    check_launch(call::lt_matmul(
        on().light(), problem_.operation(), &alpha, right(copy), problem_.first(), left(copy),
        problem_.second(), &beta, addend_ != none ? at(addend_, copy) : nothing, problem_.addend(),
        result(copy), problem_.result(), &how_.algo, on().workspace(),
        static_cast<std::size_t>(how_.workspace_bytes), device()->stream().get()));
  }

  static constexpr int none = -1;
  int bias_, addend_;
  lt_problem problem_;
  lt_found how_;
};

} // namespace benanza::backend::cublas
