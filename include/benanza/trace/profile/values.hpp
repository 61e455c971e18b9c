// SPDX-License-Identifier: Apache-2.0
// How do the files of profilers write numbers, times, dims and types? Numbers also as texts, types
// each framework in words of its own. What is no sensible value is none.
//
//   detail::number_in_text("0.44")  // 0.44          detail::type_token("Half")   // "f16"
//   detail::ns_of(0.44, ns_of_ms)   // 440000        detail::dims_of(json{2, 3})  // 2x3
#pragma once

#include "../../core/dtype.hpp"
#include "../../core/error.hpp"
#include "../../core/nesting.hpp"
#include "../../core/text.hpp"
#include "profile.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace benanza::trace::detail {

using nlohmann::json;

inline constexpr double ns_of_us = 1e3, ns_of_ms = 1e6;
/// No time of a run of a model, nor of an operator: eleven days.
inline constexpr double longest_ns = 1e15;

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}
inline std::string_view stripped(std::string_view s) {
  while (!s.empty() && is_blank(s.front()))
    s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back()))
    s.remove_suffix(1);
  return s;
}

/// The number that a text is; nothing if it is none, or not finite.
inline std::optional<double> number_in_text(std::string_view text) {
  text = stripped(text);
  double v = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (text.empty() || bad != std::errc{} || end != text.data() + text.size() || !std::isfinite(v))
    return std::nullopt;
  return v;
}
inline std::optional<double> number_of(const json& j) {
  if (j.is_string()) return number_in_text(j.get_ref<const std::string&>());
  if (!j.is_number()) return std::nullopt;
  const double v = j.get<double>();
  return std::isfinite(v) ? std::optional(v) : std::nullopt;
}

/// A time in ns of one in units of `unit` ns; nothing if it is negative or no time of a run.
inline std::optional<double> ns_of(std::optional<double> v, double unit) {
  if (!v || *v < 0 || *v * unit > longest_ns) return std::nullopt;
  return *v * unit;
}

/// A count from 0 to 2^40; nothing if it is none.
inline std::optional<std::int64_t> count_of(const json& j) {
  const std::optional<double> v = number_of(j);
  if (!v || *v < 0 || *v > static_cast<double>(dim_limit) || *v != std::floor(*v))
    return std::nullopt;
  return static_cast<std::int64_t>(*v);
}

/// The text that a value is, a number as it is written; empty: it is neither.
inline std::string text_of(const json& j) {
  if (j.is_string()) return j.get_ref<const std::string&>();
  return j.is_number() ? j.dump() : std::string();
}

/// The member of that name; null: there is none, or this is no object.
inline const json* member(const json& j, const char* name) {
  if (!j.is_object()) return nullptr;
  const auto found = j.find(name);
  return found == j.end() ? nullptr : &*found;
}
inline std::string text_in(const json& j, const char* name) {
  const json* m = member(j, name);
  return m == nullptr ? std::string() : text_of(*m);
}
inline std::optional<double> number_in(const json& j, const char* name) {
  const json* m = member(j, name);
  return m == nullptr ? std::nullopt : number_of(*m);
}

/// The texts of a list; what is none is left out.
inline std::vector<std::string> texts_in(const json& j, const char* name) {
  std::vector<std::string> out;
  const json* m = member(j, name);
  if (m == nullptr || !m->is_array()) return out;
  for (const json& one : *m)
    if (one.is_string()) out.push_back(one.get<std::string>());
  return out;
}

/// The dims of `[2,3,32,32]`; nothing if that is none, or of more than eight.
inline std::optional<shape> dims_of(const json& j) {
  shape out;
  if (!j.is_array() || j.size() > 8) return std::nullopt;
  for (const json& one : j) {
    const auto v = count_of(one);
    if (!v) return std::nullopt;
    out.push(*v);
  }
  return out;
}

/// The token of a type, whatever the framework calls it; a type of its own as it is written.
inline std::string type_token(std::string_view name) {
  // clang-format off
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 56> names{{
      {"float", "f32"}, {"float32", "f32"}, {"fp32", "f32"}, {"single", "f32"},
      {"double", "f64"}, {"float64", "f64"}, {"fp64", "f64"},
      {"float16", "f16"}, {"half", "f16"}, {"fp16", "f16"}, {"c10::half", "f16"}, {"mlfloat16", "f16"},
      {"bfloat16", "bf16"}, {"c10::bfloat16", "bf16"},
      {"float8e4m3fn", "e4m3"}, {"float8_e4m3fn", "e4m3"}, {"f8e4m3", "e4m3"}, {"fp8", "e4m3"},
      {"float8e5m2", "e5m2"}, {"float8_e5m2", "e5m2"}, {"f8e5m2", "e5m2"},
      {"float8e4m3fnuz", "e4m3z"}, {"float8e5m2fnuz", "e5m2z"}, {"f8e8m0", "e8m0"}, {"f4e2m1", "e2m1"},
      {"int8", "s8"}, {"i8", "s8"}, {"signed char", "s8"}, {"uint8", "u8"}, {"unsigned char", "u8"},
      {"int16", "s16"}, {"i16", "s16"}, {"short", "s16"}, {"short int", "s16"}, {"uint16", "u16"},
      {"int32", "s32"}, {"i32", "s32"}, {"int", "s32"}, {"uint32", "u32"},
      {"int64", "s64"}, {"i64", "s64"}, {"long", "s64"}, {"long int", "s64"}, {"long long", "s64"},
      {"uint64", "u64"}, {"int4", "s4"}, {"i4", "s4"}, {"uint4", "u4"}, {"int2", "s2"},
      {"uint2", "u2"}, {"bool", "bool"}, {"boolean", "bool"},
      {"fp4", "e2m1"}, {"nf4", "nf4"}, {"unspecified", ""}, {"dynamic", ""}}};
  // clang-format on
  if (name.starts_with("tensor(") && name.ends_with(')')) name = name.substr(7, name.size() - 8);
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const auto& [theirs, ours] : names)
    if (lower == theirs) return std::string(ours);
  return parse_dtype(lower) ? lower : std::string(name);
}

/// "resnet50" of "models/resnet50.onnx".
inline std::string stem_of(std::string_view file) {
  if (const std::size_t at = file.find_last_of("/\\"); at != std::string_view::npos)
    file.remove_prefix(at + 1);
  const std::size_t dot = file.rfind('.');
  return std::string(dot == std::string_view::npos || dot == 0 ? file : file.substr(0, dot));
}

/// "1 name", "3 names".
inline std::string counted(std::size_t n, std::string_view what, std::string_view many = {}) {
  std::string out = std::to_string(n).append(" ");
  if (n == 1) return out.append(what);
  return many.empty() ? out.append(what).append("s") : out.append(many);
}

/// The lines of a text, without their ends.
template <class Take>
void each_line(std::string_view text, Take&& take) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    take(line);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
}

/// The JSON value that a whole text is, where that is small enough to be held; refuses what is
/// none.
inline json value_of(std::string_view text, const std::string& source, std::string_view remedy) {
  if (nesting(text) > deepest_json)
    throw error("the JSON is nested deeper than " + std::to_string(deepest_json) + " levels",
                source, remedy);
  try {
    return json::parse(text);
  } catch (const json::exception& e) {
    const std::string_view said = e.what();
    const std::size_t at = said.find("] "); // behind the library's own number of it
    throw error("this is no whole JSON: " +
                    std::string(said.substr(at == said.npos ? 0 : at + 2, 200)),
                source, remedy);
  }
}

} // namespace benanza::trace::detail
