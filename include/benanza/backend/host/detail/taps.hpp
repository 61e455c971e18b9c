// SPDX-License-Identifier: Apache-2.0
// Which input positions does each position of a resized dim take, and with what weights (ONNX
// Resize-13)? One for nearest, two for linear, four for cubic; positions beyond the edge take the
// edge.
//
//   table_of(resize, 3).from[2 * 5 + 1]   // the second position that output position 5 blends
#pragma once

#include "../../operands.hpp"

#include <algorithm>
#include <vector>

namespace benanza::backend::host::detail {

/// What each position of one dim takes from the input: `taps` positions and their weights.
struct resize_table {
  std::int64_t taps = 1;
  std::vector<std::int32_t> from;
  std::vector<float> weight;
};

/// Places are exact fractions up / down, so that no rounding decides which neighbour is nearest.
inline resize_table table_of(const op::resize& p, int dim) {
  const std::int64_t in = p.input[dim], out = p.sizes[dim];
  const bool same = in == out;
  resize_table table;
  table.taps = same || p.mode == op::interpolation::nearest ? 1
               : p.mode == op::interpolation::linear        ? 2
                                                            : 4;
  const auto inside = [in](std::int64_t x) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(x, 0, in - 1));
  };
  const auto floored = [](std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); };
  for (std::int64_t i = 0; i < out; ++i) {
    std::int64_t up = i, down = 1;
    if (same || p.coordinates == op::sampling::asymmetric)
      up = i * in, down = out;
    else if (p.coordinates == op::sampling::align_corners)
      up = i * (in - 1), down = std::max<std::int64_t>(out - 1, 1);
    else if (p.coordinates == op::sampling::half_pixel || out > 1)
      up = (2 * i + 1) * in - out, down = 2 * out;
    else
      up = 0;
    if (table.taps == 1) {
      const bool floors = same || p.coordinates == op::sampling::asymmetric;
      table.from.push_back(inside(floors ? floored(up, down) : -floored(down - 2 * up, 2 * down)));
      table.weight.push_back(1.f);
      continue;
    }
    const std::int64_t low = floored(up, down);
    const double x = static_cast<double>(up - low * down) / static_cast<double>(down);
    const auto tap = [&](std::int64_t at, double weight) {
      table.from.push_back(inside(at));
      table.weight.push_back(static_cast<float>(weight));
    };
    if (table.taps == 2) {
      tap(low, 1 - x);
      tap(low + 1, x);
      continue;
    }
    // Keys' cubic convolution: near within one step, far within two.
    constexpr double a = attribute::cubic;
    const auto near = [](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    const auto far = [](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    tap(low - 1, far(1 + x));
    tap(low, near(x));
    tap(low + 1, near(1 - x));
    tap(low + 2, far(2 - x));
  }
  return table;
}

/// Input rows that one output row may take: linear along eight dims, cubic along four.
inline constexpr int combined_taps = 256;

/// The input rows that one output row takes: offsets in elements, and weights.
struct taken_rows {
  std::int64_t offset[combined_taps];
  float weight[combined_taps];
  int count;

  taken_rows() = default;
  taken_rows& operator=(const taken_rows& o) {
    count = o.count;
    std::copy_n(o.offset, count, offset);
    std::copy_n(o.weight, count, weight);
    return *this;
  }
};

} // namespace benanza::backend::host::detail
