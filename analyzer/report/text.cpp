// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include "../frameworks/page.hpp"
#include "advice.hpp"
#include "document.hpp"
#include "gaps.hpp"
#include "heading.hpp"
#include "limits.hpp"
#include "page.hpp"
#include "screen.hpp"
#include "totals.hpp"
#include "transfers.hpp"
#include "units.hpp"
#include "warnings.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace benanza::report {

namespace {
/// A line a model: its lower bound, that in parallel, expected run, what was measured, and nodes
/// that were not.
std::string summary(const result::run& r, const std::vector<bound::model_bound>& models,
                    bool quiet = false) {
  constexpr std::size_t width = 20;
  constexpr const char* row = "{:<{}} {:<6} {:>2} {:>8} {:>8} {:>9} {:>8} {:>5}\n";
  std::string out = wrapped("", where_measured(r)) + '\n' + merged_line(r);
  out += fmt::format(row, "model", width, "type", "t", "bound", "parallel", "expected", "measured",
                     "holes");
  for (const std::vector<tables::cell>& cells : summary_of(models).rows) {
    const auto of = [&](std::size_t i) { return printable(tables::shown(cells[i], {})); };
    std::string model = of(0);
    if (model.size() > width) out += std::exchange(model, "") + '\n';
    out += fmt::format(row, model, width, of(1), of(2), of(3), of(4), of(5), of(6), of(7));
  }
  if (quiet) return out;
  out += '\n';
  out +=
      wrapped("  bound: ", "least times of all layers one after the other, with layers fused and "
                           "of a rewritten graph where that was measured to be faster.");
  out += wrapped("  parallel: ", "the same along the longest path.");
  out += wrapped("  expected: ", "what a run should take, one layer after the other, fused "
                                 "and with changes of layout; -: these were not measured.");
  out += wrapped("  measured: ", "share of the bound that was measured; rooflines give the rest.");
  out += wrapped("  holes: ", "nodes that were not measured; their rooflines, or nothing, make the "
                              "figures too low.");
  return out;
}

/// The page of one model: its first screen, what its framework loses, the layers by time, and, if
/// they are asked for, advice and all figures.
std::string model_page(const result::run& r, const advice::advised& a, const text_options& o) {
  const bound::model_bound& b = *a.model;
  if (!loose(b) && !b.has_bound())
    return first_screen(r, a, o.columns) + failed_runs(b) + what_is_missing(b, o.layers);
  if (loose(b)) return page(r, b, o.layers, o.quiet);
  if (o.quiet) return page(r, b, o.layers, true) + '\n' + head_table(a) + distance_lines(a);
  std::string out = first_screen(r, a, o.columns) + transfers_line(r, b);
  for (const advice::comparison& c : a.frameworks)
    out += '\n' + framework_section(c, o.layers);
  if (o.advice) out += "\nAdvice\n" + advice_section(a, o.layers);
  if (o.details)
    return out + '\n' +
           all_figures(b, o.layers, false, fact(r, "measuring", result::energy_fact), true);
  if (a.frameworks.empty()) out += '\n' + run_table(b, o.layers);
  if (const std::string lacking = failed_runs(b) + what_is_missing(b, o.layers); !lacking.empty())
    out += '\n' + lacking;
  return out + '\n' +
         wrapped("More:  ",
                 std::string("--advice  --details  --layers all  --format json") +
                     (a.frameworks.empty() && !model::is_training_step(*b.graph)
                          ? fmt::format(". Your framework beside it: {} -o run.json, "
                                        "then --framework run.json",
                                        printable(advice::detail::framework_command(*b.graph)))
                          : ""));
}
} // namespace

std::string text_report(const result::run& r, const std::vector<advice::advised>& all,
                        const std::vector<bound::model_bound>& models,
                        const text_options& options) {
  std::string out = models.size() > 1 ? summary(r, models, options.quiet) : "";
  if (const std::string gaps = gaps_text(all, options.quiet); models.size() > 1 && !gaps.empty())
    out += '\n' + gaps;
  if (!options.pages)
    return options.quiet ? out
                         : out + "  --model NAME shows where a model's time goes, and what "
                                 "measures its holes.\n";
  for (const advice::advised& a : all)
    out +=
        (out.empty() ? "" : '\n' + std::string(columns, '-') + "\n\n") + model_page(r, a, options);
  return out;
}

std::string text_report(const input& in) {
  return text_report(in.run, in.advised, in.models, in.options) + limit_lines(in.limits);
}

} // namespace benanza::report
