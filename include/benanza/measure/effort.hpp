// SPDX-License-Identifier: Apache-2.0
// How much time may the sampling take? Four efforts, from a first look to half a second for every
// case, as a plan: the length of a visit, when a case's figure counts as settled, and whether cases
// that cannot win are stopped. A time given by hand replaces the plan's own limit.
//
//   sampling_plan p = plan_of(effort::normal);   p.seconds == 0.1
#pragma once

#include "../result/effort.hpp"

#include <algorithm>

namespace benanza::measure {

using result::effort;
using result::effort_names;
using result::parse_effort;

/// How the cases of a group are sampled.
struct sampling_plan {
  double seconds = 0.1;     ///< of sampling, a case and pass, at most
  double visit_ns = 4e6;    ///< a case is sampled for so long before the next one's turn
  int visit_samples = 200;  ///< or until it has given so many samples
  int patience = 4;         ///< rounds without news after which a figure is settled; 0: never
  int leaders_patience = 8; ///< of the fastest case, hot: a bound will rest on it
  bool racing = true;       ///< stop cases that cannot win
  int passes = 1;           ///< independent repetitions of the whole
  double extra_share = 2;   ///< of the limit, that may be lost to disturbed visits
};

/// The plan of an effort; `seconds` replaces its limit on the time of a case unless it is 0.
inline sampling_plan plan_of(effort e, double seconds = 0, int passes = 1) {
  sampling_plan p{.seconds = result::seconds_of(e), .passes = passes};
  switch (e) {
  case effort::quick:
    p.visit_ns = 1.5e6, p.visit_samples = 60, p.patience = p.leaders_patience = 2;
    break;
  case effort::normal: break;
  case effort::thorough: p.visit_ns = 8e6, p.patience = 8, p.leaders_patience = 16; break;
  case effort::exhaustive: p.patience = 0, p.racing = false; break;
  }
  if (seconds > 0) p.seconds = seconds;
  // Drift is only shared fairly by rivals if each has its turn several times.
  p.visit_ns = std::min(p.visit_ns, p.seconds * 1e9 / 8);
  return p;
}

} // namespace benanza::measure
