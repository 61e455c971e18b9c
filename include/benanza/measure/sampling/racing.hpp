// SPDX-License-Identifier: Apache-2.0
// Which cases cannot win any more? Those that are behind the best of their class by more than a
// margin, which shrinks with the slices that a case has had: after a first one a rival must be
// twice as fast, later less. Never within the range in which two algorithms count as equally fast.
// A case whose executions the host launches one by one, on a device that replays those of its
// rivals, takes no part: it loses none, and beats none.
//
//   if (const double behind = times_behind(c, cases); behind > margin_of(c, cases, slices)) ...
#pragma once

#include "stopping.hpp"

#include <algorithm>
#include <limits>

namespace benanza::measure {

/// Two algorithms whose times differ by less count as equally fast (bound/choice.hpp).
inline constexpr double tie_range = 1.03;

/// How many times as slow as its best rival a case may be after so many slices. After the first
/// alone nothing is stopped: it may have been disturbed.
constexpr double margin(int slices, const parameters& p = usual_parameters) {
  const double margins[] = {p.race_after_2, p.race_after_3, p.race_after_4, p.race_later};
  return slices < 2 ? std::numeric_limits<double>::infinity()
                    : std::max(margins[std::min(slices - 2, 3)], tie_range);
}

/// The margin of `c` after so many slices: not a narrow one while it has few samples that count,
/// however many slices were disturbed; nor while its samples are all disturbed ones, and those of a
/// rival are clean.
inline double margin_of(const sampled_case& c, const std::vector<sampled_case>& cases, int slices,
                        const parameters& p = usual_parameters) {
  const auto known = [&](const sampled_case& s) { return s.clean_samples() >= p.fewest_samples; };
  const auto rival = [&](const sampled_case& s) {
    return s.rival_class == c.rival_class && !s.host_launches();
  };
  const bool few = std::ssize(c.usable()) < p.fewest_samples;
  const bool unlike = !known(c) && std::any_of(cases.begin(), cases.end(),
                                               [&](const auto& s) { return rival(s) && known(s); });
  return few || unlike ? std::max(margin(slices, p), margin(2, p)) : margin(slices, p);
}

/// How many times as slow as the best of its class `c` is; 1 if it is the best, or does not race.
inline double times_behind(const sampled_case& c, const std::vector<sampled_case>& cases) {
  if (c.host_launches()) return 1;
  const double own = c.standing();
  double best = own;
  for (const sampled_case& other : cases)
    if (other.rival_class == c.rival_class && !other.samples.empty() && !other.host_launches())
      best = std::min(best, other.standing());
  return best > 0 ? own / best : 1;
}

} // namespace benanza::measure
