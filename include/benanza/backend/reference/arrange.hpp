// SPDX-License-Identifier: Apache-2.0
// One output of a layer that fills a tensor by place (ONNX Trilu-14, ReverseSequence-10,
// OneHot-11).
//
//   value(trilu{.input = {3, 3}}, operands, 3)   // 0: below the diagonal
#pragma once

#include "position.hpp"

#include <algorithm>
#include <cmath>

namespace benanza::backend::reference {

inline double value(const op::trilu& p, const operands& o, std::int64_t flat) {
  const std::int64_t column = flat % p.columns(), row = flat / p.columns() % p.rows();
  const bool stays = p.lower ? column - row <= p.k : column - row >= p.k;
  return stays ? element(o, 0, flat) : 0;
}

inline double value(const op::reverse_sequence& p, const operands& o, std::int64_t flat) {
  shape place = place_of(p.input, flat);
  const int batch = p.batch_first ? 0 : 1, time = 1 - batch;
  const auto length = static_cast<std::int64_t>(element(o, 1, place[batch]));
  if (place[time] < length) place[time] = length - 1 - place[time];
  return element(o, 0, index_of(p.input, place));
}

inline double value(const op::one_hot& p, const operands& o, std::int64_t flat) {
  shape place = place_of(p.output(), flat), at;
  for (int i = 0; i < place.size; ++i)
    if (i != p.axis) at.push(place[i]);
  double named = std::trunc(element(o, 0, index_of(p.indices, at)));
  if (named < 0) named += static_cast<double>(p.depth);
  return element(o, 2, named == static_cast<double>(place[p.axis]) ? 1 : 0);
}

} // namespace benanza::backend::reference
