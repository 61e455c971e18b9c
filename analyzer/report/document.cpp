// SPDX-License-Identifier: Apache-2.0
#include "document.hpp"

#include "advice.hpp"
#include "changes.hpp"
#include "energy.hpp"
#include "framework_run.hpp"
#include "gaps.hpp"
#include "heading.hpp"
#include "kinds.hpp"
#include "layers.hpp"
#include "limits.hpp"
#include "screen.hpp"
#include "units.hpp"
#include "warnings.hpp"

#include <benanza/advice/energy.hpp>
#include <fmt/format.h>
#include <range/v3/view/enumerate.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace benanza::report {

namespace {
/// At most `limit` rows; `note` says how many are left out.
document_table cut_table(document_table t, std::size_t limit) {
  if (t.rows.size() > limit) {
    t.note += (t.note.empty() ? "" : " ") +
              counted(static_cast<std::int64_t>(t.rows.size() - limit), "more row") +
              ": --layers all shows them.";
    t.rows.resize(limit);
  }
  return t;
}
} // namespace

document_table figures_of(const advice::advised& a) {
  document_table out{
      .title = "Figures",
      .columns = {{""}, {"time", column_kind::number}, {"items/s", column_kind::number}, {""}}};
  for (const head_row& r : head_rows(a))
    out.rows.push_back(
        {r.what.substr(r.what.find_first_not_of(' ')), r.shown(), r.rate(*a.model), r.means});
  return out;
}

namespace {
/// What a part of the advice holds, each change with how it is done.
document_table changes_of(const advice::advised& a, advice::doer by, std::size_t limit) {
  document_table out{
      .title = part_title(a, by),
      .columns = {
          {""}, {"saves", column_kind::number}, {"of a run", column_kind::number}, {"how"}}};
  const double run = advice::changed_run_ns(a);
  for (const advice::item& i : a.list.items)
    if (i.how.by == by)
      out.rows.push_back(
          {i.what, show_time(i.saves.ns), share_of_run(*a.model, i.saves.ns, run), i.how.text});
  return cut_table(std::move(out), limit);
}

document_table not_worth_of(const advice::advised& a) {
  document_table out{.title = "Not worth it, or not measured", .columns = {{""}, {""}}};
  for (const advice::remark& r : a.list.not_worth)
    out.rows.push_back({std::string(r.kind), r.what});
  for (const advice::question& q : a.list.not_measured)
    out.rows.push_back({std::string(q.kind),
                        "not measured: " + q.what + (q.command.empty() ? "" : "; " + q.command)});
  return out;
}

document_table kinds_of(const bound::model_bound& b, std::size_t limit) {
  document_table out{
      .title = std::string(kinds_title(b)),
      .columns = {
          {""}, {"share", column_kind::number}, {"GFLOP/s", column_kind::number}, {"limited by"}}};
  const std::vector<operator_kind> all = operator_kinds(b);
  double sum = 0;
  for (const operator_kind& k : all)
    sum += k.ns;
  for (const operator_kind& k : all)
    if (sum > 0)
      out.rows.push_back({k.what, percent(k.ns / sum), rates_of(k), std::string(k.limit())});
  return cut_table(std::move(out), limit);
}

document_table steps_of(const advice::comparison& c) {
  const std::string who = framework_name(*c.from);
  document_table out{.title = "From the run of " + who + " down to the machine's limits",
                     .columns = {{"step"},
                                 {"takes", column_kind::number},
                                 {"of the run", column_kind::number},
                                 {"left", column_kind::number},
                                 {""}}};
  if (c.bars.empty()) return out;
  out.rows.push_back(
      {who, "", "", show_time(c.latency.ns), c.latency_profiled ? "with its profiler on" : ""});
  for (const advice::bar& b : c.bars)
    out.rows.push_back({b.what, show_time(b.takes.ns), percent(std::abs(b.takes.ns) / c.latency.ns),
                        show_time(b.left_ns), std::string(total_behind(c, b))});
  return out;
}

/// The layers of the run that the figures are about; of layers without a model, alone.
document_table layers_of(const bound::model_bound& b, std::size_t limit) {
  document_table out{.title = loose(b) ? "Layers" : std::string(run_table_title(b)),
                     .columns = {{"share", column_kind::number},
                                 {"each", column_kind::number},
                                 {"uses", column_kind::number},
                                 {"GFLOP/s", column_kind::number},
                                 {"algorithm", column_kind::name},
                                 {"layer", column_kind::name}}};
  const std::vector<layer_in_run> all = layers_in_run(b);
  const bool energy = has_energy(all);
  if (energy) out.columns.insert(out.columns.begin() + 4, {"energy", column_kind::number});
  const double sum = sum_of_run(b, all);
  for (const layer_in_run& l : all) {
    const double rate = gflops_in_run(l);
    const bound::measurement* const by = l.layer->algorithms.chosen;
    out.rows.push_back({percent(sum > 0 ? l.ns() / sum : 0), show_time(l.each_ns),
                        std::to_string(l.uses), rate > 0 ? show_rate(rate) : "-",
                        by == nullptr ? "(roofline)" : by->algorithm, l.layer->name});
    if (energy) {
      auto& row = out.rows.back();
      row.insert(row.begin() + 4, energy_cell(advice::energy_nj(*l.layer)));
    }
  }
  return cut_table(std::move(out), limit);
}
} // namespace

