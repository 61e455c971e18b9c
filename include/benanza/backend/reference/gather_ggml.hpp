// SPDX-License-Identifier: Apache-2.0
// One element of rows that are taken from a table in ggml's blocks.
//
//   value(gather_ggml{.data = {9, 256}, .indices = {1, 1}, .format = op::ggml_format::q4_k},
//   operands, 7)
#pragma once

#include "../ggml_blocks.hpp"
#include "position.hpp"

namespace benanza::backend::reference {

inline double value(const op::gather_ggml& p, const operands& o, std::int64_t flat) {
  auto row = static_cast<std::int64_t>(element(o, 1, flat / p.data[1]));
  if (row < 0) row += p.data[0];
  const op::ggml_block b = op::block_of(p.format);
  const std::int64_t at = flat % p.data[1];
  float numbers[most_in_ggml_block];
  decode(p.format, o.inputs[0].bytes.data() + row * p.row_bytes() + at / b.weights * b.bytes,
         numbers);
  return static_cast<double>(numbers[at % b.weights]);
}

} // namespace benanza::backend::reference
