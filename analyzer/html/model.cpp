// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include "../report/advice.hpp"
#include "../report/below_bound.hpp"
#include "../report/energy.hpp"
#include "../report/heading.hpp"
#include "../report/json_array.hpp"
#include "../report/kinds.hpp"
#include "../report/layers.hpp"
#include "../report/limits.hpp"
#include "../report/memory.hpp"
#include "../report/screen.hpp"
#include "../report/warnings.hpp"
#include "../rewrite/page.hpp"
#include "../scenario/page.hpp"
#include "numbers.hpp"

#include <benanza/advice/energy.hpp>
#include <benanza/advice/steps.hpp>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::report::html {

namespace {
result::ordered_json number_or_null(const std::optional<bound::figure>& f) {
  return f && f->ns > 0 ? number(*f) : result::ordered_json();
}

result::ordered_json figures_json(const advice::advised& a) {
  const bound::model_bound& b = *a.model;
  const bound::form_figures &form = b.fastest_form(), &best = b.best_form();
  return {
      {"first", number(advice::changed_run_ns(a))},
      {"expected", number_or_null(bound::expected(form))},
      {"rewritten", b.rewritten ? number_or_null(bound::expected(best)) : result::ordered_json()},
      {"best_graph", best_graph_line(b)},
      {"bound", number_or_null(best.bound.sequential)},
      {"winograd", best.winograd_ns > 0 ? number(best.winograd_ns) : result::ordered_json()},
      {"unfused", number_or_null(b.bound.sequential)},
      {"reachable", number_or_null(best.bound.reachable)},
      {"path", number_or_null(best.bound.parallel)},
      {"by_memory", b.set_by_memory()},
      {"memory", memory_remarks(b)},
      {"energy", energy_text(b, "")},
      {"roofline",
       b.has_bound() ? number_or_null(best.roofline.sequential) : result::ordered_json()}};
}

result::ordered_json bars_json(double top_ns, const std::vector<advice::bar>& bars) {
  return {{"top", number(top_ns)},
          {"bars", array_of(bars, [](const advice::bar& b) -> result::ordered_json {
             return {b.id, printable(b.what), number(b.takes), number(b.left_ns)};
           })}};
}

result::ordered_json advice_json(const advice::advised& a, const drawn_graph& graph) {
  const double run_ns = advice::changed_run_ns(a);
  result::ordered_json items =
      array_of(a.list.items, [&](const advice::item& i) -> result::ordered_json {
        return {{"id", printable(i.id)},
                {"kind", i.kind},
                {"what", printable(i.what)},
                {"part", report::part_title(a, i.how.by)},
                {"how", printable(i.how.text)},
                {"command", printable(i.how.command, 4000)},
                {"tell", printable(i.how.letter, 2000)},
                {"saves", number(i.saves)},
                {"nodes", graph.nodes_of(i.nodes)},
                {"evidence", array_of(i.evidence, [](const auto& e) { return printable(e); })},
                {"assumes", printable(i.assumes)},
                {"costs", array_of(i.costs, [](const auto& c) { return printable(c); })},
                {"check", printable(i.check, 4000)}};
      });
  return {{"run", number(run_ns)},
          {"of", report::baseline_name(a)},
          {"items", std::move(items)},
          {"small", {a.list.small, number(a.list.small_ns)}},
          {"not_worth", array_of(a.list.not_worth,
                                 [](const advice::remark& r) -> result::ordered_json {
                                   return {r.kind, printable(r.what)};
                                 })},
          {"not_measured",
           array_of(a.list.not_measured, [](const advice::question& q) -> result::ordered_json {
             return {q.kind, printable(q.what), printable(q.command, 4000)};
           })}};
}
} // namespace

