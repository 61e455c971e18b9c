// SPDX-License-Identifier: Apache-2.0
// How sure is a figure that rests on samples? The bootstrap: draw the samples of every layer again
// and look how the figure scatters. Only a minimum or a median is ever needed of a redrawn set, and
// both can be drawn directly: they are order statistics, and the place of the k-th of n uniform
// draws is Beta(k, n-k+1) distributed. That costs one random number a layer instead of n.
//
//   generator random{1};   redrawn_median(sorted, random)   between(figures, point)
#pragma once

#include "../result/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace benanza::bound {

/// How often the samples are redrawn for an interval.
inline constexpr int redraws = 200;

/// A time in ns and the interval in which it is in 95 of 100 redraws.
struct figure {
  double ns = 0, low_ns = 0, high_ns = 0;
};

/// Random bits that are the same on every machine (SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
struct generator {
  std::uint64_t state;

  std::uint64_t operator()() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Uniform in (0, 1).
  double uniform() { return (static_cast<double>((*this)() >> 11) + 0.5) * 0x1p-53; }
  /// Nearly normal with variance 1: the sum of four uniform numbers of 16 bits (Irwin-Hall).
  double normal() {
    const std::uint64_t bits = (*this)();
    double sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += (static_cast<double>((bits >> (16 * i)) & 0xffff) + 0.5);
    return (sum / 65536 - 2) * std::sqrt(3.0);
  }
};

/// The minimum of as many draws, with replacement, as there are ascending samples.
inline double redrawn_minimum(const std::vector<double>& sorted, generator& random) {
  const auto n = static_cast<double>(sorted.size());
  const double place = 1 - std::pow(random.uniform(), 1 / n); // Beta(1, n), inverted
  return sorted[std::min(static_cast<std::size_t>(place * n), sorted.size() - 1)];
}

/// The median of as many draws, with replacement, as there are ascending samples.
inline double redrawn_median(const std::vector<double>& sorted, generator& random) {
  if (sorted.size() == 1) return sorted.front();
  const auto n = static_cast<double>(sorted.size());
  const double place = 0.5 + random.normal() / (2 * std::sqrt(n + 2)); // Beta(n/2, n/2), nearly
  // Sample i represents the places from i/n to (i+1)/n.
  return result::quantile(sorted, std::clamp((place * n - 0.5) / (n - 1), 0.0, 1.0));
}

/// `point` with the interval that holds the middle 95 % of the redrawn figures, and `point` itself.
inline figure between(std::vector<double> redrawn, double point) {
  if (redrawn.empty()) return {.ns = point, .low_ns = point, .high_ns = point};
  std::sort(redrawn.begin(), redrawn.end());
  return {.ns = point,
          .low_ns = std::min(point, result::quantile(redrawn, 0.025)),
          .high_ns = std::max(point, result::quantile(redrawn, 0.975))};
}

} // namespace benanza::bound
