// SPDX-License-Identifier: Apache-2.0
// One output of a product with weights of a few bits (ONNX Runtime's MatMulNBits), in double.
//
//   value(matmul_nbits{.a = {1, 64}, .n = 8, .block = 32}, operands, 7)
#pragma once

#include "position.hpp"

namespace benanza::backend::reference {

/// Code `i` of bytes that hold `8 / bits` each, the lowest bits first.
inline std::int64_t packed_code(const tensor& t, std::int64_t row, std::int64_t row_bytes,
                                std::int64_t i, std::int64_t bits) {
  const auto byte =
      static_cast<std::uint8_t>(t.bytes[static_cast<std::size_t>(row * row_bytes + i * bits / 8)]);
  return byte >> (i * bits % 8) & ((1 << bits) - 1);
}

/// The exact output at a flat index.
inline double value(const op::matmul_nbits& p, const operands& o, std::int64_t flat) {
  const std::int64_t row = flat / p.n, blocks = p.blocks();
  const std::int64_t column = op::expert_of_row(row, p.shares()) * p.n + flat % p.n;
  const std::int64_t bytes = p.block * p.bits / 8, points = p.packed_zero_points()[1];
  double sum = p.bias ? element(o, 5, column) : 0;
  for (std::int64_t k = 0; k < p.length(); ++k) {
    const std::int64_t b = k / p.block;
    const std::int64_t code =
        packed_code(o.inputs[1], column * blocks + b, bytes, k % p.block, p.bits);
    const std::int64_t zero =
        p.zero_points ? packed_code(o.inputs[3], column, points, b, p.bits) : 1 << (p.bits - 1);
    sum += element(o, 0, row * p.length() + k) * element(o, 2, column * blocks + b) *
           static_cast<double>(code - zero);
  }
  return sum;
}

} // namespace benanza::backend::reference
