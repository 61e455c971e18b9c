// SPDX-License-Identifier: Apache-2.0
// Running sums and products along an axis (ONNX CumSum-14, CumProd-26): of all elements up to each
// one, itself left out if `exclusive`; from the end if `reverse`.
//
//   cumulate{.input = {8, 512}, .axis = 1, .exclusive = true}             key: 8x512-a1-exclusive
#pragma once

#include "move.hpp"

namespace benanza::op {

struct cumulate {
  bool product = false; ///< CumProd
  shape input{};
  int axis = 0;
  bool exclusive = false;
  bool reverse = false;
  dtype element = dtype::real;

  static constexpr std::optional<cumulate> of(std::string_view family) {
    if (family == "CumSum") return cumulate{};
    if (family == "CumProd") return cumulate{.product = true};
    return std::nullopt;
  }
  constexpr std::string_view family() const { return product ? "CumProd" : "CumSum"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.number("axis", "a", axis, 0, true);
    a.flag("exclusive", "exclusive", exclusive);
    a.flag("reverse", "reverse", reverse);
    a.element("element", element);
  }
  constexpr void validate() const {
    detail::check_axis(axis, input);
    check_dims(input);
    (void)cost();
  }
  constexpr shape output() const { return input; }
  /// One sum or product for each element.
  constexpr work cost() const {
    work w = moved(element, elements(input), elements(input));
    w.other = elements(input);
    return w;
  }
  constexpr cumulate canonical_form() const {
    cumulate p = *this;
    if (axis >= 0 && axis < input.size && input[axis] < 2) p.reverse = false;
    return p;
  }
  constexpr bool operator==(const cumulate&) const = default;
};

} // namespace benanza::op
