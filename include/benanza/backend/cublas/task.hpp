// SPDX-License-Identifier: Apache-2.0
// What is a layer to cuBLAS? A task: a stack of products of matrices, where its operands are, and
// what cublasLt does on the result: adds a vector to each row, adds a matrix, applies Relu or Gelu.
// Needs no GPU.
//
//   for (const task& t : tasks_for(layer, numeric::f16)) t.what, t.before, t.bias;
#pragma once

#include "../../core/layout.hpp"
#include "../cuda/placement.hpp"
#include "column_major.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::backend::cublas {

/// An operand of a task: which of the layer's it is, and how it is stored in the GPU's memory.
struct task_operand {
  int input = 0;
  cuda::stored is{};
  bool scaled = false; ///< takes the layer's output scale: it is in units of the integer sum
  bool ones = false;   ///< no operand of the layer: every element is one
};

enum class weights_place : std::uint8_t { none, left, right };

/// One way to see a layer as products.
struct task {
  std::string before{}; ///< of an algorithm's id: "nhwc:", "wt:"
  product what{};
  task_operand left{}, right{};
  cuda::stored result{};
  weights_place weights = weights_place::none;
  std::optional<task_operand> bias{};   ///< one number a column of the result, added to each row
  std::optional<task_operand> addend{}; ///< of the result's dims and layout
  std::optional<op::unary_function> function{}; ///< the last of all
  float factor = 1;                             ///< that multiplies the products
  std::string layouts{}, operand_layouts{}, result_layout{};

  /// True where nothing is done on the products.
  bool bare() const { return !bias && !addend && !function; }
  /// True where the products are sums.
  bool with_ones() const { return left.ones || right.ones; }
};
using tasks = std::vector<task>;

/// Storage of what is added to the result. Products of e4m3 add bf16.
constexpr dtype addend_type(numeric t) {
  return t == numeric::e4m3 ? dtype::bf16 : result_of(t);
}
/// Storage of a vector that is added to each row. Products of integers add f32.
constexpr dtype bias_type(numeric t) {
  return quantised(t) ? dtype::f32 : addend_type(t);
}

/// True for the classes that cuBLAS computes in: both operands must be of one type.
constexpr bool has_type(numeric t) {
  return t != numeric::u8s8u8;
}
/// True where matrices are stored as the class wants them: of 8 bits the right operand must be
/// stored n x k, and the left m x k, which is cublasLt's "TN".
constexpr bool lies_right(const product& p, numeric t) {
  const bool eight_bits = t == numeric::s8s8s8 || t == numeric::e4m3;
  return !eight_bits || (p.right_turned && !p.left_turned);
}

namespace detail {
inline shape strides_in(layout l, const shape& dims) {
  if (l == layout::plain) return packed(dims);
  shape last{dims[0]};
  for (int i = 2; i < dims.size; ++i)
    last.push(dims[i]);
  last.push(dims[1]);
  const shape s = packed(last);
  shape out{s[0], s[s.size - 1]};
  for (int i = 1; i + 1 < s.size; ++i)
    out.push(s[i]);
  return out;
}
inline cuda::stored dense(const shape& dims, const shape& strides, dtype type) {
  return {dims, strides, type, elements(dims)};
}
} // namespace detail

} // namespace benanza::backend::cublas
