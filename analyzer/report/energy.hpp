// SPDX-License-Identifier: Apache-2.0
// How is energy shown? A figure of the model where all of its layers have one, and a line that says
// whose it is, or why there is none.
//
//   energy_line(model, "of the processor's package (RAPL)")
#pragma once

#include <benanza/bound/figures.hpp>

#include <string>

namespace benanza::report {

/// A cell of a table of layers.
std::string energy_cell(double nj);

/// What the layers of a run take, and whose that is; or why there is no such figure, as `fact` of
/// the result says it. Empty: nothing is said of energy.
std::string energy_text(const bound::model_bound& b, const std::string& fact);

/// The same as a line of the details.
std::string energy_line(const bound::model_bound& b, const std::string& fact);

} // namespace benanza::report
