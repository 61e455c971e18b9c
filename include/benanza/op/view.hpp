// SPDX-License-Identifier: Apache-2.0
// Layers that move nothing: the result is the input's memory under other dims. They cost zero, and
// every report says so by name. (After a blocked layout a Reshape needs a reorder: that is a matter
// of the layouts chosen, not of this layer.)
//
//   view{.function = view_function::flatten, .input = {1, 2048, 1, 1}, .result = {1, 2048}}
#pragma once

#include "eltwise.hpp"

namespace benanza::op {

/// Which ONNX operator the view is; the order is that of `view_families`.
enum class view_function : std::uint8_t { reshape, flatten, squeeze, unsqueeze, identity, dropout };

inline constexpr std::string_view view_families[] = {"Reshape",   "Flatten",  "Squeeze",
                                                     "Unsqueeze", "Identity", "Dropout"};

struct view {
  view_function function = view_function::reshape;
  shape input{};
  shape result{};
  dtype element = dtype::real;

  static constexpr std::optional<view> of(std::string_view family) {
    if (const auto f = detail::find_family<view_function>(view_families, family))
      return view{.function = *f};
    return std::nullopt;
  }
  constexpr std::string_view family() const {
    return view_families[static_cast<std::size_t>(function)];
  }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.dims_or("result", result, input);
    a.element("element", element);
  }
  constexpr void validate() const {
    check_dims(input);
    check_dims(result);
    if (elements(input) != elements(result)) throw error("a view must keep the number of elements");
    const bool same = function == view_function::identity || function == view_function::dropout;
    if (same && input != result) throw error("an Identity or a Dropout must keep its dims");
  }
  constexpr shape output() const { return result; }
  constexpr work cost() const { return {}; }
  constexpr view canonical_form() const { return *this; }
  constexpr bool operator==(const view&) const = default;
};

} // namespace benanza::op
