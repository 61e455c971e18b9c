// SPDX-License-Identifier: Apache-2.0
// How are figures written for people? Times with three significant digits and the unit that suits
// them, an interval in the unit of its time, shares in percent, untrusted text without control
// characters (core/printable.hpp), long text in lines of 80 columns.
//
//   show_time(26'314'000) == "26.3 ms";   show({.ns = 355e3, .low_ns = 351e3, .high_ns = 362e3})
#pragma once

#include "../bound/interval.hpp"
#include "../core/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace benanza::report {

inline constexpr std::size_t columns = 80;

/// A unit of time and how many decimals give three significant digits in it.
struct time_scale {
  std::string_view unit = "ns";
  double ns = 1;
  int decimals = 0;
};

/// The scale that suits `ns`.
inline time_scale scale_of(double ns) {
  static constexpr std::array<time_scale, 4> units{
      {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}}};
  for (time_scale s : units) {
    // What rounds to 1.00 of a unit is shown in it.
    if (std::abs(ns) < 0.9995 * s.ns) continue;
    const double v = std::abs(ns) / s.ns;
    s.decimals = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
    return s;
  }
  return {.decimals = ns == 0 ? 0 : 2};
}

/// A time, such as `26.3 ms`.
inline std::string show_time(double ns) {
  const time_scale s = scale_of(ns);
  return fmt::format("{:.{}f} {}", ns / s.ns, s.decimals, s.unit);
}

/// A time with its interval, such as `26.3 ms [26.1, 26.6]`.
inline std::string show(const bound::figure& f) {
  const time_scale s = scale_of(f.ns);
  return fmt::format("{:.{}f} {} [{:.{}f}, {:.{}f}]", f.ns / s.ns, s.decimals, s.unit,
                     f.low_ns / s.ns, s.decimals, f.high_ns / s.ns, s.decimals);
}

/// A rate with three significant digits or all before the point, such as `394` or `27.1`.
inline std::string show_rate(double per_s) {
  const int decimals = per_s < 9.995 ? 2 : per_s < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", per_s, decimals);
}

/// A number of bytes, such as `24 KiB`.
inline std::string show_bytes(double bytes) {
  static constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  const bool whole = bytes == static_cast<double>(static_cast<std::int64_t>(bytes));
  return fmt::format("{:.{}f} {}", bytes,
                     whole         ? 0
                     : bytes < 10  ? 2
                     : bytes < 100 ? 1
                                   : 0,
                     units[unit]);
}

/// A share of 1, such as `97.2 %`; what is not nothing is never shown as nothing.
inline std::string percent(double share) {
  if (share > 0 && share < 0.0005) return "<0.1 %";
  if (share < 1 - 1e-9 && share >= 0.9995) return ">99.9 %"; // of 1 only rounding is lost
  return fmt::format("{:.1f} %", 100 * share);
}

/// `1 node`, `2 nodes`.
inline std::string counted(std::int64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

using benanza::printable;

/// `text` in lines of at most 80 columns: the first begins with `head`, the others are indented as
/// far. A word that is longer than a line is not cut.
inline std::string wrapped(std::string_view head, std::string_view text) {
  std::string out(head);
  std::size_t column = head.size();
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!first && column + 1 + word.size() > columns) {
      out += '\n' + std::string(head.size(), ' ');
      column = head.size();
      first = true;
    }
    if (!first) out += ' ';
    column += word.size() + (first ? 0 : 1);
    out += word;
    first = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + '\n';
}

} // namespace benanza::report