document_table summary_of(const std::vector<bound::model_bound>& models) {
  document_table out{.columns = {{"model", column_kind::name},
                                 {"type"},
                                 {"threads", column_kind::number},
                                 {"lower bound", column_kind::number},
                                 {"parallel", column_kind::number},
                                 {"expected run", column_kind::number},
                                 {"measured", column_kind::number},
                                 {"holes", column_kind::number}}};
  for (const bound::model_bound& b : models) {
    const auto expected = bound::expected(b.fastest_form());
    const bound::totals& least = b.best_form().bound;
    const auto time = [](double ns) { return ns > 0 ? show_time(ns) : "-"; };
    out.rows.push_back({b.graph->name, std::string(type_shown(b)), std::to_string(b.threads),
                        time(least.sequential.ns), time(least.parallel.ns),
                        expected ? show_time(expected->ns) : "-", measured_share(b),
                        std::to_string(b.covered.unmeasured_nodes())});
  }
  return out;
}

namespace {
/// The runs of frameworks, with their gaps, and below them the means.
document_table gap_table_of(const std::vector<advice::advised>& all) {
  const gap_table t = gaps_of(all);
  document_table out{.title = "Frameworks' runs",
                     .columns = {{"model", column_kind::name},
                                 {"type"},
                                 {"threads", column_kind::number},
                                 {"lower bound", column_kind::number}},
                     .note = std::string(gap_means_what) + unsure_note(t)};
  for (const gap_column& c : t.columns) {
    out.columns.push_back({c.name, column_kind::number});
    out.columns.push_back({"gap", column_kind::number});
  }
  for (const auto& [i, b] : ranges::views::enumerate(t.models)) {
    auto& row = out.rows.emplace_back();
    row = {b->graph->name, std::string(type_shown(*b)), std::to_string(b->threads),
           b->has_bound() ? show_time(b->best_form().bound.sequential.ns) : "-"};
    for (const gap_column& c : t.columns)
      row.insert(row.end(),
                 {run_text(c.cells[i]), gap_text(c.cells[i]) + std::string(mark_of(c.cells[i]))});
  }
  for (const gap_means& m : t.means) {
    auto& row = out.rows.emplace_back();
    row = {"geometric mean", std::string(name(m.type)), std::to_string(m.threads), ""};
    for (const gap_mean& g : m.of)
      row.insert(
          row.end(),
          {fmt::format("{} models", g.models),
           g.models == 0 ? "-" : fmt::format("{:.2f} {}", g.mean.value, interval_text(g.mean))});
  }
  if (t.columns.empty()) out.rows.clear();
  return out;
}

document_table limits_of(const std::vector<limit_answer>& all) {
  document_table out{.title = "Limits",
                     .columns = {{""},
                                 {"limit", column_kind::name},
                                 {"model", column_kind::name},
                                 {"figure"},
                                 {"is", column_kind::number},
                                 {""}}};
  for (const limit_answer& a : all)
    out.rows.push_back({std::string(name(a.is)), a.limit, a.model, a.figure,
                        a.shown.empty() ? "-" : a.shown, a.why});
  return out;
}

chapter chapter_of(const advice::advised& a, const text_options& o) {
  const bound::model_bound& b = *a.model;
  chapter out{.name = b.graph->name,
              .about = fmt::format("{}, {}, {}",
                                   loose(b) ? counted(std::ssize(b.layers), "layer")
                                            : fmt::format("batch {}", b.graph->batch),
                                   type_shown(b), counted(b.threads, "thread")),
              .command = missing_line(b)};
  if (!b.unmeasurable.empty()) out.warnings.push_back("NO VERDICT: " + b.unmeasurable + '.');
  if (const std::string lacking = lacks(b); !lacking.empty())
    out.warnings.push_back("PARTIAL: " + lacking + '.');
  for (const std::string& doubt : doubts(a))
    out.warnings.push_back(doubt + '.');
  for (const std::string& remark : head_remarks(b))
    out.warnings.push_back(remark + '.');
  if (!loose(b)) out.tables.push_back(figures_of(a));
  if (!loose(b) && b.has_bound()) {
    for (const advice::comparison& c : a.frameworks)
      out.tables.push_back(steps_of(c));
    if (!o.quiet) {
      for (const advice::doer by : {advice::doer::you, advice::doer::makers, advice::doer::nobody})
        out.tables.push_back(changes_of(a, by, o.layers));
      out.tables.push_back(not_worth_of(a));
    }
    if (!o.quiet) out.tables.push_back(kinds_of(b, o.layers));
    out.sure = sure_text(b);
  }
  if (!o.quiet) out.tables.push_back(layers_of(b, o.layers));
  std::erase_if(out.tables, [](const document_table& t) { return t.rows.empty(); });
  return out;
}
} // namespace

std::vector<chapter> document_of(const input& in) {
  std::vector<chapter> out(1);
  out[0].about = where_measured(in.run);
  if (in.partial()) out[0].warnings.push_back("Partial: " + in.lacking + '.');
  if (in.models.size() > 1) {
    out[0].tables.push_back(summary_of(in.models));
    if (auto gaps = gap_table_of(in.advised); !gaps.rows.empty())
      out[0].tables.push_back(std::move(gaps));
  }
  if (!in.limits.empty()) out[0].tables.push_back(limits_of(in.limits));
  for (const advice::advised& a : in.advised)
    out.push_back(chapter_of(a, in.options));
  return out;
}

} // namespace benanza::report
