// SPDX-License-Identifier: Apache-2.0
// How is a good file spoiled? Byte by byte, by words and by numbers that are too large; or, where
// it is JSON, value by value, so that what comes out is still JSON.
//
//   std::string worse = fuzz::spoil(good, words, dice);   fuzz::spoil_json(good, dice)
#pragma once

#include "target.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace fuzz {

inline constexpr std::array<std::string_view, 12> numbers{"0",
                                                          "-1",
                                                          "1",
                                                          "2147483648",
                                                          "4294967296",
                                                          "72057594037927936",
                                                          "9223372036854775807",
                                                          "-9223372036854775808",
                                                          "18446744073709551616",
                                                          "1e308",
                                                          "0.5",
                                                          "1e-300"};

/// One edit of bytes.
inline void edit(std::string& text, const std::vector<std::string_view>& words, dice& d) {
  const std::size_t at = below(d, text.size() + 1);
  const std::size_t length = std::min(text.size() - at, below(d, 2) ? below(d, 9) : below(d, 257));
  switch (below(d, 8)) {
  case 0:
    if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(d, 8)));
    break;
  case 1: text.insert(at, 1, static_cast<char>(below(d, 256))); break;
  case 2: text.erase(at, length); break;
  case 3: text.insert(below(d, text.size() + 1), std::string(text, at, length)); break;
  case 4: text.replace(at, length, text, below(d, text.size() + 1), length); break;
  case 5:
    if (!words.empty()) text.insert(at, words[below(d, words.size())]);
    break;
  case 6: { // a number for the number that comes next
    const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    const auto begin =
        std::find_if(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), digit);
    const auto end = std::find_if_not(begin, text.end(), digit);
    text.replace(begin, end, numbers[below(d, numbers.size())]);
    break;
  }
  default:
    if (below(d, 8) == 0) text.resize(at);
  }
}

/// Some edits of bytes.
inline std::string spoil(std::string text, const std::vector<std::string_view>& words, dice& d) {
  for (std::size_t left = 1 + below(d, 4); left > 0; --left)
    edit(text, words, d);
  return text;
}

namespace detail {
using json = nlohmann::json;

inline void collect(json& j, std::vector<json*>& all) {
  all.push_back(&j);
  if (j.is_structured())
    for (json& child : j)
      collect(child, all);
}

inline json bad_value(dice& d) {
  switch (below(d, 12)) {
  case 0: return nullptr;
  case 1: return true;
  case 2: return "";
  case 3: return std::string(below(d, 3000), 'x');
  case 4: return "\x1b[31m\n\xff\xe2\x80\xae";
  case 5: return json::array();
  case 6: return json::object();
  case 7: {
    json deep = 1;
    for (std::size_t left = below(d, 100); left > 0; --left)
      deep = left % 2 ? json::array({std::move(deep)}) : json{{"a", std::move(deep)}};
    return deep;
  }
  default: {
    const json number = json::parse(numbers[below(d, numbers.size())], nullptr, false);
    return number.is_discarded() ? json(0) : number;
  }
  }
}

inline void change(json& root, dice& d) {
  std::vector<json*> all;
  collect(root, all);
  json& j = *all[below(d, all.size())];
  const json other = *all[below(d, all.size())];
  switch (below(d, 6)) {
  case 0: j = bad_value(d); break;
  case 1: j = other; break;
  case 2:
    if (j.is_object() && !j.empty())
      j.erase(std::next(j.begin(), static_cast<std::ptrdiff_t>(below(d, j.size()))));
    else if (j.is_array() && !j.empty())
      j.erase(below(d, j.size()));
    break;
  case 3:
    if (j.is_array()) j.push_back(j.empty() ? other : json(j[below(d, j.size())]));
    break;
  case 4:
    if (j.is_string()) j = spoil(j.get<std::string>(), {"/", "x", "-", ",", "@"}, d);
    break;
  default:
    if (j.is_number()) j = bad_value(d);
  }
}
} // namespace detail

/// Another document, as long as the text is one; else other bytes.
inline std::string spoil_json(const std::string& text, dice& d) {
  using detail::json;
  json document = json::parse(text, nullptr, false);
  if (document.is_discarded() || below(d, 10) == 0) return spoil(text, {}, d);
  for (std::size_t left = 1 + below(d, 4); left > 0; --left)
    detail::change(document, d);
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace fuzz
