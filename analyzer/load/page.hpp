// SPDX-License-Identifier: Apache-2.0
// When does a new process have its first answer, with weights of its own and with shared ones? A
// chapter for each model: the parts of both ways, what sharing saves of what it could save,
// the bound of a cold start, and from which size on sharing pays.
//
//   to.write(cold_start_answer(run, cold_starts(run)));
#pragma once

#include "../report/tables/page.hpp"

#include <benanza/bound/cold_start.hpp>

#include <string>
#include <vector>

namespace benanza::report {

/// What the answers lack, in one line; empty: nothing.
std::string cold_start_shortfall(const std::vector<bound::cold_start>& all);

/// A chapter a model; times in ns, what was not measured is nothing.
tables::chapter cold_start_answer(const result::run& r, const std::vector<bound::cold_start>& all);

} // namespace benanza::report
