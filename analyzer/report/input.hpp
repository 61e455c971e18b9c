// SPDX-License-Identifier: Apache-2.0
// What is a report on models made of? The same for every format, so that all say the same: the run,
// the figures of its models, what is advised of each, and how much is to be shown.
//
//   std::string page = json_report(input{.run = run, .models = models, .advised = advised});
#pragma once

#include "limits.hpp"

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace benanza::report {

/// How much a report shows.
struct text_options {
  std::size_t layers = 10; ///< the most rows that a table of a page has
  bool pages = true;       ///< a page a model; without, only the summary
  bool details = false;    ///< with all figures, explanations and warnings
  bool advice = false;     ///< with all advice in full
  bool quiet = false;      ///< figures without what explains them
  std::size_t columns = 0; ///< of the terminal, for lines that would be longer; 0: there is none
};

inline constexpr std::size_t all_layers = std::numeric_limits<std::size_t>::max();

/// What a format writes. Refers to all of it.
struct input {
  const result::run& run;
  const std::vector<bound::model_bound>& models;
  const std::vector<advice::advised>& advised; ///< of each model, in their order; or empty
  text_options options{};
  std::string lacking{}; ///< what makes the figures partial, in one line; empty: nothing
  std::vector<limit_answer> limits{}; ///< that were asked for

  bool partial() const { return !lacking.empty(); }
};

} // namespace benanza::report
