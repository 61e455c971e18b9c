// SPDX-License-Identifier: Apache-2.0
// What is an enumerator called in the source? The compiler knows; this asks it, so that generated
// code can name `unary_function::leaky_relu` without a second table that could disagree with the
// first.
//
//   enumerator_name(op::pooling::global_max) == "global_max"
#pragma once

#include <array>
#include <string_view>
#include <type_traits>
#include <utility>

namespace benanza::generator {

namespace detail {
template <auto Value>
constexpr std::string_view enumerator() {
  // "... [with auto Value = benanza::op::pooling::global_max; ...]" or "... [Value = ...]"
  std::string_view text = __PRETTY_FUNCTION__;
  text = text.substr(text.find("Value = ") + 8);
  text = text.substr(0, text.find_first_of(";]"));
  const std::size_t colon = text.rfind(':');
  return colon == std::string_view::npos ? text : text.substr(colon + 1);
}

template <class Enum, std::size_t... I>
constexpr std::array<std::string_view, sizeof...(I)> enumerators(std::index_sequence<I...>) {
  return {enumerator<static_cast<Enum>(I)>()...};
}
} // namespace detail

/// Name of an enumerator of an enumeration with at most 64 values, counted from zero.
template <class Enum>
std::string_view enumerator_name(Enum value) {
  static constexpr auto names = detail::enumerators<Enum>(std::make_index_sequence<64>{});
  return names.at(static_cast<std::size_t>(value));
}

} // namespace benanza::generator
