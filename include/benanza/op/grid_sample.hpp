// SPDX-License-Identifier: Apache-2.0
// Sampling at given places (ONNX GridSample-16..22), and the places that an affine map gives
// (AffineGrid-20). Each output point reads a place in -1 .. 1 for each spatial dim, the last dim's
// first, and interpolates there; two or three spatial dims.
//
//   grid_sample{.input = {1, 64, 32, 32}, .points = {16, 16}, .mode = interpolation::linear}
//   key: 1x64x32x32-16x16-linear
#pragma once

#include "move.hpp"

#include <optional>

namespace benanza::op {

/// What is outside the input; the order is that of `border_names`.
enum class border : std::uint8_t { zeros, edge, reflection };
inline constexpr std::string_view border_names[] = {"zeros", "border", "reflection"};

struct grid_sample {
  shape input{};    ///< N, C, then two or three spatial dims
  extents points{}; ///< the output's spatial dims
  interpolation mode = interpolation::nearest;
  border outside = border::zeros;
  bool align_corners = false; ///< -1 and 1 are the middles of corner elements, not their edges

  static constexpr std::optional<grid_sample> of(std::string_view family) {
    return family == "GridSample" ? std::optional(grid_sample{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "GridSample"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.dims("points", points);
    a.choice("mode", "interpolation", mode, resize_names);
    a.choice("outside", "border", outside, border_names);
    a.flag("align_corners", "align_corners", align_corners);
  }
  constexpr void validate() const {
    if (input.size < 4 || input.size > 5 || points.size != input.size - 2)
      throw error("a GridSample takes two or three spatial dims");
    check_dims(input);
    for (int i = 2; i < input.size; ++i)
      if (input[i] < 1) throw error("a GridSample takes spatial dims of 1 or more");
    check_dims(output());
    check_dims(grid());
    (void)cost();
  }
  constexpr int rank() const { return points.size; }
  constexpr shape output() const {
    shape out{input[0], input[1]};
    for (std::int64_t n : points)
      out.push(n);
    return out;
  }
  /// Dims of the places.
  constexpr shape grid() const {
    shape out{input[0]};
    for (std::int64_t n : points)
      out.push(n);
    out.push(points.size);
    return out;
  }
  /// Input elements that one output takes.
  constexpr std::int64_t taps() const {
    const int each = mode == interpolation::nearest ? 0 : mode == interpolation::linear ? 1 : 2;
    return std::int64_t{1} << (each * points.size);
  }
  /// No more is read than there is, and no more than is taken.
  constexpr work cost() const {
    const std::int64_t out = elements(output()), in = elements(input);
    const std::int64_t taken = checked_multiply(out, taps());
    work w;
    w.sources = (in < taken ? in : taken) + elements(grid());
    w.results = out;
    w.other = mode == interpolation::nearest ? 0 : checked_multiply(2, taken);
    return w;
  }
  constexpr grid_sample canonical_form() const { return *this; }
  constexpr bool operator==(const grid_sample&) const = default;
};

struct affine_grid {
  std::int64_t batch = 0;
  extents points{};
  bool align_corners = false;

  static constexpr std::optional<affine_grid> of(std::string_view family) {
    return family == "AffineGrid" ? std::optional(affine_grid{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "AffineGrid"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.count_and_dims("batch", batch, "points", points);
    a.flag("align_corners", "align_corners", align_corners);
  }
  constexpr void validate() const {
    if (points.size < 2 || batch < 1 || batch > dim_limit)
      throw error("an AffineGrid takes a batch and two or three spatial dims");
    check_dims(output());
    (void)cost();
  }
  constexpr int rank() const { return points.size; }
  /// Dims of the maps.
  constexpr shape theta() const { return {batch, points.size, points.size + 1}; }
  constexpr shape output() const {
    shape out{batch};
    for (std::int64_t n : points)
      out.push(n);
    out.push(points.size);
    return out;
  }
  constexpr work cost() const {
    work w;
    w.sources = elements(theta());
    w.results = elements(output());
    w.other = checked_multiply(w.results, 2 * points.size);
    return w;
  }
  constexpr affine_grid canonical_form() const { return *this; }
  constexpr bool operator==(const affine_grid&) const = default;
};

} // namespace benanza::op
