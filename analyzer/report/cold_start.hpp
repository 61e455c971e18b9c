// SPDX-License-Identifier: Apache-2.0
// When does a new process have its first answer, with weights of its own and with shared ones? A
// screen for each model, or JSON: the parts of both ways, what sharing saves of what it could save,
// the bound of a cold start, and from which size on sharing pays.
//
//   std::string text = cold_start_report(run, cold_starts(run));
#pragma once

#include <benanza/bound/cold_start.hpp>

#include <string>
#include <vector>

namespace benanza::report {

/// What the answers lack, in one line; empty: nothing.
std::string cold_start_shortfall(const std::vector<bound::cold_start>& all);

/// The pages of all models.
std::string cold_start_report(const result::run& r, const std::vector<bound::cold_start>& all);

/// The same as JSON; times in ns, what was not measured null.
std::string cold_start_json(const result::run& r, const std::vector<bound::cold_start>& all);

} // namespace benanza::report
