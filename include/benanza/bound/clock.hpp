// SPDX-License-Identifier: Apache-2.0
// What would a time be at another clock? Processors change theirs with heat, and with what they and
// their other cores run: a chain of heavy layers may go a tenth slower than its light ones by
// themselves. What a layer takes with all in its core's caches follows the clock; what it waits for
// memory beyond that does not. Times in ns; the clock is what a chain on registers takes.
//
//   by_clock t = by_clock::of(120e3, 1034, 100e3, 1000);   t.at(1190)   // 120e3 at 1034
#pragma once

#include <algorithm>

namespace benanza::bound {

/// A time, or a sum of such, at any clock.
struct by_clock {
  double still_ns = 0;  ///< whatever the clock; all of it where the clock is unknown
  double per_clock = 0; ///< that for each ns of the clock's chain

  double at(double clock_ns) const { return still_ns + per_clock * clock_ns; }

  by_clock& operator+=(const by_clock& o) {
    still_ns += o.still_ns;
    per_clock += o.per_clock;
    return *this;
  }
  by_clock operator*(double times) const { return {still_ns * times, per_clock * times}; }

  /// A time measured at a clock, of something that took `hot_ns` with hot caches at `hot_clock_ns`;
  /// 0: unknown.
  static by_clock of(double ns, double clock_ns, double hot_ns, double hot_clock_ns) {
    if (clock_ns <= 0 || hot_clock_ns <= 0) return {.still_ns = ns};
    const double follows = std::min(ns, hot_ns / hot_clock_ns * clock_ns);
    return {.still_ns = ns - follows, .per_clock = follows / clock_ns};
  }
};

/// What share of a limit that was measured at one clock is left at another: less than 1 only where
/// that is higher. Both clocks are what a chain on registers took; 0: unknown.
inline double at_higher_clock(double limit_clock_ns, double clock_ns) {
  return limit_clock_ns > 0 && clock_ns > 0 ? std::min(1.0, clock_ns / limit_clock_ns) : 1;
}

} // namespace benanza::bound
