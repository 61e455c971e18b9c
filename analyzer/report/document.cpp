// SPDX-License-Identifier: Apache-2.0
#include "document.hpp"

#include "../frameworks/page.hpp"
#include "advice.hpp"
#include "changes.hpp"
#include "energy.hpp"
#include "gaps.hpp"
#include "heading.hpp"
#include "kinds.hpp"
#include "layers.hpp"
#include "limits.hpp"
#include "screen.hpp"
#include "tables/formats.hpp"
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

tables::table figures_of(const advice::advised& a) {
  tables::table out{.title = "Figures",
                    .columns = {{"", ""},
                                {"", "time", tables::unit::number},
                                {"", "items/s", tables::unit::number},
                                {"", ""}}};
  for (const head_row& r : head_rows(a))
    out.rows.push_back(
        {r.what.substr(r.what.find_first_not_of(' ')), r.shown(), r.rate(*a.model), r.means});
  return out;
}

namespace {
/// What a part of the advice holds, each change with how it is done.
tables::table changes_of(const advice::advised& a, advice::doer by, std::size_t limit) {
  tables::table out{.title = part_title(a, by),
                    .columns = {{"", ""},
                                {"", "saves", tables::unit::number},
                                {"", "of a run", tables::unit::number},
                                {"", "how"}}};
  const double run = advice::changed_run_ns(a);
  for (const advice::item& i : a.list.items)
    if (i.how.by == by)
      out.rows.push_back(
          {i.what, show_time(i.saves.ns), share_of_run(*a.model, i.saves.ns, run), i.how.text});
  out.shown = limit;
  out.all_by = "--layers all";
  return out;
}

tables::table not_worth_of(const advice::advised& a) {
  tables::table out{.title = "Not worth it, or not measured", .columns = {{"", ""}, {"", ""}}};
  for (const advice::remark& r : a.list.not_worth)
    out.rows.push_back({std::string(r.kind), r.what});
  for (const advice::question& q : a.list.not_measured)
    out.rows.push_back({std::string(q.kind),
                        "not measured: " + q.what + (q.command.empty() ? "" : "; " + q.command)});
  return out;
}

tables::table kinds_of(const bound::model_bound& b, std::size_t limit) {
  tables::table out{.title = std::string(kinds_title(b)),
                    .columns = {{"", ""},
                                {"", "share", tables::unit::number},
                                {"", "GFLOP/s", tables::unit::number},
                                {"", "limited by"}}};
  const std::vector<operator_kind> all = operator_kinds(b);
  double sum = 0;
  for (const operator_kind& k : all)
    sum += k.ns;
  for (const operator_kind& k : all)
    if (sum > 0)
      out.rows.push_back({k.what, percent(k.ns / sum), rates_of(k), std::string(k.limit())});
  out.shown = limit;
  out.all_by = "--layers all";
  return out;
}

tables::table steps_of(const advice::comparison& c) {
  const std::string who = framework_name(*c.from);
  tables::table out{.title = "From the run of " + who + " down to the machine's limits",
                    .columns = {{"", "step"},
                                {"", "takes", tables::unit::number},
                                {"", "of the run", tables::unit::number},
                                {"", "left", tables::unit::number},
                                {"", ""}}};
  if (c.bars.empty()) return out;
  out.rows.push_back(
      {who, "", "", show_time(c.latency.ns), c.latency_profiled ? "with its profiler on" : ""});
  for (const advice::bar& b : c.bars)
    out.rows.push_back({b.what, show_time(b.takes.ns), percent(std::abs(b.takes.ns) / c.latency.ns),
                        show_time(b.left_ns), std::string(total_behind(c, b))});
  return out;
}

/// The layers of the run that the figures are about; of layers without a model, alone.
tables::table layers_of(const bound::model_bound& b, std::size_t limit) {
  tables::table out{.title = loose(b) ? "Layers" : std::string(run_table_title(b)),
                    .columns = {{"", "share", tables::unit::number},
                                {"", "each", tables::unit::number},
                                {"", "uses", tables::unit::number},
                                {"", "GFLOP/s", tables::unit::number},
                                {"", "algorithm", tables::unit::name},
                                {"", "layer", tables::unit::name}}};
  const std::vector<layer_in_run> all = layers_in_run(b);
  const bool energy = has_energy(all);
  if (energy) out.columns.insert(out.columns.begin() + 4, {"", "energy", tables::unit::number});
  const double sum = sum_of_run(b, all);
  for (const layer_in_run& l : all) {
    const double rate = gflops_in_run(l);
    out.rows.push_back({percent(sum > 0 ? l.ns / sum : 0), show_time(l.each_ns()),
                        std::to_string(l.uses), rate > 0 ? show_rate(rate) : "-",
                        l.by == nullptr ? "(roofline)" : l.by->algorithm, l.layer->name});
    if (energy) {
      auto& row = out.rows.back();
      row.insert(row.begin() + 4, energy_cell(advice::energy_nj(*l.layer)));
    }
  }
  out.shown = limit;
  out.all_by = "--layers all";
  return out;
}
} // namespace

