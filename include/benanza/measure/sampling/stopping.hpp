// SPDX-License-Identifier: Apache-2.0
// When has a case been sampled enough? When its figure has not moved for some rounds, or all its
// samples are alike, or its time is up. Slow cases get a few samples whatever the limit says, and
// the one that leads, on which a bound will rest, gets more time as long as its figure moves.
//
//   std::string why = enough(c, plan, leads);   // "minimum settled"; empty: not yet
#pragma once

#include "../../result/stop_reason.hpp"
#include "plan.hpp"
#include "sampled_case.hpp"

namespace benanza::measure {

/// The time limit of the case that leads is longer, up to that of most effort.
inline constexpr double longest_s = result::seconds_of(effort::exhaustive);

/// True if the figure of `c` has not moved for `rounds` slices, and enough samples.
inline bool settled(const sampled_case& c, int rounds, const parameters& p = usual_parameters) {
  const auto known = static_cast<int>(c.figures.size());
  if (known < rounds + 1 || known < p.fewest_samples) return false;
  const double within = c.by_median ? p.median_settled_within : p.least_settled_within;
  double least = c.figures.back().ns, most = least;
  int still = known - 1; // the figure has not moved since then
  for (int i = known - 2; i >= 0; --i) {
    const double ns = c.figures[static_cast<std::size_t>(i)].ns;
    least = std::min(least, ns), most = std::max(most, ns);
    if (most - least > within * least) break;
    still = i;
  }
  const int all = c.figures.back().samples;
  const int since = all - c.figures[static_cast<std::size_t>(still)].samples;
  return known - 1 - still >= rounds && (c.by_median ? all : since) >= p.unbeaten_samples;
}

/// True if the samples of `c` hardly differ.
inline bool all_alike(const sampled_case& c, const parameters& p = usual_parameters) {
  return c.clean_samples() >= 2 * p.fewest_samples &&
         c.high_ns - c.low_ns <= p.alike_within * c.low_ns;
}

/// Nanoseconds that a case may lose to noise.
inline double may_lose_ns(const sampling_plan& plan) {
  return plan.extra_share * plan.seconds * 1e9;
}

/// Why `c` needs no more samples, one of the texts of result/stop_reason.hpp; empty: it does.
inline std::string enough(const sampled_case& c, const sampling_plan& plan, bool leads) {
  const parameters& p = plan.parameters;
  const int clean = c.clean_samples(), fewest = p.fewest_samples;
  const bool may_be_bound = leads && !c.by_median;
  if (clean >= fewest && plan.patience > 0) {
    if (settled(c, may_be_bound ? plan.leaders_patience : plan.patience, p))
      return std::string(c.by_median ? result::median_settled : result::minimum_settled);
    if (c.slices >= fewest && all_alike(c, p)) return std::string(result::small_spread);
  }
  const int least = c.figure() > p.very_long_ns ? fewest / 2 : fewest;
  const double leaders_s =
      std::max(plan.seconds, std::min(p.leader_time * plan.seconds, longest_s));
  const double limit_ns = (may_be_bound ? leaders_s : plan.seconds) * 1e9;
  if (clean >= least && c.spent_ns >= limit_ns)
    return std::string(clean < 2 * fewest ? result::fewest_samples : result::time_limit);
  // Interference pauses now and then: slices that are thrown away may take longer than others.
  if (c.lost_slices >= fewest && c.lost_ns > may_lose_ns(plan))
    return std::string(result::disturbed_too_long);
  return {};
}

} // namespace benanza::measure
