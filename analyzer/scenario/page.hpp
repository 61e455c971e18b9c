// SPDX-License-Identifier: Apache-2.0
// What did scenarios of a whole model show? A row each: the latency at its percentile, and how many
// items a second it completed; of a server, what a queue of the same arrivals says; of `offline`,
// which batch gives most.
//
//   std::string text = scenario_table(model);   ordered_json j = scenarios_json(model);
#pragma once

#include <benanza/bound/figures.hpp>
#include <benanza/result/json.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace benanza::report {

/// Of a scenario: items a second that ended.
double items_per_s(const bound::scenario_run& l);
/// The same scenario at all batches where it is `offline`; else none.
std::vector<bound::scenario_run> at_all_batches(const bound::scenario_run& l,
                                                const bound::model_bound& b);
/// What the percentile may take at most, as the state's name says it in ms; 0: it has no limit.
double limit_ns(const bound::scenario_run& l);

/// The table; empty: there was none.
std::string scenario_table(const bound::model_bound& b);

/// The rows for programs.
result::ordered_json scenarios_json(const bound::model_bound& b);

} // namespace benanza::report
