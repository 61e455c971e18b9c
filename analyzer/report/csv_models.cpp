// SPDX-License-Identifier: Apache-2.0
#include "csv_models.hpp"

#include "csv.hpp"
#include "gaps.hpp"
#include "limit_figures.hpp"

#include <benanza/advice/energy.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/zip.hpp>

#include <string_view>

namespace benanza::report {

namespace {
constexpr std::string_view csv_models_head =
    "model,batch,type,threads,bound_ns,parallel_bound_ns,expected_ns,layers_nj,measured_share,"
    "unmeasured_nodes,framework,run_ns,run_low_ns,run_high_ns,gap,gap_low,gap_high,models,"
    "unsure\n";

void add_gap(csv_row& row, const advice::factor& f) {
  for (const double v : {f.value, f.low, f.high})
    row.number(v, f.value > 0);
}

std::string csv_model(const bound::model_bound& b, std::string_view framework,
                      const gap_cell& cell) {
  const bound::totals& least = b.best_form().bound;
  csv_row row;
  row.text(b.graph->name).number(static_cast<double>(b.graph->batch)).text(name(b.type));
  row.number(b.threads).number(least.sequential.ns, b.has_bound());
  row.number(least.parallel.ns, b.has_bound()).number(expected_ns(b), expected_ns(b) > 0);
  const advice::layers_energy energy = advice::energy_of(b);
  row.number(energy.nj, energy.whole());
  row.number(b.covered.measured()).number(static_cast<double>(b.covered.unmeasured_nodes()));
  const bound::figure run = cell.run == nullptr ? bound::figure{} : cell.run->latency;
  row.text(framework);
  for (const double ns : {run.ns, run.low_ns, run.high_ns})
    row.number(ns, run.ns > 0);
  add_gap(row, cell.gap);
  const std::string unsure = cell.run == nullptr ? unsure_sum(b) : cell.unsure;
  return row.number(1).text(unsure).take();
}

std::string csv_mean(const gap_means& m, const gap_mean& of, std::string_view framework) {
  csv_row row;
  row.text("geometric mean").text("").text(name(m.type)).number(m.threads);
  for (int empty = 0; empty < 6; ++empty)
    row.text("");
  row.text(framework).text("").text("").text("");
  add_gap(row, of.mean);
  return row.number(static_cast<double>(of.models)).text("").take();
}
} // namespace

std::string csv_models_report(const input& in) {
  std::string out(csv_models_head);
  const gap_table t = gaps_of(in.advised);
  for (const auto& [i, a] : ranges::views::enumerate(in.advised)) {
    if (a.frameworks.empty()) out += csv_model(*a.model, "", {});
    for (const gap_column& c : t.columns)
      if (c.cells[i].run != nullptr) out += csv_model(*a.model, c.name, c.cells[i]);
  }
  for (const gap_means& m : t.means)
    for (const auto& [column, of] : ranges::views::zip(t.columns, m.of))
      if (of.models > 0) out += csv_mean(m, of, column.name);
  return out;
}

} // namespace benanza::report
