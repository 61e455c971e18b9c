// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax along one axis (ONNX Softmax-13). Before opset 13 ONNX flattened the input
// to two dims at the axis; such a layer is written with the flattened dims.
//
//   softmax{.input = {1, 1000}, .axis = 1}    key: 1x1000-a1
#pragma once

#include "key.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

struct softmax {
  shape input{};
  int axis = 0; ///< never negative
  bool log = false;

  static constexpr std::optional<softmax> of(std::string_view family) {
    if (family == "Softmax") return softmax{};
    if (family == "LogSoftmax") return softmax{.log = true};
    return std::nullopt;
  }
  constexpr std::string_view family() const { return log ? "LogSoftmax" : "Softmax"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.number("axis", "a", axis, 0, true);
  }
  constexpr void validate() const {
    if (axis < 0 || axis >= input.size) throw error("a softmax's axis lies outside its dims");
    check_dims(input);
    (void)cost();
  }
  constexpr shape output() const { return input; }

  /// Each element: maximum, difference, exponential, sum, division (or logarithm).
  constexpr work cost() const {
    work w = moved(dtype::real, elements(input), elements(input));
    w.other = checked_multiply(5, w.results);
    return w;
  }
  constexpr softmax canonical_form() const { return *this; }
  constexpr bool operator==(const softmax&) const = default;
};

} // namespace benanza::op
