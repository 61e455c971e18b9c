// SPDX-License-Identifier: Apache-2.0
// Which equivalent graph of a model is faster than its own? What was rewritten in it, at how many
// nodes, and what that saves: one line for the screen, an object for programs.
//
//   best_graph_line(b) == "strides moved back at 6 nodes, saves 0.757 GFLOP and 37.2 MB"
#pragma once

#include <benanza/bound/figures.hpp>
#include <benanza/result/json.hpp>
#include <nlohmann/json.hpp>

#include <string>

namespace benanza::report {

/// A rule after the other; empty: the model's own graph is the best that was measured.
std::string best_graph_line(const bound::model_bound& b);

/// What is rewritten and what that graph takes, fused where that is faster; null: there is none.
result::ordered_json rewritten_json(const bound::model_bound& b);

} // namespace benanza::report
