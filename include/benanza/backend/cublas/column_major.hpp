// SPDX-License-Identifier: Apache-2.0
// How is a product of ONNX's matrices, stored row by row, described to cuBLAS, which counts
// columns? A matrix stored row by row is its transpose stored column by column. So the result's
// transpose is asked for, C' = B' A': the right operand comes first, and nothing is moved. Only
// this header knows of that.
//
//   told(product{.m = 2, .n = 3, .k = 4}).first   // 3 x 4 by columns, ld 3, not transposed
#pragma once

#include <cstdint>
#include <optional>

namespace benanza::backend::cublas {

/// A stack of products as ONNX stores it, row by row: result[i] = left[i] * right[i].
struct product {
  std::int64_t m = 1, n = 1, k = 1;
  bool left_turned = false;  ///< stored k x m
  bool right_turned = false; ///< stored n x k
  std::int64_t batches = 1;
  bool one_left = false, one_right = false; ///< the same matrix in all products of the stack

  constexpr bool operator==(const product&) const = default;
};

/// A matrix, or a stack of them, in memory column by column. Counts are elements.
struct column_matrix {
  std::int64_t rows = 0, columns = 0;
  std::int64_t ld = 0;     ///< from one column to the next
  std::int64_t step = 0;   ///< from one matrix of the stack to the next
  bool transposed = false; ///< the product takes its transpose

  constexpr bool operator==(const column_matrix&) const = default;
};

/// A product in cuBLAS's words: result (m x n) = op(first) (m x k) * op(second) (k x n).
struct column_product {
  std::int64_t m = 0, n = 0, k = 0, batches = 1;
  column_matrix first{};  ///< the right operand
  column_matrix second{}; ///< the left operand
  column_matrix result{};
};

/// A product in cuBLAS's words.
constexpr column_product told(const product& p) {
  const auto stored = [&p](std::int64_t rows, std::int64_t columns, bool turned, bool one) {
    const std::int64_t step = one || p.batches == 1 ? 0 : rows * columns;
    // Row by row, a row is a column.
    return turned ? column_matrix{rows, columns, rows, step, true}
                  : column_matrix{columns, rows, columns, step, false};
  };
  return {p.n,
          p.m,
          p.k,
          p.batches,
          stored(p.k, p.n, p.right_turned, p.one_right),
          stored(p.m, p.k, p.left_turned, p.one_left),
          stored(p.m, p.n, false, false)};
}

/// A product of a matrix and a vector in cuBLAS's words: result = op(matrix) * vector.
struct column_vector_product {
  column_matrix matrix{};
  bool matrix_is_right = false; ///< the left operand is the vector
  std::int64_t vector_step = 0, result_step = 0;
};

/// A product in those words, where one of the operands is a vector.
constexpr std::optional<column_vector_product> told_with_vector(const product& p) {
  const column_product all = told(p);
  if (p.m == 1) return column_vector_product{all.first, true, all.second.step, all.result.step};
  if (p.n != 1) return std::nullopt;
  column_vector_product out{all.second, false, all.first.step, all.result.step};
  // It comes after the vector there, and before it here.
  out.matrix.transposed = !out.matrix.transposed;
  return out;
}

} // namespace benanza::backend::cublas
