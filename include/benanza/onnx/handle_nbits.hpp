// SPDX-License-Identifier: Apache-2.0
// Products with weights of a few bits: ONNX Runtime's MatMulNBits. What its weights hold is one
// code for each place in blocks along the sum; attributes say the matrix that they represent.
//
//   handle_matmul_nbits(call)   // MatMulNBits/1x1x2048-n5632-k32
#pragma once

#include "call.hpp"

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
  const auto holds = [&](int i, const shape& wanted) {
    if (elements(c.dims(i)) != elements(wanted))
      throw error("its input " + std::to_string(i) + " is " + text(c.dims(i)) + ", not " +
                  text(wanted));
  };
  holds(1, p.codes());
  holds(2, p.scales());
  if (p.zero_points && c.type(3) != dtype::u8) throw error("its zero points are not packed codes");
  if (p.zero_points) holds(3, p.packed_zero_points());
  if (p.bias) holds(5, {p.n});
  return of_layer(c, p, p.output());
}

} // namespace benanza::onnx
