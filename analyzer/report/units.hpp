// SPDX-License-Identifier: Apache-2.0
// How are figures written for people? Times with three significant digits and the unit that suits
// them, an interval in the unit of its time, shares in percent, untrusted text without control
// characters (core/printable.hpp), long text in lines of 80 columns.
//
//   show_time(26'314'000) == "26.3 ms";   show({.ns = 355e3, .low_ns = 351e3, .high_ns = 362e3})
#pragma once

#include <benanza/bound/interval.hpp>

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
time_scale scale_of(double ns);

/// A time, such as `26.3 ms`.
std::string show_time(double ns);

/// A time with its interval, such as `26.3 ms [26.1, 26.6]`.
std::string show(const bound::figure& f);

/// A rate with three significant digits or all before the point, such as `394` or `27.1`.
std::string show_rate(double per_s);

/// An energy, such as `26.3 mJ`.
std::string show_energy(double nj);

/// A number with three significant digits, such as `25.6 M`, or all of one below a thousand.
std::string show_amount(double n);

/// A number of bytes, such as `24 KiB`.
std::string show_bytes(double bytes);

/// A share of 1, such as `97.2 %`; what is not nothing is never shown as nothing.
std::string percent(double share);

/// `1 node`, `2 nodes`.
std::string counted(std::int64_t n, std::string_view what);

/// `text` in lines of at most 80 columns: the first begins with `head`, the others are indented as
/// far. A word that is longer than a line is not cut.
std::string wrapped(std::string_view head, std::string_view text);

} // namespace benanza::report
