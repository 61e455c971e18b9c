// SPDX-License-Identifier: Apache-2.0
// What does the text of an option mean? Numbers, lists, seconds, yes or no; refused with the
// option's name where it means nothing.
//
//   seconds("0.1s", "--benchmark_min_time") == 0.1;   one_of("json", {"console", "json"},
//   "--format")
#pragma once

#include "../core/dtype.hpp"
#include "../core/error.hpp"
#include "../core/text.hpp"
#include "../core/winograd.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::bench {

/// The words between commas; empty ones do not count.
inline std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string_view w : split_at(text, ","))
    if (!w.empty()) out.emplace_back(w);
  return out;
}

inline std::optional<int> whole_number(std::string_view text) {
  int n = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (bad != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return n;
}

inline int positive_number(std::string_view text, std::string_view option) {
  const auto n = whole_number(text);
  if (!n || *n < 1)
    throw error("a whole number of 1 or more is needed, not \"" + std::string(text) + "\"",
                std::string(option));
  return *n;
}

inline bool truth(std::string_view text, std::string_view option) {
  std::string small(text);
  for (char& c : small)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (std::string_view yes : {"true", "1", "yes", "on", "t", "y"})
    if (small == yes) return true;
  for (std::string_view no : {"false", "0", "no", "off", "f", "n"})
    if (small == no) return false;
  throw error("true or false is needed, not \"" + std::string(text) + "\"", std::string(option));
}

/// Seconds, with an 's' behind them or not.
inline double seconds(std::string_view text, std::string_view option) {
  std::string number(text);
  if (!number.empty() && number.back() == 's') number.pop_back();
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != 0 || !(value > 0) || value > 3600)
    throw error("seconds are needed, not \"" + std::string(text) + "\"", std::string(option),
                "write " + std::string(option) + "=0.1");
  return value;
}

/// Refuses a number of iterations as a time.
inline double sampling_seconds(std::string_view text, std::string_view option) {
  const bool iterations = text.size() > 1 && text.back() == 'x' &&
                          text.find_first_not_of("0123456789") == text.size() - 1;
  if (iterations)
    throw error("a number of iterations is not taken: a case is sampled until its figure stands "
                "still, at most so many seconds",
                std::string(option) + "=" + std::string(text),
                "write " + std::string(option) + "=0.1s");
  return seconds(text, option);
}

inline double timeout_seconds(std::string_view text, std::string_view option) {
  const std::string number(text);
  char* end = nullptr;
  const double s = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != 0 || !(s > 0) || s > 1e6)
    throw error("seconds are needed, not \"" + number + "\"", std::string(option),
                "write " + std::string(option) + " 60");
  return s;
}

inline std::string one_of(std::string_view value, std::initializer_list<std::string_view> choices,
                          std::string_view option) {
  if (std::find(choices.begin(), choices.end(), value) == choices.end())
    throw error("\"" + std::string(value) + "\" is not one of " + join(choices, ", "),
                std::string(option));
  return std::string(value);
}

inline numeric numeric_class(std::string_view text, std::string_view option) {
  const auto type = parse_numeric(text);
  const std::string_view of = text.substr(0, text.find('-'));
  if (const auto its = parse_numeric(of); its && is_winograd_class(text, *its))
    throw error("\"" + std::string(text) + "\" is no type of its own", std::string(option),
                "ask for " + std::string(of) + ": its Winograds are measured with it");
  if (!type)
    throw error("\"" + std::string(text) + "\" is no numeric class", std::string(option),
                "take from f32, tf32, f16, bf16, u8s8u8, s8s8s8, e4m3");
  return *type;
}

/// The first number of "2/4", and the second.
inline std::pair<int, int> part_of_run(std::string_view text, std::string_view option) {
  const auto parts = split_at(text, "/");
  const auto i = whole_number(parts[0]);
  const auto n = parts.size() == 2 ? whole_number(parts[1]) : std::nullopt;
  if (!i || !n || *i < 1 || *n < 1 || *i > *n)
    throw error("\"" + std::string(text) + "\" is no part of a run", std::string(option),
                "write " + std::string(option) + " 2/4 for the second of four");
  return {*i, *n};
}

/// Facts as KEY=VALUE,KEY=VALUE.
inline std::string key_value_pairs(std::string_view text, std::string_view option) {
  for (const std::string& pair : words(text))
    if (std::count(pair.begin(), pair.end(), '=') != 1 || pair.front() == '=')
      throw error("KEY=VALUE is needed, not \"" + pair + "\"", std::string(option));
  return std::string(text);
}

/// What must not be empty.
inline std::string given(std::string_view text, std::string_view option, std::string_view what,
                         std::string_view remedy = {}) {
  if (text.empty())
    throw error(std::string(what) + " is needed", std::string(option), std::string(remedy));
  return std::string(text);
}

} // namespace benanza::bench
