// SPDX-License-Identifier: Apache-2.0
// What does a person read of a comparison? The verdict first, then the models, what weighs most in
// them, what is there on one side only, and what differs that can explain it.
//
//   std::string page = comparison_text(compare::compare(before, after), 10);
#pragma once

#include <benanza/compare/rows.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace benanza::report {

using compare::comparison;

/// `+5.0 %`.
std::string signed_percent(double share);

/// `[+3.9, +6.2]`, of a change.
std::string interval_text(const compare::difference& d);
std::string counts_text(const std::vector<compare::row>& rows);

/// The verdict on all in one line.
std::string verdict_line(const comparison& c);

/// What the rows of `layers` are.
std::string layers_title(const comparison& c);

/// What a row is about, in one line.
std::string row_title(const compare::row& r);

/// A row's figures.
std::string figures_of(const compare::row& r);
std::string on_threads(const compare::row& r);
std::string explanations(const comparison& c);

/// The page, with at most `most` rows a table.
std::string comparison_text(const compare::comparison& c, std::size_t most);

} // namespace benanza::report