result::ordered_json framework_json(const advice::comparison& c, const drawn_graph& graph,
                                    texts& known) {
  struct part {
    double ns = 0, best_ns = 0;
    std::int64_t count = 0;
    std::string kernel{};
  };
  std::map<int, part> layers, nodes;
  for (const advice::compared_operator& o : c.groups) {
    const int node = graph.main_node(o.nodes);
    if (!o.known || node < 0) continue;
    part& p = layers[graph.layer_of(node)];
    const trace::profiled_operator& from = c.from->operators[o.op];
    p.ns += o.ns;
    p.best_ns += o.best_ns;
    ++p.count;
    if (p.kernel.empty()) p.kernel = from.kernel.empty() ? from.type : from.kernel;
    part& n = nodes[node];
    n.ns += o.ns;
    n.best_ns += o.best_ns;
  }
  result::ordered_json by_layer = result::ordered_json::array(),
                       by_node = result::ordered_json::array();
  for (const auto& [layer, p] : layers)
    by_layer.push_back({layer, number(p.ns), number(p.best_ns), p.count, known.of(p.kernel)});
  for (const auto& [node, p] : nodes)
    by_node.push_back({node, number(p.ns), number(p.best_ns)});
  return {{"name", report::framework_name(*c.from)},
          {"latency", number(c.latency)},
          {"least", number(c.least_ns)},
          {"below", c.model->sure() ? report::below_bound(c) : ""},
          {"profiled", c.latency_profiled},
          {"disturbed", c.disturbed},
          {"matched", {c.matched_nodes, c.nodes}},
          {"steps", bars_json(c.latency.ns, c.bars)},
          {"added", array_of(c.added,
                             [](const advice::added_row& r) -> result::ordered_json {
                               return {printable(r.type), r.count, number(r.takes.ns)};
                             })},
          {"layers", std::move(by_layer)},
          {"nodes", std::move(by_node)},
          {"warnings", array_of(c.from->warnings, [](const auto& w) { return printable(w); })}};
}

namespace {
/// What is known of a layer wherever it is used: [table, basis, kind, prediction, bound, roofline,
/// limited by memory, chosen, best and first choice as ways or -1, time of the first choice where
/// that is not the prediction, flops, bytes, fewer operations than counted, remark, what disturbed
/// it, nJ in a run]
result::ordered_json layer_json(const bound::layer_answer& l, int threads, ways& known,
                                case_book& book) {
  const bound::choice& c = l.algorithms;
  // As in the advice: what a user's framework can have and run.
  const bool compared = !bound::chose_first(c) && advice::detail::of_a_library(*c.first) &&
                        advice::detail::of_a_library(*c.chosen);
  std::string remark = l.reason;
  if (c.bound_from_roofline())
    remark = c.why_roofline == bound::roofline_for::slow_kernels
                 ? "only slow kernels run it: its bound is its roofline"
             : c.why_roofline == bound::roofline_for::rounding
                 ? "frameworks may round its operands: its bound is its roofline"
                 : "frameworks may append in place: its bound is the roofline of that";
  std::string disturbed;
  for (const bound::measurement* m : {c.best, c.chosen, c.chosen_warmer})
    if (m != nullptr && disturbed.empty()) disturbed = m->disturbed;
  const auto way = [&](const bound::measurement* m) {
    return m == nullptr ? result::ordered_json(-1) : result::ordered_json(known.of(*m));
  };
  texts& words = known.known();
  return result::ordered_json::array(
      {book.of(l.name, name(l.type), threads), words.of(name(l.rests_on)),
       words.of(report::kind_name(l.name)), number(c.prediction.ns), number(c.bound.ns),
       number(l.roofline ? l.roofline->ns : 0), l.roofline && l.roofline->by_memory ? 1 : 0,
       way(c.chosen), way(c.best), way(c.first), number(compared ? c.first_choice.ns : 0),
       number(static_cast<double>(l.flops)),
       number(c.best == nullptr ? 0 : static_cast<double>(c.best->bytes)),
       rate(l).less_than_nominal ? 1 : 0, words.of(remark), words.of(disturbed),
       number(advice::energy_nj(l))});
}

result::ordered_json run_json(const bound::chain_run& w) {
  return {{"name", w.side_by_side() ? "branches side by side" : "measured as one chain"},
          {"fused", w.fused},
          {"least", number(w.run->min_ns)},
          {"median", number(w.run->median_ns)},
          {"disturbed", printable(w.run->disturbed)}};
}

/// What has to be known before the figures are believed, a line each.
result::ordered_json remarks_json(const advice::advised& a) {
  const bound::model_bound& b = *a.model;
  result::ordered_json out = result::ordered_json::array();
  for (const std::string& doubt : report::doubts(a))
    out.push_back(printable(doubt));
  for (const bound::measurement* m : b.failed_runs)
    out.push_back(printable("the run of the whole model failed: " + m->error));
  for (const auto* lines : {&b.graph->assumptions, &b.notes})
    for (const std::string& n : *lines)
      out.push_back(printable(n));
  return out;
}

result::ordered_json coverage_json(const bound::model_bound& b) {
  const bound::coverage& c = b.covered;
  return {{"measured", number(c.measured())},
          {"modelled", number(c.modelled)},
          {"native", number(c.native)},
          {"reference", number(c.reference)},
          {"host", number(c.host)},
          {"old_isa", number(c.old_isa)},
          {"other_type", number(c.other_type)},
          {"nodes", c.nodes},
          {"views", c.view_nodes},
          {"unmeasured", c.unmeasured_nodes()}};
}

/// The limits that a model was held to: [kept, unsure or broken, limit, figure, value or empty,
/// comparison, why]
result::ordered_json limits_json(const std::vector<limit_answer>& all, std::size_t place) {
  result::ordered_json out = result::ordered_json::array();
  for (const limit_answer& a : all)
    if (a.place == place)
      out.push_back({name(a.is), printable(a.limit, 200), printable(a.figure), a.shown,
                     printable(a.bound, 200), printable(a.why)});
  return out;
}
} // namespace

