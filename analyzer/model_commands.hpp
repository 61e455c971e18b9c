// SPDX-License-Identifier: Apache-2.0
// What does benanza_analyze say of models? Which there are (--models), how fast they could be, how
// each node should run (--plan), and what is still to be measured (--missing).
#pragma once

#include "answer.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace benanza::analyzer {

/// What makes the figures partial, in one line; empty: nothing.
std::string shortfall(const std::vector<bound::model_bound>& models);

/// The list of the models that a run holds.
status list_models(result::run& run, const answer& to);

/// The report on models with so many rows a table, their plan, and the filter of what is missing.
status report_models(result::run& run, std::size_t rows, const answer& to);

} // namespace benanza::analyzer
