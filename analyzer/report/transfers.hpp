// SPDX-License-Identifier: Apache-2.0
// What do a model's inputs and results take on their way to a GPU and back? A line next to the
// bound, which does not include it, or JSON.
//
//   out += transfers_line(run, model);
#pragma once

#include <benanza/bound/figures.hpp>
#include <benanza/result/json.hpp>

#include <string>

namespace benanza::report {

/// Empty where the model was not measured on a GPU, or copies were not.
std::string transfers_line(const result::run& r, const bound::model_bound& b);
result::ordered_json transfers_json(const result::run& r, const bound::model_bound& b);

} // namespace benanza::report
