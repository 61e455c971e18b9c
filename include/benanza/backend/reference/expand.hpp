// SPDX-License-Identifier: Apache-2.0
// One result of an Expand or a Tile (ONNX Expand-8..13, Tile-6..13).
//
//   value(expand{.input = {2, 1}, .sizes = {2, 5}}, operands, 7)
#pragma once

#include "position.hpp"

namespace benanza::backend::reference {

inline double value(const op::expand& p, const operands& o, std::int64_t flat) {
  const shape place = place_of(p.sizes, flat);
  const int added = p.sizes.size - p.input.size;
  shape from = p.input;
  for (int i = 0; i < p.input.size; ++i)
    from[i] = p.taken(i, place[i + added]);
  return element(o, 0, index_of(p.input, from));
}

} // namespace benanza::backend::reference
