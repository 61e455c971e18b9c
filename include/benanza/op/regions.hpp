// SPDX-License-Identifier: Apache-2.0
// What detectors do with boxes: pooling of regions (ONNX RoiAlign-10..22, MaxRoiPool-1..22) and
// NonMaxSuppression-10..11. How large a region is, is data: regions of a measured layer cover a
// quarter of the image. The scale of boxes and the thresholds are values.
//
//   roi_align{.input = {1, 256, 50, 50}, .regions = 100, .pooled = {7, 7}, .samples = 2}
//   key: 1x256x50x50-100x7x7-n2
//   non_max_suppression{.batch = 1, .boxes = 1000, .classes = 80, .most = 100}
//   key: 1x1000x80-most100
#pragma once

#include "key.hpp"
#include "results.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

namespace detail {
constexpr void check_regions(const shape& input, const extents& pooled) {
  if (input.size != 4 || pooled.size != 2) throw error("a pooling of regions takes images");
  check_dims(input);
  for (int i = 2; i < 4; ++i)
    if (input[i] < 1) throw error("a pooling of regions takes images of 1 or more");
  for (std::int64_t n : pooled)
    if (n < 1) throw error("a pooling of regions gives images of 1 or more");
}
} // namespace detail

struct roi_align {
  shape input{};
  std::int64_t regions = 0;
  extents pooled{};         ///< height and width of each result
  std::int64_t samples = 0; ///< along each side of a bin; 0: one for each element that it covers
  bool maximum = false;     ///< of the weighed elements, in place of their average
  bool half_pixel = false;  ///< places count from the middle of elements

  static constexpr std::optional<roi_align> of(std::string_view family) {
    return family == "RoiAlign" ? std::optional(roi_align{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "RoiAlign"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.count_and_dims("regions", regions, "pooled", pooled);
    a.number("samples", "n", samples, 0);
    a.flag("maximum", "max", maximum);
    a.flag("half_pixel", "half_pixel", half_pixel);
  }
  constexpr void validate() const {
    detail::check_regions(input, pooled);
    if (samples < 0 || samples > 1024) throw error("a RoiAlign takes 0 to 1024 samples a side");
    if (input[0] < 1 && regions > 0) throw error("a RoiAlign has regions, but no image");
    check_dims(output());
    (void)cost();
  }
  constexpr shape output() const { return {regions, input[1], pooled[0], pooled[1]}; }
  /// Batches that regions name are less than this.
  constexpr shape index_bounds() const { return {input[0]}; }
  /// Samples along one side of a bin of a region that covers half the image along that side.
  constexpr std::int64_t samples_along(int side) const {
    if (samples > 0) return samples;
    const std::int64_t half = (input[side + 2] + 1) / 2;
    return (half + pooled[side] - 1) / pooled[side];
  }
  /// Four weighed elements a sample; no more is read than there is.
  constexpr work cost() const {
    work w;
    w.results = elements(output());
    const std::int64_t taken = checked_multiply(
        w.results, checked_multiply(4, checked_multiply(samples_along(0), samples_along(1))));
    const std::int64_t in = elements(input);
    w.sources = (in < taken ? in : taken) + checked_multiply(4, regions);
    w.fixed_bytes = checked_multiply(8, regions);
    w.other = checked_multiply(2, taken);
    return w;
  }
  constexpr roi_align canonical_form() const { return *this; }
  constexpr bool operator==(const roi_align&) const = default;
};

struct max_roi_pool {
  shape input{};
  std::int64_t regions = 0;
  extents pooled{};

  static constexpr std::optional<max_roi_pool> of(std::string_view family) {
    return family == "MaxRoiPool" ? std::optional(max_roi_pool{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "MaxRoiPool"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.count_and_dims("regions", regions, "pooled", pooled);
  }
  constexpr void validate() const {
    detail::check_regions(input, pooled);
    if (input[0] < 1 && regions > 0) throw error("a MaxRoiPool has regions, but no image");
    check_dims(output());
    (void)cost();
  }
  constexpr shape output() const { return {regions, input[1], pooled[0], pooled[1]}; }
  /// Regions of a quarter of the image are compared element by element.
  constexpr work cost() const {
    work w;
    w.results = elements(output());
    const std::int64_t area = checked_multiply((input[2] + 1) / 2, (input[3] + 1) / 2);
    const std::int64_t bins = checked_multiply(pooled[0], pooled[1]);
    w.other = checked_multiply(checked_multiply(regions, input[1]), area > bins ? area : bins);
    const std::int64_t in = elements(input);
    w.sources = (in < w.other ? in : w.other) + checked_multiply(5, regions);
    return w;
  }
  constexpr max_roi_pool canonical_form() const { return *this; }
  constexpr bool operator==(const max_roi_pool&) const = default;
};

/// Keeps, in each batch and class, boxes of falling score that overlap none that was kept. Rows
/// (batch, class, box) of what was kept come first; those behind are -1.
struct non_max_suppression {
  std::int64_t batch = 0, boxes = 0, classes = 0;
  std::int64_t most = 0; ///< kept in each batch and class
  bool centred = false;  ///< boxes are a middle and a size, not two corners

  static constexpr std::optional<non_max_suppression> of(std::string_view family) {
    return family == "NonMaxSuppression" ? std::optional(non_max_suppression{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "NonMaxSuppression"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    list<3> sizes{batch, boxes, classes};
    a.dims("", sizes);
    if (sizes.size == 3) batch = sizes[0], boxes = sizes[1], classes = sizes[2];
    a.number("most", "most", most, 0, true);
    a.flag("centred", "centred", centred);
  }
  constexpr void validate() const {
    for (std::int64_t n : {batch, boxes, classes})
      if (n < 1 || n > dim_limit)
        throw error("a NonMaxSuppression takes batch, boxes and classes of 1 to 2^40");
    if (most < 0 || most > boxes) throw error("a NonMaxSuppression keeps 0 to all of its boxes");
    check_dims(output());
    (void)cost();
  }
  constexpr shape box_dims() const { return {batch, boxes, 4}; }
  constexpr shape scores() const { return {batch, classes, boxes}; }
  constexpr shape output() const {
    return {checked_multiply(checked_multiply(batch, classes), most), 3};
  }
  constexpr result_list results() const { return {{output(), dtype::s64}}; }
  /// The least that any way needs: every score is looked at once.
  constexpr work cost() const {
    work w;
    w.other = elements(scores());
    w.sources = elements(box_dims()) + w.other;
    w.fixed_bytes = checked_multiply(8, elements(output()));
    return w;
  }
  constexpr non_max_suppression canonical_form() const { return *this; }
  constexpr bool operator==(const non_max_suppression&) const = default;
};

} // namespace benanza::op
