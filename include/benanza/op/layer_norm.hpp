// SPDX-License-Identifier: Apache-2.0
// Normalizations of rows, as transformers have them: ONNX LayerNormalization-17 (mean and deviation
// of each row, then scale and perhaps bias) and RMSNormalization-23 (root of the mean square, then
// scale). A row is all dims from `axis` on. The value of epsilon does not change the cost. A
// LayerNormalization may give its rows' means and inverse deviations too, in f32.
//
//   layer_norm{.input = {1, 197, 768}, .axis = 2, .bias = true}    key: 1x197x768-a2-b
//   rms_norm{.input = {1, 128, 4096}, .axis = 2}                   key: 1x128x4096-a2
#pragma once

#include "key.hpp"
#include "results.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

namespace detail {
constexpr void check_rows(const shape& input, int axis) {
  if (axis < 0 || axis >= input.size) throw error("a normalization's axis lies outside its dims");
  check_dims(input);
}

/// Work of a normalization of `input` that takes so many operations an element.
constexpr work normalized(const shape& input, std::int64_t vectors, std::int64_t operations) {
  work w = moved(dtype::real, elements(input), elements(input));
  w.vectors = vectors;
  w.other = checked_multiply(operations, w.results);
  return w;
}
} // namespace detail

struct layer_norm {
  shape input{};
  int axis = 0; ///< first dim of a row; never negative
  bool bias = false;
  bool statistics = false; ///< further results: mean and inverse deviation of each row

  static constexpr std::optional<layer_norm> of(std::string_view family) {
    return family == "LayerNormalization" ? std::optional(layer_norm{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "LayerNormalization"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.number("axis", "a", axis, 0, true);
    a.flag("bias", "b", bias);
    a.flag("statistics", "stats", statistics);
  }
  constexpr void validate() const {
    detail::check_rows(input, axis);
    if (statistics && row() == 0) throw error("empty rows have no mean");
    (void)cost();
  }
  constexpr shape output() const { return input; }
  /// Elements of a row, which are those of scale and bias.
  constexpr std::int64_t row() const { return elements(input, axis, input.size); }
  constexpr result_list results() const {
    if (!statistics) return {{input}};
    shape rows = input;
    for (int i = axis; i < rows.size; ++i)
      rows[i] = 1;
    return {{input}, {rows, dtype::f32}, {rows, dtype::f32}};
  }

  /// Each element: added to the mean's sum; difference, square, added to the variance's sum;
  /// divided by the deviation, scaled, and the bias added.
  constexpr work cost() const {
    work w = detail::normalized(input, checked_multiply(bias ? 2 : 1, row()), bias ? 7 : 6);
    if (statistics) w.fixed_bytes = checked_multiply(8, elements(input, 0, axis));
    return w;
  }
  constexpr layer_norm canonical_form() const { return *this; }
  constexpr bool operator==(const layer_norm&) const = default;
};

struct rms_norm {
  shape input{};
  int axis = 0; ///< first dim of a row; never negative

  static constexpr std::optional<rms_norm> of(std::string_view family) {
    return family == "RMSNormalization" ? std::optional(rms_norm{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "RMSNormalization"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.number("axis", "a", axis, 0, true);
  }
  constexpr void validate() const {
    detail::check_rows(input, axis);
    (void)cost();
  }
  constexpr shape output() const { return input; }
  /// Elements of a row, which are those of the scale.
  constexpr std::int64_t row() const { return elements(input, axis, input.size); }

  /// Each element: square, added to a sum; divided by the root, scaled.
  constexpr work cost() const { return detail::normalized(input, row(), 4); }
  constexpr rms_norm canonical_form() const { return *this; }
  constexpr bool operator==(const rms_norm&) const = default;
};

} // namespace benanza::op
