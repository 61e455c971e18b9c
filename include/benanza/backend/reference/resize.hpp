// SPDX-License-Identifier: Apache-2.0
// One output of a Resize or an Upsample (ONNX Resize-10..19): the product over the dims of what
// each takes. Places are exact fractions where they follow from sizes, so no rounding decides which
// neighbour is nearest; where a model's own scales are tried, they are as exact as these.
//
//   value(resize{.input = {4}, .sizes = {8}, .mode = interpolation::linear}, operands, 3)
#pragma once

#include "position.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace benanza::backend::reference {

/// One input position that a resized one takes, and its weight.
struct tap {
  std::int64_t from;
  double weight;
};

/// A place between input elements: `low` and a share of the step to the next.
struct place_between {
  std::int64_t low = 0;
  double rest = 0;
  bool outside = false; ///< of the input, in a crop
};

inline place_between exact_place(std::int64_t up, std::int64_t down) {
  const std::int64_t low = up / down - (up % down < 0);
  return {low, static_cast<double>(up - low * down) / static_cast<double>(down)};
}
inline place_between place_at(double x) {
  const double low = std::floor(x);
  return {static_cast<std::int64_t>(low), x - low};
}

/// Where position `i` of dim `d` is in the input, `scale` being the model's own.
inline place_between scaled_place(const op::resize& p, const operands& o, int d, std::int64_t i,
                                  double scale) {
  const auto x = static_cast<double>(i), in = static_cast<double>(p.input[d]);
  const double width = scale * in;
  switch (p.coordinates) {
  case op::sampling::asymmetric: return place_at(x / scale);
  case op::sampling::tf_half_pixel_for_nn: return place_at((x + 0.5) / scale);
  case op::sampling::align_corners: return place_at(width == 1 ? 0 : x * (in - 1) / (width - 1));
  case op::sampling::pytorch_half_pixel:
    if (p.sizes[d] == 1) return {};
    [[fallthrough]];
  default: break;
  }
  double from = (x + 0.5) / scale - 0.5;
  if (o.attributes.symmetric) from += in / 2 * (1 - static_cast<double>(p.sizes[d]) / width);
  return place_at(from);
}

inline place_between resized_place(const op::resize& p, const operands& o, int d, std::int64_t i) {
  const std::int64_t in = p.input[d], out = p.sizes[d];
  const std::vector<double>& scales = o.attributes.scales;
  const double scale = scales.empty() ? static_cast<double>(out) / static_cast<double>(in)
                                      : scales[static_cast<std::size_t>(d)];
  if (const int bound = p.bound_of(d); bound >= 0) {
    const double begin = element(o, 1, bound), end = element(o, 1, bound + p.bounds() / 2);
    const auto last = static_cast<double>(in - 1);
    const double width =
        scales.empty() ? static_cast<double>(out) : scale * static_cast<double>(in);
    const double x =
        begin * last + (width == 1 ? (end - begin) * last / 2
                                   : static_cast<double>(i) * (end - begin) * last / (width - 1));
    place_between at = place_at(x);
    at.outside = x < 0 || x > last;
    return at;
  }
  if (scales.empty() ? in == out : scale == 1) return {i, 0};
  if (!scales.empty()) return scaled_place(p, o, d, i, scale);
  switch (p.coordinates) {
  case op::sampling::asymmetric: return exact_place(i * in, out);
  case op::sampling::tf_half_pixel_for_nn: return exact_place((2 * i + 1) * in, 2 * out);
  case op::sampling::align_corners:
    return out > 1 ? exact_place(i * (in - 1), out - 1) : place_between{};
  case op::sampling::pytorch_half_pixel:
    if (out == 1) return {};
    [[fallthrough]];
  default: return exact_place((2 * i + 1) * in - out, 2 * out);
  }
}

/// 0 or 1: which neighbour is the nearest.
inline std::int64_t nearest_of(const op::resize& p, double rest) {
  if (rest == 0) return 0;
  switch (p.rounding) {
  case op::nearest::usual: return p.coordinates != op::sampling::asymmetric && rest > 0.5;
  case op::nearest::floor: return 0;
  case op::nearest::ceil: return 1;
  case op::nearest::round_prefer_floor: return rest > 0.5;
  case op::nearest::round_prefer_ceil: return rest >= 0.5;
  }
  return 0;
}

/// The share of an element `distance` away: a triangle, or Keys' cubic convolution (Resize-11).
inline double share_of(op::interpolation mode, double distance, double a) {
  const double d = std::fabs(distance);
  if (mode == op::interpolation::linear) return std::max(0., 1 - d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// What position `i` of dim `d` takes; nothing where it is outside a crop.
inline std::vector<tap> resized_from(const op::resize& p, const operands& o, int d,
                                     std::int64_t i) {
  const std::int64_t in = p.input[d];
  const auto inside = [in](std::int64_t x) { return std::clamp<std::int64_t>(x, 0, in - 1); };
  const place_between at = resized_place(p, o, d, i);
  if (at.outside) return {};
  if (p.mode == op::interpolation::nearest) return {{inside(at.low + nearest_of(p, at.rest)), 1}};
  double narrowed = 1; // an output covers more than one element where a dim shrinks
  if (p.antialias)
    narrowed = std::min(1., o.attributes.scales.empty()
                                ? static_cast<double>(p.sizes[d]) / static_cast<double>(in)
                                : o.attributes.scales[static_cast<std::size_t>(d)]);
  const double reach = (p.mode == op::interpolation::linear ? 1 : 2) / narrowed;
  const auto steps = static_cast<std::int64_t>(std::ceil(reach)) + 1;
  std::vector<tap> taps;
  double sum = 0;
  for (std::int64_t k = -steps; k <= steps; ++k) {
    const double weight =
        share_of(p.mode, narrowed * (static_cast<double>(k) - at.rest), o.attributes.cubic);
    const std::int64_t from = at.low + k;
    if (weight == 0 || (p.exclude && from != inside(from))) continue;
    taps.push_back({inside(from), weight});
    sum += weight;
  }
  for (tap& t : taps)
    if (p.antialias || p.exclude) t.weight /= sum;
  return taps;
}

inline double value(const op::resize& p, const operands& o, std::int64_t flat) {
  const shape place = place_of(p.sizes, flat);
  std::vector<tap> blend{{0, 1}};
  for (int d = 0; d < place.size; ++d) {
    const std::vector<tap> along = resized_from(p, o, d, place[d]);
    if (along.empty()) return o.attributes.extrapolation;
    std::vector<tap> next;
    for (const tap& t : blend)
      for (const tap& a : along)
        next.push_back({t.from * p.input[d] + a.from, t.weight * a.weight});
    blend = std::move(next);
  }
  double sum = 0;
  for (const tap& t : blend)
    sum += t.weight * element(o, 0, t.from);
  return sum;
}

} // namespace benanza::backend::reference
