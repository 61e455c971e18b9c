// SPDX-License-Identifier: Apache-2.0
// How fast does our processor run just now? A short loop of multiplications and additions on
// registers alone, timed between the visits of cases: it touches no cache, and no other sensor of a
// virtual machine shows its clock, or a neighbour on the same core. A look is compared with the
// best ones so far, leaving out a few that were lucky.
//
//   clock_probe p;   double slower_by = p.look();   // 0.03: 3 % slower than at its best
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <vector>

namespace benanza::measure {

namespace detail {
/// The compiler may know neither where the loop starts nor that nobody reads where it ends.
inline volatile float clock_loop_start = 1, clock_loop_end = 0;
} // namespace detail

/// Nanoseconds of a fixed loop of about 10 us: the best of three, so that an interrupt does not
/// count.
inline double clock_loop_ns() {
  using clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 3; ++repeat) {
    const float s = detail::clock_loop_start;
    float a = s, b = s + 1, c = s + 2, d = s + 3, e = s + 4, f = s + 5, g = s + 6, h = s + 7;
    const clock::time_point start = clock::now();
    for (int i = 0; i < 4000; ++i) {
      a = a * 0.999f + 0.001f, b = b * 0.999f + 0.001f;
      c = c * 0.999f + 0.001f, d = d * 0.999f + 0.001f;
      e = e * 0.999f + 0.001f, f = f * 0.999f + 0.001f;
      g = g * 0.999f + 0.001f, h = h * 0.999f + 0.001f;
    }
    detail::clock_loop_end = a + b + c + d + e + f + g + h;
    const std::chrono::duration<double, std::nano> took = clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

/// Compares looks at the clock with the best ones.
class clock_probe {
public:
  /// By how much the processor is slower than at its best, as a share; 0 or more.
  double look() { return compare(clock_loop_ns()); }

  /// The same for a loop that took `ns`.
  double compare(double ns) {
    ++looks_;
    fastest_.insert(std::upper_bound(fastest_.begin(), fastest_.end(), ns), ns);
    if (fastest_.size() > kept) fastest_.pop_back();
    return std::max(0.0, ns / best_ns() - 1);
  }

  /// The loop's time at the processor's best; 0 before the first look. One look in ten, and at most
  /// a hundred, may have been faster.
  double best_ns() const {
    return fastest_.empty() ? 0 : fastest_[std::min(looks_ / 10, fastest_.size() - 1)];
  }

private:
  static constexpr std::size_t kept = 100;
  std::vector<double> fastest_; ///< ascending
  std::size_t looks_ = 0;
};

} // namespace benanza::measure
