// SPDX-License-Identifier: Apache-2.0
// What does a person read first about one model? A table of its figures, unfused and fused side by
// side: one layer after the other, with changes of layout paid for, in parallel, on k workers; what
// they assume; and how chain runs compare. 80 columns.
//
//   std::string text = totals_table(model) + legend(model) + runs(model);
#pragma once

#include <benanza/bound/figures.hpp>

#include <string>

namespace benanza::report {

const bound::layout_figures* layouts(const bound::form_figures& f);

/// The figures of a model, the unfused form on the left and the fused one on the right. Rows that
/// would be those of a kind before are left out.
std::string totals_table(const bound::model_bound& b);

/// What a batch of several takes for each; empty: there is one.
std::string per_item(const bound::model_bound& b);

/// What the rows of the table mean, and assume.
std::string legend(const bound::model_bound& b);

/// Runs of the model that failed; empty: there are none.
std::string failed_runs(const bound::model_bound& b);

/// Chain runs of the model and what was predicted of them; empty: there are none.
std::string runs(const bound::model_bound& b);

} // namespace benanza::report
