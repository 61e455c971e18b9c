// SPDX-License-Identifier: Apache-2.0
// Products with weights of a few bits: ONNX Runtime's MatMulNBits. What its weights hold is one
// code for each place in blocks along the sum; attributes say the matrix that they represent. Those
// of experts, pieces of a QMoE, read `chosen` matrices for each token, and of each matrix the
// columns that are theirs, one of `parts`.
//
//   handle_matmul_nbits(call)   // MatMulNBits/1x1x2048-n5632-k32
#pragma once

#include "handle_ggml.hpp"

namespace benanza::onnx {

inline answer handle_matmul_nbits(const call& c) {
  op::matmul_nbits p{.a = c.dims(0)};
  p.n = c.integer("N", 0);
  p.bits = c.integer("bits", 4);
  p.block = c.integer("block_size", 0);
  p.zero_points = c.has(3);
  p.bias = c.has(5);
  if (p.a.empty() || p.a.back() != c.integer("K", 0))
    throw error("its input " + text(p.a) + " does not end with its K");
  if (c.has(4)) throw error("its g_idx changes the order of its weights");
  p.validate();
  std::int64_t stored = 1;
  if (detail::has_experts(c)) {
    p.experts = detail::touched_experts(c);
    stored = checked_multiply(c.dims(1)[0], c.integer("parts", 1));
  } else {
    p.experts = stored = c.integer("experts", 1);
  }
  p.validate();
  op::matmul_nbits one = p;
  one.experts = 1;
  const auto holds = [&](int i, const shape& wanted) {
    if (elements(c.dims(i)) != checked_multiply(stored, elements(wanted)))
      throw error("its input " + std::to_string(i) + " is " + text(c.dims(i)) + ", not " +
                  (stored > 1 ? std::to_string(stored) + " of " : "") + text(wanted));
  };
  holds(1, one.codes());
  holds(2, one.scales());
  if (p.zero_points && c.type(3) != dtype::u8) throw error("its zero points are not packed codes");
  if (p.zero_points) holds(3, one.packed_zero_points());
  if (p.bias) holds(5, {p.n});
  return of_layer(c, p, p.output());
}

} // namespace benanza::onnx
