// SPDX-License-Identifier: Apache-2.0
// One output of a layer that moves data: which element of which operand it is (ONNX Concat, Split,
// Transpose, Pad, Slice, Gather, DepthToSpace, SpaceToDepth), or a blend of some (Resize). Split's
// outputs follow each other. Resize rounds halves down when nearest, except `asymmetric`, which
// floors.
//
//   value(transpose{.input = {2, 3}, .order = {1, 0}}, operands, 1)
#pragma once

#include "position.hpp"

#include <algorithm>
#include <cmath>

namespace benanza::backend::reference {

inline double value(const op::concat& p, const operands& o, std::int64_t flat) {
  shape place = place_of(p.whole, flat);
  for (std::int64_t part = 0;; ++part) {
    const shape& dims = o.inputs[static_cast<std::size_t>(part)].dims;
    if (place[p.axis] < dims[p.axis])
      return element(o, static_cast<std::size_t>(part), index_of(dims, place));
    place[p.axis] -= dims[p.axis];
  }
}

inline double value(const op::split& p, const operands& o, std::int64_t flat) {
  std::int64_t first = 0;
  for (std::int64_t part = 0;; ++part) {
    shape dims = op::part_of(p.whole, p.axis, p.parts, part);
    if (!o.parts.empty()) dims[p.axis] = o.parts[static_cast<std::size_t>(part)];
    if (flat < elements(dims)) {
      shape place = place_of(dims, flat);
      place[p.axis] += first;
      return element(o, 0, index_of(p.whole, place));
    }
    flat -= elements(dims);
    first += dims[p.axis];
  }
}

inline double value(const op::transpose& p, const operands& o, std::int64_t flat) {
  const shape place = place_of(p.output(), flat);
  shape from = place;
  for (int i = 0; i < p.order.size; ++i)
    from[static_cast<int>(p.order[i])] = place[i];
  return element(o, 0, index_of(p.input, from));
}

/// The position that Pad takes for position `i` relative to what it keeps; -1: its constant.
inline std::int64_t padded_from(op::pad_mode mode, std::int64_t i, std::int64_t size) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
  case op::pad_mode::constant: return -1;
  case op::pad_mode::edge: return std::clamp<std::int64_t>(i, 0, size - 1);
  case op::pad_mode::wrap: return ((i % size) + size) % size;
  case op::pad_mode::reflect: {
    if (size == 1) return 0;
    const std::int64_t period = 2 * (size - 1), at = ((i % period) + period) % period;
    return at < size ? at : period - at;
  }
  }
  return -1;
}

/// Negative pads cut elements off first; what is left is then filled around.
inline double value(const op::pad& p, const operands& o, std::int64_t flat) {
  const shape kept = p.kept();
  shape place = place_of(p.output(), flat);
  for (int i = 0; i < place.size; ++i) {
    const std::int64_t cut = std::max<std::int64_t>(-p.begins[i], 0);
    const std::int64_t at = place[i] - std::max<std::int64_t>(p.begins[i], 0);
    const std::int64_t from = kept[i] == 0 ? -1 : padded_from(p.mode, at, kept[i]);
    if (from < 0) return 0;
    place[i] = from + cut;
  }
  return element(o, 0, index_of(p.input, place));
}

inline double value(const op::slice& p, const operands& o, std::int64_t flat) {
  shape place = place_of(p.sizes, flat);
  for (int i = 0; i < place.size; ++i)
    place[i] = p.start(i) + place[i] * p.step(i);
  return element(o, 0, index_of(p.input, place));
}

inline double value(const op::gather& p, const operands& o, std::int64_t flat) {
  const shape place = place_of(p.output(), flat);
  shape where, from;
  for (int i = 0; i < p.indices.size; ++i)
    where.push(place[p.axis + i]);
  auto taken = static_cast<std::int64_t>(element(o, 1, index_of(p.indices, where)));
  if (taken < 0) taken += p.data[p.axis];
  for (int i = 0; i < p.data.size; ++i)
    from.push(i < p.axis ? place[i] : i == p.axis ? taken : place[i + p.indices.size - 1]);
  return element(o, 0, index_of(p.data, from));
}

