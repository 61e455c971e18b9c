// SPDX-License-Identifier: Apache-2.0
// Sampling and detection: ONNX GridSample-16..22, AffineGrid-20, RoiAlign-10..22, MaxRoiPool-1..22,
// NonMaxSuppression-10..11, whose result is as large as what it keeps: how much that can be is in
// largest.hpp.
//
//   handle_grid_sample(call)   // GridSample/1x3x8x8-6x6-linear-border
#pragma once

#include "largest.hpp"

namespace benanza::onnx {

/// Modes are called bilinear and bicubic up to opset 19.
inline answer handle_grid_sample(const call& c) {
  const shape &x = c.dims(0), &grid = c.dims(1);
  if (x.size < 4 || x.size > 5 || grid.size != x.size || grid.back() != x.size - 2)
    throw error("its input " + text(x) + " and its places " + text(grid) + " do not fit");
  op::grid_sample p{.input = x, .align_corners = c.integer("align_corners", 0) != 0};
  for (int i = 1; i < grid.size - 1; ++i)
    p.points.push(grid[i]);
  const std::string_view mode = c.word("mode", "linear"), outside = c.word("padding_mode", "zeros");
  if (mode == "linear" || mode == "bilinear")
    p.mode = op::interpolation::linear;
  else if (mode == "cubic" || mode == "bicubic")
    p.mode = op::interpolation::cubic;
  else if (mode != "nearest")
    throw error("its mode is " + detail::in_quotes(mode) + ", which ONNX does not know");
  bool known = false;
  for (std::size_t i = 0; i < std::size(op::border_names); ++i)
    if (op::border_names[i] == outside) {
      p.outside = static_cast<op::border>(i);
      known = true;
    }
  if (!known)
    throw error("its padding_mode is " + detail::in_quotes(outside) + ", which ONNX does not know");
  p.validate();
  if (!(p.grid() == grid)) throw error("its places are " + text(grid) + ", not " + text(p.grid()));
  return of_layer(c, p, p.output());
}

/// The size is that of what is sampled: batch, channels, then spatial dims.
inline answer handle_affine_grid(const call& c) {
  const std::vector<std::int64_t>& size = c.whole_numbers(1);
  if (size.size() < 4 || size.size() > 5)
    throw error("its size does not have two or three spatial dims");
  op::affine_grid p{.batch = size[0], .align_corners = c.integer("align_corners", 0) != 0};
  for (std::size_t i = 2; i < size.size(); ++i)
    p.points.push(size[i]);
  p.validate();
  if (!(c.dims(0) == p.theta()))
    throw error("its maps are " + text(c.dims(0)) + ", not " + text(p.theta()));
  return of_layer(c, p, p.output());
}

/// Up to opset 15 places were those that are called output_half_pixel later.
inline answer handle_roi_align(const call& c) {
  const shape &x = c.dims(0), &boxes = c.dims(1);
  if (boxes.size != 2 || boxes[1] != 4 || !(c.dims(2) == shape{boxes[0]}))
    throw error("its regions " + text(boxes) + " and their images " + text(c.dims(2)) +
                " do not fit");
  if (c.type(2) != dtype::s64) throw error("the images of its regions are not int64");
  op::roi_align p{.input = x,
                  .regions = boxes[0],
                  .pooled = {c.integer("output_height", 1), c.integer("output_width", 1)},
                  .samples = c.integer("sampling_ratio", 0)};
  const std::string_view mode = c.word("mode", "avg");
  if (mode != "avg" && mode != "max") throw error("its mode is " + detail::in_quotes(mode));
  p.maximum = mode == "max";
  const std::string_view place =
      c.word("coordinate_transformation_mode", c.opset() < 16 ? "output_half_pixel" : "half_pixel");
  if (place != "half_pixel" && place != "output_half_pixel")
    throw error("its coordinate_transformation_mode is " + detail::in_quotes(place));
  p.half_pixel = place == "half_pixel";
  p.validate();
  return of_layer(c, p, p.output());
}

inline answer handle_max_roi_pool(const call& c) {
  const shape& boxes = c.dims(1);
  if (boxes.size != 2 || boxes[1] != 5)
    throw error("its regions " + text(boxes) + " do not have five numbers each");
  op::max_roi_pool p{.input = c.dims(0), .regions = boxes[0]};
  p.pooled = to_list<extents>(c.integers("pooled_shape"));
  p.validate();
  return of_layer(c, p, p.output());
}

/// The layer keeps as many boxes as it may; how many a model does is decided when it runs.
inline answer handle_non_max_suppression(const call& c) {
  const shape &boxes = c.dims(0), &scores = c.dims(1);
  if (boxes.size != 3 || boxes[2] != 4 || scores.size != 3 || scores[0] != boxes[0] ||
      scores[2] != boxes[1])
    throw error("its boxes " + text(boxes) + " and scores " + text(scores) + " do not fit");
  op::non_max_suppression p{.batch = boxes[0],
                            .boxes = boxes[1],
                            .classes = scores[1],
                            .most = detail::most_boxes(c),
                            .centred = c.integer("center_point_box", 0) != 0};
  p.validate();
  answer a;
  a.outputs.push_back({proto::INT64, std::nullopt});
  a.layer = p;
  return a;
}

} // namespace benanza::onnx
