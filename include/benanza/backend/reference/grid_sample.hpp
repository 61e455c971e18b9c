// SPDX-License-Identifier: Apache-2.0
// One output of a GridSample (ONNX GridSample-20) or of an AffineGrid (AffineGrid-20), in double.
//
//   value(grid_sample{.input = {1, 1, 4, 4}, .points = {2, 2}}, operands, 3)
#pragma once

#include "position.hpp"
#include "resize.hpp"

namespace benanza::backend::reference {

/// `x` mirrored at two borders until it is between them.
inline double mirrored(double x, double low, double high) {
  const double span = high - low;
  if (span <= 0) return low;
  const double beyond = x < low ? low - x : x > high ? x - high : 0;
  if (beyond == 0) return x;
  const double turns = std::floor(beyond / span), rest = beyond - turns * span;
  const bool from_low = (std::fmod(turns, 2) == 0) == (x < low);
  return from_low ? low + rest : high - rest;
}

/// What a place along one spatial dim takes.
inline std::vector<tap> sampled_from(const op::grid_sample& p, std::int64_t size, double place) {
  const auto n = static_cast<double>(size);
  const double low = p.align_corners ? 0 : -0.5, high = p.align_corners ? n - 1 : n - 0.5;
  double x = p.align_corners ? (place + 1) / 2 * (n - 1) : ((place + 1) * n - 1) / 2;
  if (p.mode == op::interpolation::nearest) x = std::nearbyint(x);
  if (x < low || x > high) {
    if (p.outside == op::border::edge) x = std::clamp(x, 0., n - 1);
    if (p.outside == op::border::reflection) x = mirrored(x, low, high);
  }
  std::vector<tap> taps;
  const auto take = [&](double at, double weight) {
    if (p.outside == op::border::reflection) at = std::trunc(mirrored(at, low, high));
    if (p.outside == op::border::edge) at = std::clamp(at, 0., n - 1);
    if (at >= 0 && at < n && weight != 0) taps.push_back({static_cast<std::int64_t>(at), weight});
  };
  if (p.mode == op::interpolation::nearest) {
    take(std::trunc(x), 1);
    return taps;
  }
  const double first = std::floor(x);
  const int reach = p.mode == op::interpolation::linear ? 1 : 2;
  for (int k = 1 - reach; k <= reach; ++k)
    take(first + k, share_of(p.mode, first + k - x, attribute::cubic));
  return taps;
}

inline double value(const op::grid_sample& p, const operands& o, std::int64_t flat) {
  const shape out = p.output(), place = place_of(out, flat);
  const std::int64_t points = elements(out, 2, out.size);
  const std::int64_t point = place[0] * points + flat % points;
  std::vector<tap> blend{{place[0] * p.input[1] + place[1], 1}};
  for (int d = 0; d < p.rank(); ++d) { // the last dim's place comes first
    const double at = element(o, 1, point * p.rank() + p.rank() - 1 - d);
    std::vector<tap> next;
    for (const tap& t : blend)
      for (const tap& a : sampled_from(p, p.input[d + 2], at))
        next.push_back({t.from * p.input[d + 2] + a.from, t.weight * a.weight});
    blend = std::move(next);
  }
  double sum = 0;
  for (const tap& t : blend)
    sum += t.weight * element(o, 0, t.from);
  return sum;
}

inline double value(const op::affine_grid& p, const operands& o, std::int64_t flat) {
  const shape place = place_of(p.output(), flat);
  const int rank = p.rank();
  const std::int64_t row = (place[0] * rank + place[rank + 1]) * (rank + 1);
  double sum = element(o, 0, row + rank);
  for (int d = 0; d < rank; ++d) {
    const auto n = static_cast<double>(p.points[d]), i = static_cast<double>(place[d + 1]);
    const double x = p.align_corners ? (n > 1 ? 2 * i / (n - 1) - 1 : -1) : (2 * i + 1) / n - 1;
    sum += element(o, 0, row + rank - 1 - d) * x;
  }
  return sum;
}

} // namespace benanza::backend::reference
