// SPDX-License-Identifier: Apache-2.0
// How does one page show several machines? Files of one machine are merged, as always; each machine
// is analysed by itself, and the page shows them side by side. No other format does.
//
//   if (auto machines = by_machine(std::move(runs)); machines.size() > 1)
//     return report_machines(std::move(machines), to);
#pragma once

#include "answer.hpp"

#include <vector>

namespace benanza::analyzer {

/// Runs by the machine that they say they are of, in the order in which machines come.
std::vector<std::vector<result::run>> by_machine(std::vector<result::run> runs);

/// A page about several machines; each framework's run belongs to that where it was measured.
status report_machines(std::vector<std::vector<result::run>> machines, const answer& to);

} // namespace benanza::analyzer