result::ordered_json model_json(const input& in, std::size_t place, std::size_t machine,
                                shared& told) {
  const advice::advised& a = in.advised[place];
  const bound::model_bound& b = *a.model;
  const drawn_graph graph(b);
  texts& known = told.known;
  result::ordered_json layers = result::ordered_json::array(), uses = result::ordered_json::array();
  for (const bound::layer_answer& l : b.layers) {
    layers.push_back(told.layers.of(layer_json(l, b.threads, told.by, told.book)));
    uses.push_back(l.uses);
  }
  // How often the layers are in the best run, what they take there, and by which algorithm.
  std::vector<std::int64_t> runs(b.layers.size());
  result::ordered_json in_run(std::vector<double>(b.layers.size()));
  result::ordered_json by(std::vector<int>(b.layers.size(), -1));
  for (const layer_in_run& l : layers_in_run(b)) {
    const auto at = static_cast<std::size_t>(l.layer - b.layers.data());
    runs[at] = l.uses;
    in_run[at] = number(l.ns);
    if (l.by != nullptr) by[at] = told.by.of(*l.by);
  }
  const advice::descent from_first = advice::descent_of(a);
  const bound::form_figures& form = b.fastest_form();
  const bool laid_out = form.layouts && form.layouts->prediction;
  return {{"machine", machine},
          {"name", printable(b.graph->name)},
          {"model", printable(b.graph->model)},
          {"batch", b.graph->batch},
          {"dims", report::dims_shown(*b.graph)},
          {"type", name(b.type)},
          {"type_shown", report::type_shown(b)},
          {"threads", b.threads},
          {"workers", b.workers},
          {"fused", b.fused.has_value()},
          {"no_verdict", printable(b.unmeasurable)},
          {"lacks", lacks(b)},
          {"sure", b.sure()},
          {"limits", limits_json(in.limits, place)},
          {"figures", figures_json(a)},
          {"frameworks",
           array_of(a.frameworks,
                    [&](const advice::comparison& c) { return framework_json(c, graph, known); })},
          {"steps", bars_json(from_first.top_ns, from_first.bars)},
          {"advice", advice_json(a, graph)},
          {"kinds", array_of(operator_kinds(b),
                             [](const operator_kind& k) -> result::ordered_json {
                               return {printable(k.what),          number(k.ns),
                                       number(k.least_gflops),     number(k.most_gflops),
                                       k.fewer_operations ? 1 : 0, k.limit()};
                             })},
          {"changes", laid_out ? result::ordered_json{form.layouts->prediction->change_count,
                                                      number(form.layouts->prediction->changes.ns)}
                               : result::ordered_json()},
          {"layers", {std::move(layers), std::move(uses), runs, std::move(in_run), std::move(by)}},
          {"graph", graph.json(known)},
          {"tasks", graph.tasks_json()},
          {"runs", array_of(b.runs, run_json)},
          {"scenarios", scenarios_json(b)},
          {"coverage", coverage_json(b)},
          {"remarks", remarks_json(a)},
          {"missing", printable(b.missing_command, 4000)},
          {"measure", printable(bound::bench_command(in.run, b), 4000)}};
}

} // namespace benanza::report::html
