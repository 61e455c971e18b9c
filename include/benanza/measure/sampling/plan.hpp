// SPDX-License-Identifier: Apache-2.0
// How much time may the sampling take? Four efforts, from a first look to half a second for every
// case, as a plan: the length of a slice, when a case's figure counts as settled, and whether cases
// that cannot win are stopped. A time given by hand replaces the plan's own limit.
//
//   sampling_plan p = plan_of(effort::normal);   p.seconds == 0.1
#pragma once

#include "../../result/effort.hpp"
#include "parameters.hpp"

#include <algorithm>

namespace benanza::measure {

using result::effort;
using result::effort_names;
using result::parse_effort;

/// What is asked of sampling.
struct sampling_request {
  measure::effort effort = measure::effort::normal;
  double seconds = 0; ///< of sampling a case, at most; 0: as the effort says
  int repetitions = 1;
  /// Seconds that a case may lose to noise before it is taken as it comes; 0: as the effort says.
  double wait_s = 0;
  measure::parameters parameters{};
};

/// How the cases of a group are sampled.
struct sampling_plan {
  double seconds = 0.1;     ///< of sampling, a case and pass, at most
  double slice_ns = 4e6;    ///< a case is sampled for so long before the next one's turn
  int slice_samples = 200;  ///< or until it has given so many samples
  int patience = 4;         ///< rounds without news after which a figure is settled; 0: never
  int leaders_patience = 8; ///< of the fastest case, hot: a bound will rest on it
  bool racing = true;       ///< stop cases that cannot win
  int passes = 1;           ///< independent repetitions of the whole
  double extra_share = 2;   ///< of the limit, that may be lost to disturbed slices
  measure::parameters parameters{};
};

/// The plan of an effort; `seconds` replaces its limit on the time of a case unless it is 0.
inline sampling_plan plan_of(effort e, double seconds = 0, int passes = 1) {
  sampling_plan p{.seconds = result::seconds_of(e), .passes = passes};
  switch (e) {
  case effort::quick:
    p.slice_ns = 1.5e6, p.slice_samples = 60, p.patience = p.leaders_patience = 2;
    break;
  case effort::normal: break;
  case effort::thorough: p.slice_ns = 8e6, p.patience = 8, p.leaders_patience = 16; break;
  case effort::exhaustive: p.patience = 0, p.racing = false; break;
  }
  if (seconds > 0) p.seconds = seconds;
  // Drift is only shared fairly by rivals if each has its turn several times.
  p.slice_ns = std::min(p.slice_ns, p.seconds * 1e9 / 8);
  return p;
}

/// How a group is sampled whose cases get `share` of the time; with more time comes more patience.
inline sampling_plan plan_of(const sampling_request& r, double share = 1) {
  const double seconds = r.seconds > 0 ? r.seconds : plan_of(r.effort).seconds;
  sampling_plan p = plan_of(r.effort, share * seconds, r.repetitions);
  p.parameters = r.parameters;
  if (r.wait_s > 0) p.extra_share = r.wait_s / seconds;
  // Others use the last cache for a second or so, which no probe sees: not to settle on that.
  constexpr int longer = 4;
  if (share > 1) p.patience *= longer;
  return p;
}

} // namespace benanza::measure
