// SPDX-License-Identifier: Apache-2.0
// Resize-10..19 and Upsample-7..9: to sizes, or by scales, of which an output dim is
// floor(dim x scale). half_pixel_symmetric differs from half_pixel only where scales are not those
// of the sizes: it is written as that.
//
//   handle_resize(call)   // Resize/1x256x26x26-1x256x52x52-asymmetric
#pragma once

#include "handle_view.hpp"

#include <cmath>

namespace benanza::onnx {

namespace detail {
inline std::int64_t scaled_dim(std::int64_t dim, double scale) {
  // The product is one of single precision: that is what the operator's scales are.
  const float product = static_cast<float>(dim) * static_cast<float>(scale);
  if (!(scale > 0) || !(product < static_cast<float>(dim_limit)))
    throw error("it scales a dim out of range");
  return static_cast<std::int64_t>(std::floor(product));
}

/// Sizes that keep the ratio of the dims: all dims take the least or the greatest scale.
inline void keep_ratio(const shape& x, shape& sizes, const std::vector<int>& axes, bool least) {
  double scale = 0;
  for (int a : axes) {
    if (x[a] < 1) throw error("it resizes an empty dim");
    const double s = static_cast<double>(sizes[a]) / static_cast<double>(x[a]);
    scale = a == axes.front() ? s : least ? std::min(scale, s) : std::max(scale, s);
  }
  for (int a : axes) {
    const double size = std::floor(scale * static_cast<double>(x[a]) + 0.5);
    if (!(size >= 0 && size <= static_cast<double>(dim_limit)))
      throw error("it scales a dim out of range");
    sizes[a] = static_cast<std::int64_t>(size);
  }
}

/// Where samples are placed, and which neighbour is the nearest.
inline void read_places(const call& c, bool old, op::resize& p) {
  const std::string_view place =
      c.word("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
  bool known = place == "half_pixel_symmetric";
  for (std::size_t i = 0; i < std::size(op::sampling_names); ++i)
    if (op::sampling_names[i] == place) {
      p.coordinates = static_cast<op::sampling>(i);
      known = true;
    }
  if (!known)
    throw error("its coordinate_transformation_mode is " + in_quotes(place) +
                ", which ONNX does not know");
  if (old || p.mode != op::interpolation::nearest) return;
  const std::string_view rounding = c.word("nearest_mode", "round_prefer_floor");
  for (std::size_t i = 1; i < std::size(op::nearest_names); ++i)
    if (op::nearest_names[i] == rounding) p.rounding = static_cast<op::nearest>(i);
  if (p.rounding == op::nearest::usual)
    throw error("its nearest_mode is " + in_quotes(rounding) + ", which ONNX does not know");
}

/// The bounds of a crop: begins, then ends, one for each axis.
inline void check_bounds(const call& c, const op::resize& p) {
  if (!c.has(1) || !(c.dims(1) == shape{p.bounds()}))
    throw error("its roi is not " + std::to_string(p.bounds()) + " bounds");
}

inline bool of_old_resize(const call& c) {
  return c.op() == "Upsample" || c.opset() < 11;
}

/// The dims that a Resize names; all where it names none.
inline std::vector<int> resized_axes(const call& c) {
  std::vector<int> axes;
  if (c.has_attribute("axes"))
    for (std::int64_t a : c.integers("axes"))
      axes.push_back(call::axis(a, c.dims(0).size));
  else
    for (int i = 0; i < c.dims(0).size; ++i)
      axes.push_back(i);
  return axes;
}

/// The layer but for its sizes, which are those of its input.
inline op::resize resize_of(const call& c) {
  op::resize p = *op::resize::of(c.op());
  p.input = p.sizes = c.dims(0);
  const std::string_view mode = c.word("mode", "nearest");
  if (mode == "linear" || mode == "bilinear")
    p.mode = op::interpolation::linear;
  else if (mode == "cubic")
    p.mode = op::interpolation::cubic;
  else if (mode != "nearest")
    throw error("its mode is " + in_quotes(mode) + ", which ONNX does not know");
  read_places(c, of_old_resize(c), p);
  p.antialias = c.integer("antialias", 0) != 0;
  p.exclude = c.integer("exclude_outside", 0) != 0;
  if (p.crops() && c.has_attribute("axes"))
    for (int a : resized_axes(c))
      p.axes.push(a);
  if (p.crops()) check_bounds(c, p);
  return p;
}
} // namespace detail

inline answer handle_resize(const call& c) {
  const shape& x = c.dims(0);
  op::resize p = detail::resize_of(c);
  const bool old = detail::of_old_resize(c);
  const int scales_at = old ? 1 : 2;
  const std::vector<int> axes = detail::resized_axes(c);
  std::vector<double> scales;
  if (p.upsample && c.opset() < 9)
    scales = c.reals("scales");
  else if (c.has(scales_at))
    scales = c.numbers(scales_at);
  std::string repair;
  if (scales.empty() && !old && c.has(3)) {
    const std::vector<std::int64_t>& sizes = c.whole_numbers(3);
    if (sizes.size() != axes.size()) throw error("its sizes do not match its dims");
    for (std::size_t i = 0; i < axes.size(); ++i)
      p.sizes[axes[i]] = sizes[i];
    const std::string_view policy = c.word("keep_aspect_ratio_policy", "stretch");
    if (policy != "stretch") detail::keep_ratio(x, p.sizes, axes, policy == "not_larger");
    if (c.batch != c.old_batch && !c.operand(3).from_shapes && x.size > 0 && x[0] == c.batch &&
        p.sizes[0] == c.old_batch) {
      p.sizes[0] = c.batch;
      repair = "the sizes " + detail::numbers_text(sizes) + " became " + text(p.sizes);
    }
  } else {
    if (scales.size() != axes.size()) throw error("its scales do not match its dims");
    std::vector<double> bounds;
    if (p.crops()) bounds = c.numbers(1);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (!bounds.empty()) scales[i] *= bounds[i + axes.size()] - bounds[i];
      p.sizes[axes[i]] = detail::scaled_dim(x[axes[i]], scales[i]);
    }
  }
  check_dims(p.sizes);

  p.validate();
  answer a = of_layer(c, p, p.sizes);
  a.repair = repair;
  return a;
}

} // namespace benanza::onnx
