// SPDX-License-Identifier: Apache-2.0
// What does a person want to know first of a model? How fast it could run and how long a run should
// take, what the framework takes, what to change first and how, where the time of the best run
// goes, and how sure that is: at most 35 lines. Then what the framework loses, row by row. Only a
// terminal that is narrow cuts a line.
//
//   std::string text = first_screen(run, advised) + framework_section(advised.frameworks[0], 10);
#pragma once

#include "energy.hpp"
#include "input.hpp"
#include "kinds.hpp"
#include "units.hpp"

#include <benanza/advice/advised.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::report {

/// How much of a bound is measured; of one that has no holes and lacks cases there is no share.
std::string measured_share(const bound::model_bound& b);

/// Items a second; of sums that lack something, or were disturbed, there is no such number.
std::string rate_of(const bound::model_bound& b, double ns, std::string_view unit = "");

/// A figure of a run, a time or an energy, and what it means.
struct head_row {
  std::string what{};
  double ns = 0;
  std::string means{};
  double nj = 0;
  bool part = false; ///< of the row above: no number of items a second goes with it

  std::string shown() const { return nj > 0 ? show_energy(nj) : show_time(ns); }
  /// Items a second.
  std::string rate(const bound::model_bound& b, std::string_view unit = "") const {
    return nj > 0 || part ? "-" : rate_of(b, ns, unit);
  }
};

std::vector<head_row> head_rows(const advice::advised& a);
std::string head_table(const advice::advised& a);

/// Which graph is the best, how far the framework is, and where it beats what cannot be beaten.
std::string distance_lines(const advice::advised& a);

/// Figures that cannot all be right, a line each: of what was measured, and beside frameworks.
std::vector<std::string> doubts(const advice::advised& a);

/// The same of a model of a report, and why there is no verdict.
std::vector<std::string> doubts_of(const input& in, const bound::model_bound& b);

/// A text in one line of so many columns; 0: as many as it has.
std::string cut(std::string text, std::size_t most);

/// The rates of a kind's layers: one, or from the least to the most.
std::string rates_of(const operator_kind& k);
std::string_view kinds_title(const bound::model_bound& b);
std::string_view run_table_title(const bound::model_bound& b);

/// The same by layer: of the run that the lines above are about.
std::string run_table(const bound::model_bound& b, std::size_t limit);

/// What the figures rest on.
std::string sure_text(const bound::model_bound& b);

/// The answer on one screen.
std::string first_screen(const result::run& r, const advice::advised& a, std::size_t terminal = 0);

} // namespace benanza::report
