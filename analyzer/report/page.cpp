// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include "../gpu/kernels.hpp"
#include "../scenario/page.hpp"
#include "energy.hpp"
#include "heading.hpp"
#include "layers.hpp"
#include "totals.hpp"
#include "units.hpp"
#include "warnings.hpp"

#include <benanza/advice/algorithm.hpp>
#include <benanza/advice/baseline.hpp>
#include <fmt/format.h>
#include <range/v3/algorithm/any_of.hpp>

#include <string_view>
#include <vector>

namespace benanza::report {

namespace {
std::string gain_line(const bound::model_bound& b) {
  const bound::figure gain = advice::first_choice_gain(b);
  const double first = advice::by_first_choices_ns(b);
  if (gain.ns <= 0 || first <= 0)
    return "algorithms  the libraries' first choices are as good as any\n";
  const advice::first_choices c = advice::first_choices_of(b);
  return wrapped(
      "algorithms  ",
      fmt::format("the best save {} ({}) of a run by first choices, which are within 2 % "
                  "of the best at {} of {}, and within 5 % at {}",
                  show(gain), percent(gain.ns / first), c.within_2_percent,
                  counted(c.layers, "layer"), c.within_5_percent));
}

std::string coverage_line(const bound::model_bound& b) {
  const bound::coverage& c = b.covered;
  std::vector<std::string> of_measured;
  const auto part = [&](std::string_view what, double share) {
    if (share > 0) of_measured.push_back(fmt::format("{} {}", what, percent(share)));
  };
  part("our plain kernels", c.host);
  part("reference loops", c.reference);
  part("an old instruction set", c.old_isa);
  part(fmt::format("in {}", name(b.graph->type)), c.other_type);
  std::string text = fmt::format("measured {}", percent(c.measured()));
  if (!of_measured.empty()) text += fmt::format(" ({})", fmt::join(of_measured, ", "));
  if (c.modelled > 0) text += fmt::format(", modelled {}", percent(c.modelled));
  if (c.partial())
    text += fmt::format("; PARTIAL: {} of {} not measured", c.unmeasured_nodes(),
                        counted(c.nodes, "node"));
  else if (b.partial())
    text += "; PARTIAL: " + lacks(b);
  else
    text += fmt::format("; no node of {} missing", c.nodes);
  return wrapped("coverage    ", text);
}
} // namespace

double hot_nj(const bound::layer_answer& l) {
  return l.timed() ? l.algorithms.best->energy_nj : 0;
}

namespace {
/// One row of the table; a name that does not fit has a line of its own.
std::string layer_row(const bound::layer_answer& l, double sum, bool path, bool energy) {
  const arithmetic_rate r = rate(l);
  std::string algorithm = "(roofline)", mark;
  if (l.timed()) {
    const bound::measurement& m = *l.algorithms.best;
    algorithm = printable(short_name(m.algorithm));
    if (l.rests_on == bound::basis::other_type) mark = fmt::format(" in {}", name(l.type));
    if (!m.fallback.empty()) mark += fmt::format(" ({})", printable(m.fallback));
    if (l.algorithms.bound_from_roofline()) algorithm = "(roofline)";
  }
  std::string row = fmt::format(
      "{:>7} {:>7} {:>4} {:>4} {:>7}{} {}{:<13.13} ", percent(sum > 0 ? bound_ns(l) / sum : 0),
      show_time(l.algorithms.bound.ns), l.uses, path && l.on_path ? "*" : "",
      r.gflops > 0 ? fmt::format("{:.{}f}", r.gflops, r.gflops < 10 ? 1 : 0) : "-",
      r.less_than_nominal ? 'w' : ' ', energy ? fmt::format("{:>7} ", energy_cell(hot_nj(l))) : "",
      algorithm);
  if (row.size() + l.name.size() + mark.size() > columns)
    return row.substr(0, row.find_last_not_of(' ') + 1) + "\n        " + l.name + mark + '\n';
  return row + l.name + mark + '\n';
}

std::string layer_table(const bound::model_bound& b, std::size_t limit) {
  const std::vector<const bound::layer_answer*> rows = by_time(b);
  if (rows.empty()) return {};
  std::string out = loose(b) ? "" : "Layers, unfused, each alone with hot caches:\n";
  const bool energy =
      ranges::any_of(rows, [](const bound::layer_answer* l) { return hot_nj(*l) > 0; });
  out += fmt::format("{:>7} {:>7} {:>4} {:>4} {:>7}  {}{:<13} {}\n", "share", "each", "uses",
                     "path", "GFLOP/s", energy ? " energy " : "", "algorithm", "layer");
  for (const bound::layer_answer* l : first_of(rows, limit))
    out += layer_row(*l, b.layers_ns, !loose(b), energy);
  out += left_out(limit, rows.size(), "layers");
  if (ranges::any_of(first_of(rows, limit),
                     [](const bound::layer_answer* l) { return rate(*l).less_than_nominal; }))
    out += "        w: needs fewer operations than are counted (Winograd)\n";
  return out;
}

std::string gain_list(const bound::model_bound& b, std::size_t limit) {
  const std::vector<const bound::layer_answer*> rows = advice::by_gain(b);
  if (rows.empty() || limit == 0) return {};
  std::string out = "\nWhere another algorithm beats the library's first choice:\n";
  for (const bound::layer_answer* l : first_of(rows, limit)) {
    const bound::choice& c = l->algorithms;
    out += wrapped(fmt::format("{:>9}  ", show_time(advice::gain_ns(*l))),
                   fmt::format("{} for {} at {} x {}", printable(c.chosen->algorithm),
                               printable(c.first->algorithm), l->uses, l->name));
  }
  return out + left_out(limit, rows.size(), "layers");
}

std::string lost_list(const bound::model_bound& b, std::size_t limit) {
  const std::vector<far_layer> rows = by_lost_time(b);
  if (rows.empty() || limit == 0) return {};
  std::string out = "\nWhere the best algorithm stays far above the layer's roofline:\n";
  for (const far_layer& far : first_of(rows, limit)) {
    const bound::layer_answer& l = *far.layer;
    const double took = bound::measured_ns(l.algorithms);
    out += wrapped(fmt::format("{:>9}  ", show_time(far.lost_ns)),
                   fmt::format("{} takes {}, {:.1f} times the roofline, at {} x {}",
                               printable(l.algorithms.best->algorithm), show_time(took),
                               took / l.roofline->ns, far.uses, l.name));
  }
  return out + left_out(limit, rows.size(), "layers");
}
} // namespace

std::string all_figures(const bound::model_bound& b, std::size_t limit, bool quiet,
                        const std::string& energy, bool after_screen) {
  std::string out;
  if (!loose(b)) {
    out += totals_table(b) + '\n';
    if (!quiet) out += legend(b) + '\n';
    out += per_item(b) + runs(b);
    if (!after_screen) out += scenario_table(b);
    if (!quiet) out += gain_line(b);
    out += coverage_line(b) + energy_line(b, energy);
    if (quiet) return out;
    out += tensor_line(b, limit);
    out += '\n';
  }
  out += layer_table(b, limit);
  if (quiet) return out;
  // What follows is half as long as the table before it.
  out += kernel_list(b, limit - limit / 2);
  out += gain_list(b, limit - limit / 2);
  out += lost_list(b, limit - limit / 2);
  const std::string remarks = warnings(b, limit, after_screen);
  return remarks.empty() ? out : out + '\n' + remarks;
}

std::string page(const result::run& r, const bound::model_bound& b, std::size_t limit, bool quiet) {
  std::string out = title(b) + '\n' + wrapped("", where_measured(r)) + '\n';
  out += merged_line(r);
  if (!b.unmeasurable.empty())
    out += wrapped("NO VERDICT  ", printable(b.unmeasurable) + ".") + '\n';
  if (const std::string lacking = lacks(b); !lacking.empty())
    out += wrapped("PARTIAL     ", lacking + ".") + '\n';
  return out + all_figures(b, limit, quiet, fact(r, "measuring", result::energy_fact));
}

} // namespace benanza::report
