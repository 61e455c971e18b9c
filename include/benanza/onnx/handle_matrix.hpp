// SPDX-License-Identifier: Apache-2.0
// Matrix products: ONNX Gemm-1..13 and MatMul-1..13. A second operand that follows from constants
// counts as trained: it may be prepared before timing.
//
//   handle_gemm(call)   // Gemm/1x1000x2048-tb-c1x1000-w
#pragma once

#include "call.hpp"

namespace benanza::onnx {

namespace detail {
/// The product of the first operand; `b_at` and `c_at` are the others' places.
inline op::gemm gemm_of(const call& c, int b_at, int c_at) {
  const shape &a = c.dims(0), &b = c.dims(b_at);
  if (a.size != 2 || b.size != 2)
    throw error("its operands " + text(a) + " and " + text(b) + " are not matrices");
  op::gemm p;
  p.transpose_a = c.integer("transA", 0) != 0;
  p.transpose_b = c.integer("transB", 0) != 0;
  p.m = a[p.transpose_a ? 1 : 0];
  p.k = a[p.transpose_a ? 0 : 1];
  p.n = b[p.transpose_b ? 0 : 1];
  if (b[p.transpose_b ? 1 : 0] != p.k)
    throw error("its operands " + text(a) + " and " + text(b) + " do not multiply");
  p.constant_b = c.constant(b_at);
  if (c.has(c_at)) {
    if (c.dims(c_at).size > 2) throw error("its C has more than two dims");
    p.c = expanded(c.dims(c_at), 2);
  }
  return p;
}

/// The same for a stack; `out` gets the dims that the result has without those that are added.
inline op::matmul matmul_of(const call& c, int b_at, shape& out) {
  op::matmul p{.a = c.dims(0), .b = c.dims(b_at), .constant_b = c.constant(b_at)};
  if (p.a.empty() || p.b.empty()) throw error("an operand is a scalar");
  const bool row = p.a.size == 1, column = p.b.size == 1;
  if (row) p.a = {1, p.a[0]};
  if (column) p.b.push(1);
  if (p.k() != p.b[p.b.size - 2])
    throw error("its operands " + text(c.dims(0)) + " and " + text(c.dims(b_at)) +
                " do not multiply");
  const shape full = p.output();
  for (int i = 0; i < full.size; ++i)
    if (!(row && i == full.size - 2) && !(column && i == full.size - 1)) out.push(full[i]);
  return p;
}
} // namespace detail

inline answer handle_gemm(const call& c) {
  const op::gemm p = detail::gemm_of(c, 1, 2);
  return of_layer(c, p, p.output());
}

inline answer handle_matmul(const call& c) {
  shape out;
  const op::matmul p = detail::matmul_of(c, 1, out);
  return of_layer(c, p, out);
}

} // namespace benanza::onnx
