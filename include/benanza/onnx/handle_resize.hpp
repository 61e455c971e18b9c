// SPDX-License-Identifier: Apache-2.0
// Resize-10..19 and Upsample-7..9: to sizes, or by scales, of which an output dim is
// floor(dim x scale). The ways to place samples that no layer has, but that cost the same, are
// written as half_pixel.
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
  for (int a : axes)
    sizes[a] = static_cast<std::int64_t>(std::floor(scale * static_cast<double>(x[a]) + 0.5));
}
} // namespace detail

inline answer handle_resize(const call& c) {
  const shape& x = c.dims(0);
  op::resize p = *op::resize::of(c.op());
  p.input = p.sizes = x;
  const bool old = p.upsample || c.opset() < 11;
  const int scales_at = old ? 1 : 2;
  const std::string_view mode = c.word("mode", "nearest");
  if (mode == "linear" || mode == "bilinear")
    p.mode = op::interpolation::linear;
  else if (mode == "cubic")
    p.mode = op::interpolation::cubic;
  else if (mode != "nearest")
    throw error("its mode is " + detail::in_quotes(mode) + ", which ONNX does not know");

  std::vector<int> axes;
  if (c.has_attribute("axes"))
    for (std::int64_t a : c.integers("axes"))
      axes.push_back(call::axis(a, x.size));
  else
    for (int i = 0; i < x.size; ++i)
      axes.push_back(i);

  std::vector<double> scales;
  if (p.upsample && c.opset() < 9)
    scales = c.reals("scales");
  else if (c.has(scales_at))
    scales = c.numbers(scales_at);
  std::string repair;
  const std::string_view place =
      c.word("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
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
    if (place == "tf_crop_and_resize") throw error("it crops, which no layer does");
    for (std::size_t i = 0; i < axes.size(); ++i)
      p.sizes[axes[i]] = detail::scaled_dim(x[axes[i]], scales[i]);
  }
  check_dims(p.sizes);

  using op::sampling;
  if (place == "asymmetric")
    p.coordinates = sampling::asymmetric;
  else if (place == "align_corners")
    p.coordinates = sampling::align_corners;
  else if (place == "pytorch_half_pixel")
    p.coordinates = sampling::pytorch_half_pixel;
  answer a = of_layer(c, p, p.sizes);
  a.repair = repair;
  if (place == "tf_crop_and_resize") {
    a.layer.reset();
    a.problem = "it crops, which no layer does";
  }
  return a;
}

} // namespace benanza::onnx
