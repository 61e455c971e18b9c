// SPDX-License-Identifier: Apache-2.0
// One output of a product with weights in ggml's blocks, in double.
//
//   value(matmul_ggml{.a = {1, 256}, .n = 8, .format = op::ggml_format::q4_k}, operands, 7)
#pragma once

#include "../ggml_blocks.hpp"
#include "position.hpp"

namespace benanza::backend::reference {

/// The exact output at a flat index.
inline double value(const op::matmul_ggml& p, const operands& o, std::int64_t flat) {
  const std::int64_t row = flat / p.n, column = flat % p.n;
  const op::ggml_block block = op::block_of(p.format);
  const std::byte* from = o.inputs[1].bytes.data() +
                          static_cast<std::size_t>(
                              (op::expert_of_row(row, p.shares()) * p.n + column) * p.weights()[1]);
  float weights[most_in_ggml_block];
  double sum = 0;
  for (std::int64_t b = 0; b < p.blocks(); ++b) {
    decode(p.format, from + b * block.bytes, weights);
    for (std::int64_t i = 0; i < block.weights; ++i)
      sum +=
          element(o, 0, row * p.length() + b * block.weights + i) * static_cast<double>(weights[i]);
  }
  return sum;
}

} // namespace benanza::backend::reference
