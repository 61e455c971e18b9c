// SPDX-License-Identifier: Apache-2.0
// How does a list look as one text? Its parts with a mark between each two, such as "1x64x56x56" or
// "f32,bf16".
//
//   split_at("f32,bf16", ",")   // {"f32", "bf16"};   split_at("", ",")   // {""}
//   items("a\nb\n", "\n")    // {"a", "b"};        items("", "\n")  // {}
//   join(std::vector{1, 64, 56}, "x") == "1x64x56"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace benanza {

/// The parts between the marks: one more than there are marks.
inline std::vector<std::string_view> split_at(std::string_view text, std::string_view mark) {
  std::vector<std::string_view> out;
  for (std::size_t end; (end = text.find(mark)) != std::string_view::npos;) {
    out.push_back(text.substr(0, end));
    text.remove_prefix(end + mark.size());
  }
  out.push_back(text);
  return out;
}

/// The same of a list that may be empty, and whose last part may end with a mark, too: lines.
inline std::vector<std::string_view> items(std::string_view text, std::string_view mark) {
  std::vector<std::string_view> out = split_at(text, mark);
  if (out.back().empty()) out.pop_back();
  return out;
}

/// Texts or whole numbers with the mark between each two.
template <class Parts>
std::string join(Parts&& parts, std::string_view mark) {
  std::string out;
  bool first = true;
  for (auto&& part : parts) {
    if (!first) out += mark;
    first = false;
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(part)>>)
      out += std::to_string(part);
    else
      out += part;
  }
  return out;
}

} // namespace benanza
