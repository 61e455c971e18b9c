// SPDX-License-Identifier: Apache-2.0
// What else than the operator is in an operator's time? A profiler adds about the same to each one,
// however long it takes, and counts in whole steps, cut; and all of a run with it may be slower. So
// an operator's time is between two values, which say most about long operators and nothing about
// those that take no longer than the profiler. What a profiler adds is
//   - as measure_framework measured it, at operators that do nothing,
//   - else at most what it adds to a run by operator, what the shortest operator takes, and
//     `most_event_ns`,
// and in both cases at least so much that all operators fit into a run without the profiler. Where
// they do not even so, runs with it were slower throughout, and only shares count; if they were
// much slower, little is known of short operators. Times in ns.
//
//   const profiler_cost c = cost_of(p, 29.3e3);   c.taken(18e3)   // 15.6e3
#pragma once

#include "../result/statistics.hpp"
#include "../trace/profile/profile.hpp"

#include <range/v3/algorithm/sort.hpp>

#include <algorithm>
#include <vector>

namespace benanza::advice {

/// More than a profiler adds to an operator, as far as we saw (0 to 4 us); what is more is another
/// reason for which runs with it are slower.
inline constexpr double most_event_ns = 20e3;
/// A profiler slowed its runs much if those without it take less than this share of their time.
inline constexpr double much_slower = 0.7;

struct profiler_cost {
  double least_ns = 0, most_ns = 0; ///< that it adds to each operator
  double step_ns = 0;               ///< times are multiples of it, cut; 0: they are not
  double pace = 1;        ///< what the rest is multiplied by: runs with it were slower throughout
  double unplaced_ns = 0; ///< twice what each operator lost by that, if it was much; else 0

  /// What an operator took for which the profiler says `ns`, where the profiler adds this share of
  /// the way from the least to the most, and so much of a step was cut. Nothing stays nothing.
  double taken(double ns, double added = 0.5, double cut = 0.5) const {
    if (ns <= 0) return 0;
    return pace * std::max(0.0, ns + cut * step_ns - (least_ns + added * (most_ns - least_ns)));
  }
  /// Between the least and the most that such an operator may have taken.
  double blur_ns() const { return pace * (most_ns - least_ns + step_ns) + unplaced_ns; }
  bool operator==(const profiler_cost&) const = default;
};

namespace detail {
inline std::vector<double> ascending(std::vector<double> samples) {
  ranges::sort(samples);
  return samples;
}

inline double median_of(const std::vector<double>& samples) {
  return samples.empty() ? 0 : result::quantile(ascending(samples), 0.5);
}
} // namespace detail

/// Of a profile whose runs without the profiler take `latency_ns`; 0: there are none.
inline profiler_cost cost_of(const trace::profile& p, double latency_ns) {
  profiler_cost c{.step_ns = p.step_ns};
  double sum = 0, count = 0, shortest = most_event_ns;
  for (const trace::profiled_operator& o : p.operators) {
    const double ns = detail::median_of(o.ns);
    if (ns <= 0) continue;
    sum += ns + c.step_ns / 2;
    shortest = std::min(shortest, ns + c.step_ns);
    ++count;
  }
  const double profiled = detail::median_of(p.profiled_ns);
  const bool fits = p.overlapping != true && latency_ns > 0 && count > 0;
  if (p.empty_operator) {
    c.least_ns = std::max(0.0, p.empty_operator->profiled_ns - p.empty_operator->ns);
    c.most_ns = std::max(c.least_ns, p.empty_operator->profiled_ns + c.step_ns);
  } else if (fits) {
    c.most_ns = std::clamp((std::max(profiled, sum) - latency_ns) / count, 0.0, shortest);
  }
  if (!fits) return c;
  c.least_ns = std::clamp((sum - latency_ns) / count, c.least_ns, c.most_ns);
  const double left = sum - count * (c.least_ns + c.step_ns / 2);
  if (left > latency_ns * (1 + 1e-9))
    c.pace = latency_ns / std::max(left, profiled - count * c.least_ns);
  if (c.pace < much_slower) c.unplaced_ns = 2 * (1 - c.pace) * latency_ns / count;
  return c;
}

} // namespace benanza::advice
