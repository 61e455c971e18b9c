// SPDX-License-Identifier: Apache-2.0
// At which clock does our processor run just now? A short loop of multiplications and additions on
// registers alone, timed between the slices of cases: it touches no cache, and a virtual machine
// has no other sensor for it. A probe is compared with the best ones so far, leaving out a few that
// were lucky.
//
// What a processor gives wide vectors is less than what it gives this loop, and both move with what
// its other cores do: by 12 % within seconds, on some servers. So a chain of a microsecond is timed
// directly after each sample too, before the clock leaves what the sample ran at.
//
//   clock_probe p;   double slower_by = p.probe();   // 0.03: 3 % slower than at its best
//   clock_after_samples c;   double ns = c.ns();    // the clock of what has just run
#pragma once

#include "../../core/stopwatch.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace benanza::measure {

namespace detail {
/// The compiler may know neither the loop's first value nor that its last one is not read.
inline volatile float clock_loop_start = 1, clock_loop_end = 0;
inline volatile std::uint64_t clock_loop_factor = 3; ///< nor that the factor could be shifts
} // namespace detail

/// Nanoseconds of a fixed loop of about 10 us. Its two chains leave most of the core idle, so that
/// an SMT sibling hardly slows them; and they live in registers, however little the compiler
/// optimizes: what goes through memory takes now one time and now another on processors that guess
/// which store a load wants.
inline double clock_loop_ns() {
  const stopwatch timer;
  float a = detail::clock_loop_start, b = a + 1; // not alive while the clock is read
  for (int i = 0; i < 4000; ++i)
    a = a * 0.999f + 0.001f, b = b * 0.999f + 0.001f;
  detail::clock_loop_end = a + b;
  return timer.ns();
}

/// Nanoseconds of a chain of multiplications of about 1 us, the better of its halves: an interrupt
/// seldom meets both.
inline double short_clock_loop_ns() {
  double best = std::numeric_limits<double>::infinity();
  for (int half = 0; half < 2; ++half) {
    const stopwatch timer;
    std::uint64_t a = 1, factor = detail::clock_loop_factor; // not alive while the clock is read
    for (int i = 0; i < 600; ++i) {
      a *= factor;
      asm volatile("" : "+r"(a));
    }
    best = std::min(best, timer.ns());
  }
  return 2 * best;
}

/// The clock directly after samples; after short ones now and then.
class clock_after_samples {
public:
  /// What the chain takes now, or took a moment ago.
  double ns() {
    using clock = std::chrono::steady_clock;
    if (clock::now() - read_at_ >= every) {
      ns_ = short_clock_loop_ns();
      read_at_ = clock::now();
    }
    return ns_;
  }

private:
  /// Long enough to cost short samples little; the clock hardly changes so fast.
  static constexpr std::chrono::microseconds every{30};
  std::chrono::steady_clock::time_point read_at_{};
  double ns_ = 0;
};

/// The fact of a run's `measuring` section that holds the loop's time at its best in that run.
inline constexpr const char* clock_fact = "clock_loop_ns";

/// A probe takes the best of so many loops, so that an interrupt does not count.
inline constexpr int loops_of_a_probe = 3;

/// Compares probes of the clock with the best ones.
class clock_probe {
public:
  /// By how much the processor is slower than at its best, as a share; 0 or more.
  double probe() {
    double best = clock_loop_ns();
    for (int i = 1; i < loops_of_a_probe; ++i)
      best = std::min(best, clock_loop_ns());
    return compare(best);
  }

  /// The same for a loop that took `ns`.
  double compare(double ns) {
    ++probes_;
    fastest_.insert(std::upper_bound(fastest_.begin(), fastest_.end(), ns), ns);
    if (fastest_.size() > kept) fastest_.pop_back();
    return std::max(0.0, ns / best_ns() - 1);
  }

  /// The best is at most this; 0: not known.
  void know(double ns) { known_ns_ = ns; }

  /// The loop's time at the processor's best; 0 before the first probe. One probe in ten, and at
  /// most a hundred, may have been faster.
  double best_ns() const {
    if (fastest_.empty()) return known_ns_;
    const double own = fastest_[std::min(probes_ / 10, fastest_.size() - 1)];
    return known_ns_ > 0 ? std::min(own, known_ns_) : own;
  }

private:
  static constexpr std::size_t kept = 100;
  std::vector<double> fastest_; ///< ascending
  std::size_t probes_ = 0;
  double known_ns_ = 0;
};

} // namespace benanza::measure
