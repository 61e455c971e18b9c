// SPDX-License-Identifier: Apache-2.0
// What can the machine do at most? The page behind every roofline: peaks by type and threads, the
// bandwidth of each kind over the working set with the caches marked, what calls, launches and
// hand-offs cost, what is absent here, and which layers of the run beat what nothing may beat; with
// details also latency and bandwidth of each level of the caches, and messages and fresh pages by
// size. For programs all is there.
//
//   to.write(machine_answer(run));
#pragma once

#include "tables/page.hpp"

#include <benanza/result/run.hpp>

#include <string>

namespace benanza::report {

/// A rate in four characters or so: three digits at least.
std::string show_per_ns(double per_ns);

/// What of the machine failed to be measured, in one line; empty: nothing.
std::string machine_shortfall(const result::run& r);

/// The page of a run's machine: for programs rates in flops and bytes a ns. Refuses a run that did
/// not measure it.
tables::chapter machine_answer(const result::run& r, bool details = false);

} // namespace benanza::report