inline double value(const op::depth_to_space& p, const operands& o, std::int64_t flat) {
  const shape out = p.output(), place = place_of(out, flat);
  const std::int64_t b = p.block;
  // Small and large: the tensors of few and of many channels.
  const std::int64_t small = p.inverse ? p.input[1] : out[1];
  const auto folded = [&](std::int64_t c, std::int64_t row, std::int64_t column) {
    return p.column_row_depth ? (c * b + row) * b + column : (row * b + column) * small + c;
  };
  if (!p.inverse)
    return element(o, 0,
                   index_of(p.input, {place[0], folded(place[1], place[2] % b, place[3] % b),
                                      place[2] / b, place[3] / b}));
  const std::int64_t c = p.column_row_depth ? place[1] / (b * b) : place[1] % small;
  const std::int64_t inner = p.column_row_depth ? place[1] % (b * b) : place[1] / small;
  return element(
      o, 0, index_of(p.input, {place[0], c, place[2] * b + inner / b, place[3] * b + inner % b}));
}

/// One input position that a resized one takes, and its weight.
struct tap {
  std::int64_t from;
  double weight;
};

/// What position `i` of a dim resized from `in` to `out` takes. Places are exact fractions, so no
/// rounding decides which neighbour is nearest.
inline list<4> resized_from(const op::resize& p, std::int64_t in, std::int64_t out, std::int64_t i,
                            double (&weights)[4], double cubic) {
  std::int64_t up = 0, down = 1; // the place in the input is up / down
  switch (p.coordinates) {
  case op::sampling::pytorch_half_pixel:
    if (out == 1) break;
    [[fallthrough]];
  case op::sampling::half_pixel: up = (2 * i + 1) * in - out, down = 2 * out; break;
  case op::sampling::asymmetric: up = i * in, down = out; break;
  case op::sampling::align_corners:
    if (out > 1) up = i * (in - 1), down = out - 1;
    break;
  }
  const auto floored = [](std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); };
  const auto inside = [in](std::int64_t x) { return std::clamp<std::int64_t>(x, 0, in - 1); };
  weights[0] = 1;
  if (in == out && p.coordinates != op::sampling::align_corners) return {i};
  if (p.mode == op::interpolation::nearest)
    return {inside(p.coordinates == op::sampling::asymmetric ? floored(up, down)
                                                             : -floored(down - 2 * up, 2 * down))};
  const std::int64_t low = floored(up, down);
  const double x = static_cast<double>(up - low * down) / static_cast<double>(down);
  if (x == 0) return {inside(low)};
  if (p.mode == op::interpolation::linear) {
    weights[0] = 1 - x, weights[1] = x;
    return {inside(low), inside(low + 1)};
  }
  // Keys' cubic convolution, ONNX Resize-11.
  const double a = cubic;
  const auto near = [a](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [a](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  weights[0] = far(1 + x), weights[1] = near(x), weights[2] = near(1 - x), weights[3] = far(2 - x);
  return {inside(low - 1), inside(low), inside(low + 1), inside(low + 2)};
}

inline double value(const op::resize& p, const operands& o, std::int64_t flat) {
  const shape place = place_of(p.sizes, flat);
  list<4> from[8];
  double weights[8][4];
  std::int64_t combinations = 1;
  for (int d = 0; d < place.size; ++d) {
    from[d] = resized_from(p, p.input[d], p.sizes[d], place[d], weights[d], o.attributes.cubic);
    combinations *= from[d].size;
  }
  double sum = 0;
  for (std::int64_t c = 0; c < combinations; ++c) {
    std::int64_t rest = c, at = 0;
    double weight = 1;
    for (int d = 0; d < place.size; ++d) {
      const auto k = static_cast<int>(rest % from[d].size);
      rest /= from[d].size;
      weight *= weights[d][k];
      at = at * p.input[d] + from[d][k];
    }
    sum += weight * element(o, 0, at);
  }
  return sum;
}

inline double value(const op::view&, const operands& o, std::int64_t flat) {
  return element(o, 0, flat);
}

} // namespace benanza::backend::reference
