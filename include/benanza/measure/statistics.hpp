// SPDX-License-Identifier: Apache-2.0
// What do the samples of a case say? Order statistics, never a mean: a neighbour's spike must not
// be in the figure. Quantiles interpolate between the two nearest samples.
//
//   summary s = summarize({4.0, 3.0, 9.0});   s.min == 3.0;   s.median == 4.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace benanza::measure {

/// Order statistics of samples, in the samples' own unit.
struct summary {
  double min = 0, p10 = 0, median = 0, p90 = 0;
  double mad = 0; ///< median absolute deviation from the median
};

/// The q-quantile of ascending `sorted`; zero where there are none.
inline double quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return std::lerp(sorted[low], sorted[high], at - static_cast<double>(low));
}

/// Order statistics of samples in any order.
inline summary summarize(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  summary s;
  if (samples.empty()) return s;
  s.min = samples.front();
  s.p10 = quantile(samples, 0.1);
  s.median = quantile(samples, 0.5);
  s.p90 = quantile(samples, 0.9);
  for (double& v : samples)
    v = std::abs(v - s.median);
  std::sort(samples.begin(), samples.end());
  s.mad = quantile(samples, 0.5);
  return s;
}

/// At most `limit` of the samples, evenly spread over the order in which they were taken.
inline std::vector<double> thinned(const std::vector<double>& samples, std::size_t limit) {
  if (samples.size() <= limit) return samples;
  std::vector<double> out;
  out.reserve(limit);
  for (std::size_t i = 0; i < limit; ++i)
    out.push_back(samples[i * samples.size() / limit]);
  return out;
}

} // namespace benanza::measure
