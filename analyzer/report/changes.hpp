// SPDX-License-Identifier: Apache-2.0
// What should be changed first, on a screen? What a user can do, with how; what only the makers of
// the framework can do; what is not worth it; and what to measure. A few lines each.
//
//   std::string text = changes_table(advised);
#pragma once

#include <benanza/advice/advised.hpp>

#include <string>

namespace benanza::report {

/// What a change saves of a run; of sums that lack something, or were disturbed, there is no such
/// share.
std::string share_of_run(const bound::model_bound& b, double ns, double run_ns);

/// The parts, each by what its changes save.
std::string changes_table(const advice::advised& a);

} // namespace benanza::report
