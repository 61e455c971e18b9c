// SPDX-License-Identifier: Apache-2.0
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace benanza::report {

time_scale scale_of(double ns) {
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

std::string show_time(double ns) {
  const time_scale s = scale_of(ns);
  return fmt::format("{:.{}f} {}", ns / s.ns, s.decimals, s.unit);
}

std::string show(const bound::figure& f) {
  const time_scale s = scale_of(f.ns);
  return fmt::format("{:.{}f} {} [{:.{}f}, {:.{}f}]", f.ns / s.ns, s.decimals, s.unit,
                     f.low_ns / s.ns, s.decimals, f.high_ns / s.ns, s.decimals);
}

std::string show_rate(double per_s) {
  const int decimals = per_s < 9.995 ? 2 : per_s < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", per_s, decimals);
}

std::string show_energy(double nj) {
  static constexpr std::string_view units[] = {"nJ", "uJ", "mJ", "J", "kJ"};
  std::size_t unit = 0;
  while (nj >= 999.5 && unit + 1 < std::size(units)) {
    nj /= 1000;
    ++unit;
  }
  return fmt::format("{} {}", show_rate(nj), units[unit]);
}

std::string show_amount(double n) {
  static constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  if (n < 999.5) return fmt::format("{:.0f}", n);
  std::size_t p = 0;
  while (n >= 999.5 && p + 1 < std::size(prefixes))
    n /= 1000, ++p;
  return fmt::format("{:.{}f} {}", n, n < 9.995 ? 2 : n < 99.95 ? 1 : 0, prefixes[p]);
}

std::string show_bytes(double bytes) {
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

std::string percent(double share) {
  if (share > 0 && share < 0.0005) return "<0.1 %";
  if (share < 1 - 1e-9 && share >= 0.9995) return ">99.9 %"; // of 1 only rounding is lost
  return fmt::format("{:.1f} %", 100 * share);
}

std::string counted(std::int64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string wrapped(std::string_view head, std::string_view text) {
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
