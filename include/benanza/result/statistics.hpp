// SPDX-License-Identifier: Apache-2.0
// What do the samples of a case say once more samples join them? Order statistics by interpolation
// between the two nearest samples, and a measurement's statistics made anew from its samples. A
// minimum or a count that saw more samples than were stored is kept.
//
//   quantile({1.0, 2.0, 4.0}, 0.5) == 2.0;   recompute(measurement)
#pragma once

#include "measurement.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace benanza::result {

/// The q-quantile of `sorted`, which is ascending; zero where there is nothing.
inline double quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return std::lerp(sorted[low], sorted[high], at - static_cast<double>(low));
}

/// The median of samples in any order; zero where there are none.
inline double median(std::vector<double> samples) {
  if (samples.empty()) return 0;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  const double upper = *middle;
  if (samples.size() % 2 == 1) return upper;
  return std::midpoint(*std::max_element(samples.begin(), middle), upper);
}

/// Makes `min_ns` to `mad_ns` of `m` anew from its samples.
inline void recompute(measurement& m) {
  if (m.samples_ns.empty()) return;
  std::vector<double> sorted = m.samples_ns;
  std::sort(sorted.begin(), sorted.end());
  m.min_ns = m.min_ns > 0 ? std::min(m.min_ns, sorted.front()) : sorted.front();
  m.p10_ns = quantile(sorted, 0.1);
  m.median_ns = quantile(sorted, 0.5);
  m.p90_ns = quantile(sorted, 0.9);
  for (double& v : sorted)
    v = std::abs(v - m.median_ns);
  m.mad_ns = median(std::move(sorted));
}

} // namespace benanza::result
