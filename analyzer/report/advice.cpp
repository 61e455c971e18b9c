// SPDX-License-Identifier: Apache-2.0
#include "advice.hpp"

#include "heading.hpp"
#include "units.hpp"
#include "warnings.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/transform.hpp>

#include <utility>
#include <vector>

namespace benanza::report {

namespace {
/// The names of nodes of the unfused graph.
std::vector<std::string> node_names(const model::graph& g, const std::vector<int>& nodes) {
  return nodes | ranges::views::transform([&](int n) {
           return g.nodes[static_cast<std::size_t>(n)].name;
         }) |
         ranges::to<std::vector>;
}
} // namespace

std::string part_title(const advice::advised& a, advice::doer by) {
  if (by == advice::doer::you) return "What you can do";
  if (by == advice::doer::nobody) return "No way is known today";
  return "What only the makers of " +
         (a.frameworks.empty()
              ? "a framework"
              : printable(advice::framework_title(a.frameworks.front().from->framework))) +
         " can do";
}

std::string baseline_name(const advice::advised& a) {
  return a.list.run.supposed || a.frameworks.empty() ? "by libraries' first choices"
                                                     : framework_name(*a.frameworks.front().from);
}

std::string advice_section(const advice::advised& a, std::size_t limit) {
  const double run_ns = advice::changed_run_ns(a);
  std::string out;
  std::size_t n = 0;
  for (const advice::item& i : a.list.items) {
    if (n == 0 || i.how.by != a.list.items[n - 1].how.by) {
      const std::string title = part_title(a, i.how.by);
      out += wrapped(n == 0 ? "" : "\n", title);
    }
    out += wrapped(fmt::format("{:>2}  ", ++n), printable(i.what, 1000));
    out += wrapped("    saves    ", a.model->sure() ? fmt::format("{} ({} of a run)", show(i.saves),
                                                                  percent(i.saves.ns / run_ns))
                                                    : show(i.saves));
    if (!i.how.text.empty()) out += wrapped("    do       ", printable(i.how.text, 1000) + ".");
    if (!i.how.command.empty()) out += "             " + printable(i.how.command, 4000) + '\n';
    if (!i.nodes.empty())
      out += wrapped("    nodes    ", some_of(node_names(*a.model->graph, i.nodes), limit));
    for (const std::string& row : first_of(i.evidence, limit))
      out += wrapped("    because  ", printable(row, 1000));
    if (!i.assumes.empty()) out += wrapped("    assumes  ", printable(i.assumes, 1000));
    for (const std::string& cost : i.costs)
      out += wrapped("    costs    ", printable(cost, 1000));
    if (!i.how.letter.empty()) out += wrapped("    tell     ", printable(i.how.letter, 2000));
    out += "    check    " + printable(i.check, 4000) + "\n    id       " + printable(i.id, 400) +
           '\n';
  }
  if (a.list.small > 0)
    out += wrapped("- ", fmt::format("{} that save less than 0.5 % of a run each, {} together.",
                                     counted(a.list.small, "change"), show_time(a.list.small_ns)));
  for (const advice::remark& r : a.list.not_worth)
    out += wrapped("- ", fmt::format("{}: {}.", r.kind, printable(r.what, 1000)));
  for (const advice::question& q : a.list.not_measured) {
    out += wrapped("- ", fmt::format("not measured: {}{}", printable(q.what, 1000),
                                     q.command.empty() ? "." : "; this does:"));
    if (!q.command.empty()) out += "    " + printable(q.command, 4000) + '\n';
  }
  if (!out.empty() && a.list.items.size() > 1)
    out += wrapped("- ", "What changes save does not add up: they are of the same run.");
  return out;
}

namespace {
result::ordered_json figure_json(const bound::figure& f) {
  return {{"ns", f.ns}, {"low_ns", f.low_ns}, {"high_ns", f.high_ns}};
}
} // namespace

result::ordered_json gap_json(const advice::factor& f) {
  return {{"value", f.value}, {"low", f.low}, {"high", f.high}};
}

namespace {
result::ordered_json how_json(const advice::how_to& h) {
  result::ordered_json settings = result::ordered_json::array();
  for (const advice::setting& s : h.settings)
    settings.push_back({{"framework", s.framework}, {"name", s.name}, {"value", s.value}});
  return {{"who", name(h.by)},    {"way", name(h.kind)},
          {"text", h.text},       {"settings", std::move(settings)},
          {"command", h.command}, {"tell", h.letter}};
}
} // namespace

result::ordered_json advice_json(const advice::advised& a) {
  const double run_ns = advice::changed_run_ns(a);
  result::ordered_json items = result::ordered_json::array(),
                       remarks = result::ordered_json::array(),
                       questions = result::ordered_json::array();
  for (const advice::item& i : a.list.items)
    items.push_back({{"id", i.id},
                     {"kind", i.kind},
                     {"what", i.what},
                     {"do", how_json(i.how)},
                     {"saves", figure_json(i.saves)},
                     {"leads_to", i.leads_to},
                     {"share_of_run",
                      a.model->sure() ? result::ordered_json(run_ns > 0 ? i.saves.ns / run_ns : 0)
                                      : result::ordered_json()},
                     {"nodes", node_names(*a.model->graph, i.nodes)},
                     {"evidence", i.evidence},
                     {"assumes", i.assumes},
                     {"costs", i.costs},
                     {"check", i.check}});
  for (const advice::remark& r : a.list.not_worth)
    remarks.push_back({{"kind", r.kind}, {"what", r.what}, {"brief", r.brief}});
  for (const advice::question& q : a.list.not_measured)
    questions.push_back({{"kind", q.kind}, {"what", q.what}, {"command", q.command}});
  return {{"run_ns", run_ns},
          {"run", baseline_name(a)},
          {"run_supposed", a.list.run.supposed},
          {"items", std::move(items)},
          {"small_changes", a.list.small},
          {"small_changes_ns", a.list.small_ns},
          {"not_worth", std::move(remarks)},
          {"not_measured", std::move(questions)}};
}

result::ordered_json framework_run_json(const advice::comparison& c) {
  const model::graph& g = *c.model->graph;
  result::ordered_json bars = result::ordered_json::array(),
                       operators = result::ordered_json::array(),
                       added = result::ordered_json::array();
  for (const advice::bar& b : c.bars)
    bars.push_back(
        {{"id", b.id}, {"what", b.what}, {"takes", figure_json(b.takes)}, {"left_ns", b.left_ns}});
  for (const advice::compared_operator& o : c.operators) {
    const trace::profiled_operator& from = c.from->operators[o.op];
    operators.push_back(
        {{"name", from.name},
         {"type", from.type},
         {"kernel", from.kernel},
         {"nodes", node_names(g, o.nodes)},
         {"matched_by", name(o.how)},
         {"ns", o.ns},
         {"best_ns", o.known ? result::ordered_json(o.best_ns) : result::ordered_json()},
         {"lost_ns", o.known ? result::ordered_json(o.lost_ns()) : result::ordered_json()},
         {"verdict", o.verdict() > 0   ? "slower"
                     : o.verdict() < 0 ? "faster"
                     : o.known         ? "equal"
                                       : "unknown"},
         {"layer", o.layer}});
  }
  result::ordered_json faster = result::ordered_json::array();
  for (const advice::compared_row& r : c.faster)
    faster.push_back({{"layer", r.layer},
                      {"type", r.type},
                      {"kernel", r.kernel},
                      {"count", r.count},
                      {"ns", r.ns},
                      {"best_ns", r.best_ns}});
  for (const auto& [i, from] : ranges::views::enumerate(c.from->operators)) {
    if (!c.matched.added(i) || advice::detail::idle(from)) continue;
    added.push_back(
        {{"name", from.name}, {"type", from.type}, {"ns", advice::detail::median_of(from.ns)}});
  }
  return {{"framework", c.from->framework},
          {"version", c.from->version},
          {"source", c.from->source},
          {"threads", c.from->threads},
          {"precision", c.from->precision},
          {"latency", figure_json(c.latency)},
          {"gap", advice::has_gap(c) ? gap_json(advice::gap_of(c)) : result::ordered_json()},
          {"least_ns", c.least_ns},
          {"latency_with_profiler", c.latency_profiled},
          {"overlapping", c.from->overlapping ? result::ordered_json(*c.from->overlapping)
                                              : result::ordered_json()},
          {"nodes", c.nodes},
          {"matched_nodes", c.matched_nodes},
          {"unexplained_ns", c.unexplained_ns},
          {"profiler",
           {{"least_ns", c.profiler.least_ns},
            {"most_ns", c.profiler.most_ns},
            {"step_ns", c.profiler.step_ns},
            {"multiplied_by", c.profiler.pace},
            {"operators_below", c.blurred}}},
          {"bars", std::move(bars)},
          {"operators", std::move(operators)},
          {"faster", std::move(faster)},
          {"added", std::move(added)},
          {"warnings", c.from->warnings}};
}

} // namespace benanza::report
