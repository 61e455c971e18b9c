// SPDX-License-Identifier: Apache-2.0
// What do the samples of a case say? Order statistics, never a mean: a spike of interference must
// not be in the figure. Quantiles interpolate between the two nearest samples.
//
//   summary s = summarize({4.0, 3.0, 9.0});   s.min == 3.0;   s.median == 4.0
#pragma once

#include "../../result/statistics.hpp"
#include "parameters.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace benanza::measure {

/// Order statistics of samples, in the samples' own unit.
struct summary {
  double min = 0, p10 = 0, median = 0, p90 = 0;
  double mad = 0; ///< median absolute deviation from the median
};

/// Order statistics of samples in any order.
inline summary summarize(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  summary s;
  if (samples.empty()) return s;
  s.min = samples.front();
  s.p10 = result::quantile(samples, 0.1);
  s.median = result::quantile(samples, 0.5);
  s.p90 = result::quantile(samples, 0.9);
  for (double& v : samples)
    v = std::abs(v - s.median);
  s.mad = result::median(std::move(samples));
  return s;
}

/// The samples without the slowest `share` of them, in the same order; `fewest` of them stay.
inline std::vector<double> without_slowest(std::vector<double> samples, double share,
                                           int fewest = usual_parameters.fewest_samples) {
  if (samples.empty()) return {};
  const auto size = static_cast<double>(samples.size());
  // A share made from whole numbers must not round one more up.
  const auto rest = static_cast<std::size_t>(std::ceil((1 - share) * size - 1e-6));
  const std::size_t kept =
      std::min(samples.size(), std::max(rest, static_cast<std::size_t>(fewest)));
  std::vector<double> sorted = samples;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(kept - 1),
                   sorted.end());
  std::erase_if(samples, [slowest = sorted[kept - 1]](double ns) { return ns > slowest; });
  return samples;
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
