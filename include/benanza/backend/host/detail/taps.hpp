// SPDX-License-Identifier: Apache-2.0
// Which input positions does each position of a resized dim take, and with what weights (ONNX
// Resize-19)? One for nearest, two for linear, four for cubic, more of a dim that shrinks with
// `antialias`; positions beyond the edge take the edge.
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

/// A place in the input as an exact fraction, so that no rounding decides which neighbour is
/// nearest.
struct input_place {
  std::int64_t up = 0, down = 1;

  static std::int64_t floored(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); }
  std::int64_t low() const { return floored(up, down); }
  std::int64_t high() const { return -floored(-up, down); }
  std::int64_t half_down() const { return -floored(down - 2 * up, 2 * down); }
  std::int64_t half_up() const { return floored(2 * up + down, 2 * down); }
  /// How far behind `low` it is.
  double rest() const { return static_cast<double>(up - low() * down) / static_cast<double>(down); }
};

inline input_place place_of(const op::resize& p, std::int64_t in, std::int64_t out,
                            std::int64_t i) {
  using enum op::sampling;
  if (in == out || p.coordinates == asymmetric) return {i * in, out};
  if (p.coordinates == align_corners) return {i * (in - 1), std::max<std::int64_t>(out - 1, 1)};
  if (p.coordinates == tf_half_pixel_for_nn) return {(2 * i + 1) * in, 2 * out};
  if (p.coordinates == pytorch_half_pixel && out == 1) return {};
  return {(2 * i + 1) * in - out, 2 * out};
}

inline std::int64_t nearest_to(const op::resize& p, const input_place& at) {
  switch (p.rounding) {
  case op::nearest::usual:
    return p.coordinates == op::sampling::asymmetric ? at.low() : at.half_down();
  case op::nearest::floor: return at.low();
  case op::nearest::ceil: return at.high();
  case op::nearest::round_prefer_floor: return at.half_down();
  case op::nearest::round_prefer_ceil: return at.half_up();
  }
  return at.low();
}

/// The share of an element `d` away: a triangle, or Keys' cubic convolution, which is near within
/// one step and far within two.
inline double share_at(op::interpolation mode, double d) {
  constexpr double a = attribute::cubic;
  d = d < 0 ? -d : d;
  if (mode == op::interpolation::linear) return d < 1 ? 1 - d : 0;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// Adds elements around a place, `rest` behind `low`; elements are `narrow` apart (1: one step).
inline void add_blend(resize_table& table, const op::resize& p, std::int64_t in, std::int64_t low,
                      double rest, double narrow) {
  const std::size_t first = table.weight.size();
  double sum = 0;
  for (std::int64_t k = 1 - table.taps / 2; k <= table.taps / 2; ++k) {
    const std::int64_t at = low + k, inside = std::clamp<std::int64_t>(at, 0, in - 1);
    const double weight =
        p.exclude && at != inside ? 0 : share_at(p.mode, (static_cast<double>(k) - rest) * narrow);
    table.from.push_back(static_cast<std::int32_t>(inside));
    table.weight.push_back(static_cast<float>(weight));
    sum += weight;
  }
  if (!p.exclude && !p.antialias) return;
  for (std::size_t i = first; i < table.weight.size(); ++i)
    table.weight[i] = static_cast<float>(static_cast<double>(table.weight[i]) / sum);
}

/// The table of a dim that is not cropped.
inline resize_table table_of(const op::resize& p, int dim) {
  const std::int64_t in = p.input[dim], out = p.sizes[dim];
  const bool picks = in == out || p.mode == op::interpolation::nearest;
  const std::int64_t reach = p.mode == op::interpolation::linear ? 1 : 2;
  const bool narrows = p.antialias && out < in;
  resize_table table;
  if (!picks) table.taps = 2 * (narrows ? (reach * in + out - 1) / out : reach);
  for (std::int64_t i = 0; i < out; ++i) {
    const input_place at = place_of(p, in, out, i);
    if (!picks) {
      add_blend(table, p, in, at.low(), at.rest(),
                narrows ? static_cast<double>(out) / static_cast<double>(in) : 1);
      continue;
    }
    table.from.push_back(static_cast<std::int32_t>(
        std::clamp<std::int64_t>(in == out ? i : nearest_to(p, at), 0, in - 1)));
    table.weight.push_back(1.f);
  }
  return table;
}

/// The table of a dim that is cropped to a part of it; what is outside the input has no weight.
inline resize_table cropped_table(const op::resize& p, int dim, double begin, double end) {
  const std::int64_t in = p.input[dim], out = p.sizes[dim];
  const auto last = static_cast<double>(in - 1);
  resize_table table;
  if (p.mode != op::interpolation::nearest)
    table.taps = p.mode == op::interpolation::linear ? 2 : 4;
  for (std::int64_t i = 0; i < out; ++i) {
    const double x = begin * last + (out == 1 ? (end - begin) * last / 2
                                              : static_cast<double>(i) * (end - begin) * last /
                                                    static_cast<double>(out - 1));
    if (!(x >= 0 && x <= last)) {
      table.from.insert(table.from.end(), static_cast<std::size_t>(table.taps), 0);
      table.weight.insert(table.weight.end(), static_cast<std::size_t>(table.taps), 0.f);
      continue;
    }
    const auto low = static_cast<std::int64_t>(x);
    const double rest = x - static_cast<double>(low);
    if (table.taps > 1) {
      add_blend(table, p, in, low, rest, 1);
      continue;
    }
    using enum op::nearest;
    const bool up = rest > 0 && (p.rounding == ceil || rest > 0.5 ||
                                 (p.rounding == round_prefer_ceil && rest >= 0.5));
    table.from.push_back(static_cast<std::int32_t>(low + (up && p.rounding != floor ? 1 : 0)));
    table.weight.push_back(1.f);
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
