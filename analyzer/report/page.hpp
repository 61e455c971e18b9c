// SPDX-License-Identifier: Apache-2.0
// What does a person read about one model? A page of 80 columns: the bounds and predictions with
// their intervals and assumptions, what choosing algorithms wins, what was measured, where the time
// goes, and the warnings.
//
//   std::string text = page(run, model, 10);   // at most ten rows a table
#pragma once

#include <benanza/bound/answers.hpp>
#include <benanza/bound/figures.hpp>

#include <cstddef>
#include <string>

namespace benanza::report {

/// Of one execution with hot caches, by the algorithm of its bound; 0: it is not known.
double hot_nj(const bound::layer_answer& l);

/// All figures of a model, without its heading; `limit` is the most rows that a table has. `quiet`
/// leaves only the figures: no explanations, no layers, no advice. `energy` is what the result says
/// of that; `after_screen` leaves out what the first screen said.
std::string all_figures(const bound::model_bound& b, std::size_t limit, bool quiet = false,
                        const std::string& energy = "", bool after_screen = false);

/// The same as a page, with its heading.
std::string page(const result::run& r, const bound::model_bound& b, std::size_t limit,
                 bool quiet = false);

} // namespace benanza::report
