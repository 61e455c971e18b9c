// SPDX-License-Identifier: Apache-2.0
// What does a person read first? Of several models a line each, with bounds, prediction and what
// was measured; then, or for a single model at once, a page a model. 80 columns.
//
//   std::string report = text_report(run, models, {.layers = 10});
#pragma once

#include "input.hpp"

#include <string>
#include <vector>

namespace benanza::report {

/// The whole report: a summary if there are several rows, and a page a row if they are wanted.
/// `all` is what is advised of each model, in their order.
std::string text_report(const result::run& r, const std::vector<advice::advised>& all,
                        const std::vector<bound::model_bound>& models, const text_options& options);

std::string text_report(const input& in);

} // namespace benanza::report
