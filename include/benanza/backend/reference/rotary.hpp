// SPDX-License-Identifier: Apache-2.0
// One output of a rotary embedding (ONNX RotaryEmbedding-23), in double.
//
//   value(rotary{.sizes = {1, 32, 128, 64}}, operands, 7)
#pragma once

#include "position.hpp"

namespace benanza::backend::reference {

/// The exact output at a flat index.
inline double value(const op::rotary& p, const operands& o, std::int64_t flat) {
  const std::int64_t i = flat % p.size(), row = flat / p.size(), half = p.turned() / 2;
  if (i >= p.turned()) return element(o, 0, flat);
  const std::int64_t batch = row / (p.heads() * p.length());
  const std::int64_t place = p.sequence_major ? row / p.heads() % p.length() : row % p.length();
  const std::int64_t pair = p.interleaved ? i / 2 : i % half;
  const bool first = p.interleaved ? i % 2 == 0 : i < half;
  const std::int64_t apart = p.interleaved ? 1 : half;
  std::int64_t angles = (p.own_places ? batch * p.length() : 0) + place;
  if (p.table > 0) angles = static_cast<std::int64_t>(element(o, 3, batch * p.length() + place));
  const std::int64_t angle = angles * p.angle_size() + (p.wide ? i : pair);
  const double cosine = element(o, 1, angle), sine = element(o, 2, angle);
  const double x = element(o, 0, flat), other = element(o, 0, first ? flat + apart : flat - apart);
  return first ? cosine * x - sine * other : sine * other + cosine * x;
}

} // namespace benanza::backend::reference
