// SPDX-License-Identifier: Apache-2.0
// What does a person read first? Of several models a line each, with bounds, prediction and what
// was measured; then, or for a single model at once, a page a model. 80 columns.
//
//   std::string report = text_report(run, models, {.layers = 10});
#pragma once

#include "page.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace benanza::report {

/// What a text report shows.
struct text_options {
  std::size_t layers = 10; ///< the most rows that a table of a page has
  bool details = true;     ///< a page a model; without, the summary alone
};

inline constexpr std::size_t all_layers = std::numeric_limits<std::size_t>::max();

/// A line a model: bounds, their ratio, prediction, what was measured, and nodes without a time.
inline std::string summary(const result::run& r, const std::vector<model_bound>& models) {
  constexpr std::size_t width = 22;
  std::string out = wrapped("", detail::where_measured(r)) + '\n';
  out += fmt::format("{:<{}} {:<6} {:>2} {:>7} {:>8} {:>5} {:>9} {:>7} {:>5}\n", "model", width,
                     "type", "t", "bound", "parallel", "ratio", "predicted", "native", "holes");
  for (const model_bound& b : models) {
    std::string model = printable(b.graph->name);
    if (model.size() > width) {
      out += model + '\n';
      model.clear();
    }
    const double sequential = b.bound.sequential.ns, parallel = b.bound.parallel.ns;
    out += fmt::format("{:<{}} {:<6} {:>2} {:>7} {:>8} {:>5} {:>9} {:>7} {:>5}\n", model, width,
                       name(b.type), b.threads, show_time(sequential), show_time(parallel),
                       parallel > 0 ? fmt::format("{:.2f}", sequential / parallel) : "-",
                       show_time(b.prediction.sequential.ns), percent(b.covered.native),
                       b.covered.missing_nodes);
  }
  out += '\n';
  out +=
      wrapped("  bound, predicted: ", "sequential and unfused; a fusing framework can beat them.");
  out += wrapped("  parallel: ", "bound along the longest path, whatever the number of workers.");
  out += wrapped("  native: ", "share of the bound that optimised kernels of that type give.");
  out += wrapped("  holes: ", "nodes without a time, which make the figures too low.");
  return out;
}

/// The whole report: a summary if there are several rows, and a page a row if `details` are wanted.
inline std::string text_report(const result::run& r, const std::vector<model_bound>& models,
                               const text_options& options) {
  std::string out = models.size() > 1 ? summary(r, models) : "";
  if (!options.details) return out + "  --model NAME shows where a model's time goes.\n";
  for (const model_bound& b : models)
    out +=
        (out.empty() ? "" : '\n' + std::string(columns, '-') + "\n\n") + page(r, b, options.layers);
  return out;
}

} // namespace benanza::report
