// SPDX-License-Identifier: Apache-2.0
// What must a run of a model read from memory, and what follows for its tokens? Said where reading
// sets the lower bound, and of a language model always.
#pragma once

#include <benanza/bound/figures.hpp>
#include <benanza/result/json.hpp>

#include <string>
#include <vector>

namespace benanza::report {

/// Sentences for the first screen.
std::vector<std::string> memory_remarks(const bound::model_bound& b);

result::ordered_json memory_json(const bound::model_bound& b);

} // namespace benanza::report
