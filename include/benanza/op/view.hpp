// SPDX-License-Identifier: Apache-2.0
// Layers that move nothing: the result is the input's memory under other dims, or as elements of
// another type of the same width (BitCast). They cost zero, and every report says so by name.
// (After a blocked layout a Reshape needs a reorder: that is a matter of the layouts chosen, not of
// this layer.)
//
//   view{.function = view_function::flatten, .input = {1, 2048, 1, 1}, .result = {1, 2048}}
#pragma once

#include "eltwise.hpp"
#include "results.hpp"

namespace benanza::op {

/// Which ONNX operator the view is; the order is that of `view_families`.
enum class view_function : std::uint8_t {
  reshape,
  flatten,
  squeeze,
  unsqueeze,
  identity,
  dropout,
  bit_cast
};

inline constexpr std::string_view view_families[] = {"Reshape",  "Flatten", "Squeeze", "Unsqueeze",
                                                     "Identity", "Dropout", "BitCast"};

struct view {
  view_function function = view_function::reshape;
  shape input{};
  shape result{};
  dtype element = dtype::real;
  dtype to = dtype::real; ///< the result's type, of a BitCast

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
    if (!casts()) return a.element("element", element);
    constexpr auto missing = static_cast<dtype>(0xff); // one alone could be either
    a.element("element", element, missing);
    a.element("to", to, missing);
  }
  constexpr bool casts() const { return function == view_function::bit_cast; }
  constexpr void validate() const {
    check_dims(input);
    check_dims(result);
    if (elements(input) != elements(result)) throw error("a view must keep the number of elements");
    const bool same = function == view_function::identity || function == view_function::dropout;
    if (same && input != result) throw error("an Identity or a Dropout must keep its dims");
    if (!casts()) return;
    if (input != result) throw error("a BitCast must keep its dims");
    if (element == dtype::real || to == dtype::real || element > dtype::boolean ||
        to > dtype::boolean)
      throw error("a BitCast names two types, and not that of the case");
    if (size_bits(element) != size_bits(to))
      throw error("a BitCast's types must be of the same width");
  }
  constexpr shape output() const { return result; }
  constexpr result_list results() const { return {{result, casts() ? to : element}}; }
  constexpr work cost() const { return {}; }
  constexpr view canonical_form() const { return *this; }
  constexpr bool operator==(const view&) const = default;
};

} // namespace benanza::op
