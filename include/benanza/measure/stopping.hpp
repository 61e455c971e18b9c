// SPDX-License-Identifier: Apache-2.0
// When has a case been sampled enough? When its figure has not moved for some rounds, or all its
// samples are alike, or its time is up. Slow cases get a few samples whatever the limit says.
//
//   std::string why = enough(c, plan);   // "minimum settled"; empty: not yet
#pragma once

#include "../result/stop_reason.hpp"
#include "effort.hpp"
#include "sampled_case.hpp"

namespace benanza::measure {

/// A figure that moves by less, as a share, has not moved: the least sample, or a median.
inline constexpr double standstill = 0.003, median_standstill = 0.01;
/// Samples are alike if nine in ten lie within this share above the least tenth.
inline constexpr double alike = 0.01;
/// Samples and visits that every case gets, but for those of seconds.
inline constexpr int fewest = 4;
/// Above this an execution is so long that half as many samples do.
inline constexpr double very_long_ns = 1e9;

/// True if the figure of `c` has stood still for `rounds` visits.
inline bool settled(const sampled_case& c, int rounds) {
  const auto known = static_cast<int>(c.figures.size());
  if (known < rounds + 1 || known < fewest) return false;
  const auto [least, most] = std::minmax_element(c.figures.end() - rounds - 1, c.figures.end());
  return *most - *least <= (c.by_median ? median_standstill : standstill) * *least;
}

/// True if the samples of `c` hardly differ.
inline bool all_alike(const sampled_case& c) {
  return c.clean_samples() >= 2 * fewest && c.high_ns - c.low_ns <= alike * c.low_ns;
}

/// Why `c` needs no more samples, one of the texts of result/stop_reason.hpp; empty: it does.
inline std::string enough(const sampled_case& c, const sampling_plan& plan) {
  const int clean = c.clean_samples();
  if (clean >= fewest && plan.patience > 0) {
    if (settled(c, plan.patience))
      return std::string(c.by_median ? result::median_settled : result::minimum_settled);
    if (c.visits >= fewest && all_alike(c)) return std::string(result::small_spread);
  }
  const int least = c.figure() > very_long_ns ? fewest / 2 : fewest;
  if (clean >= least && c.spent_ns >= plan.seconds * 1e9)
    return std::string(clean < 2 * fewest ? result::fewest_samples : result::time_limit);
  // Half the limit may go to visits that are thrown away, and some in any case.
  if (c.lost_visits >= fewest && c.lost_ns > plan.extra_share * plan.seconds * 1e9)
    return std::string(result::disturbed_too_long);
  return {};
}

} // namespace benanza::measure
