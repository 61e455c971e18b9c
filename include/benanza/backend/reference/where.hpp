// SPDX-License-Identifier: Apache-2.0
// One result of a Where (ONNX Where-9..16).
//
//   value(where{.condition = {3}, .x = {2, 3}, .y = {1}}, operands, 5)
#pragma once

#include "position.hpp"

namespace benanza::backend::reference {

inline double value(const op::where& p, const operands& o, std::int64_t flat) {
  const shape place = place_of(p.output(), flat);
  const bool first = element(o, 0, broadcast_index(p.condition, place)) != 0;
  return first ? element(o, 1, broadcast_index(p.x, place))
               : element(o, 2, broadcast_index(p.y, place));
}

} // namespace benanza::backend::reference