tables::table summary_of(const std::vector<bound::model_bound>& models) {
  tables::table out{.columns = {{"", "model", tables::unit::name},
                                {"", "type"},
                                {"", "threads", tables::unit::number},
                                {"", "lower bound", tables::unit::number},
                                {"", "parallel", tables::unit::number},
                                {"", "expected run", tables::unit::number},
                                {"", "measured", tables::unit::number},
                                {"", "holes", tables::unit::number}}};
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
tables::table gap_table_of(const std::vector<advice::advised>& all) {
  const gap_table t = gaps_of(all);
  tables::table out{.title = "Frameworks' runs",
                    .columns = {{"", "model", tables::unit::name},
                                {"", "type"},
                                {"", "threads", tables::unit::number},
                                {"", "lower bound", tables::unit::number}},
                    .note = std::string(gap_means_what) + unsure_note(t)};
  for (const gap_column& c : t.columns) {
    out.columns.push_back({"", c.name, tables::unit::number});
    out.columns.push_back({"", "gap", tables::unit::number});
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

tables::table limits_of(const std::vector<limit_answer>& all) {
  tables::table out{.title = "Limits",
                    .columns = {{"", ""},
                                {"", "limit", tables::unit::name},
                                {"", "model", tables::unit::name},
                                {"", "figure"},
                                {"", "is", tables::unit::number},
                                {"", ""}}};
  for (const limit_answer& a : all)
    out.rows.push_back({std::string(name(a.is)), a.limit, a.model, a.figure,
                        a.shown.empty() ? "-" : a.shown, a.why});
  return out;
}

tables::chapter chapter_of(const advice::advised& a, const text_options& o) {
  const bound::model_bound& b = *a.model;
  tables::chapter out{.title = b.graph->name, .title_is_name = true};
  out.say(fmt::format("{}, {}, {}",
                      loose(b) ? counted(std::ssize(b.layers), "layer") : sizes_shown(*b.graph),
                      type_shown(b), counted(b.threads, "thread")));
  if (!b.unmeasurable.empty()) out.warn("NO VERDICT: " + b.unmeasurable + '.');
  if (const std::string lacking = lacks(b); !lacking.empty()) out.warn("PARTIAL: " + lacking + '.');
  for (const std::string& doubt : doubts(a))
    out.warn(doubt + '.');
  for (const std::string& remark : head_remarks(b))
    out.warn(remark + '.');
  if (!loose(b)) out.add(figures_of(a));
  const bool figures = !loose(b) && b.has_bound();
  if (figures)
    for (const advice::comparison& c : a.frameworks)
      out.add(steps_of(c));
  if (figures && !o.quiet) {
    for (const advice::doer by : {advice::doer::you, advice::doer::makers, advice::doer::nobody})
      out.add(changes_of(a, by, o.layers));
    out.add(not_worth_of(a));
    out.add(kinds_of(b, o.layers));
  }
  if (!o.quiet) out.add(layers_of(b, o.layers));
  if (figures) out.say("Sure? " + sure_text(b));
  if (const std::string command = missing_line(b); !command.empty())
    out.parts.emplace_back(tables::paragraph{"This measures what is missing", command,
                                             tables::paragraph::kind::command});
  return out;
}
} // namespace

tables::chapter document_of(const input& in) {
  tables::chapter out{.title = "How fast could it be?"};
  out.say(where_measured(in.run));
  if (in.partial()) out.warn("Partial: " + in.lacking + '.');
  if (in.models.size() > 1) {
    out.add(summary_of(in.models));
    out.add(gap_table_of(in.advised));
  }
  if (!in.limits.empty()) out.add(limits_of(in.limits));
  for (const advice::advised& a : in.advised)
    out.chapters.push_back(chapter_of(a, in.options));
  return out;
}

std::string markdown_report(const input& in) {
  return tables::markdown_of(document_of(in));
}

std::string latex_report(const input& in) {
  return tables::latex_of(document_of(in));
}

} // namespace benanza::report
