// SPDX-License-Identifier: Apache-2.0
// What does an equivalent graph save, which the user writes and any framework runs? With a
// framework: what its operators take at the nodes that compute less, by the share of operations
// that is saved. Else the difference of what a run should take by both graphs, fused where that is
// faster. A framework whose operators make fewer points than the nodes has done it by itself.
//
//   advice_of_kind a = rewrite_advice(grounds);   a.items[0].id   // "rewrite/graph"
#pragma once

#include "../model/rewrite/rewritten.hpp"
#include "../model/rewrites.hpp"
#include "drawn.hpp"
#include "item.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::advice {

namespace detail {
/// The nodes of the model that compute less in its rewritten graph, and what share of their
/// operations that saves.
inline std::map<int, double> rewritten_nodes(const model::graph& own,
                                             const model::graph& rewritten) {
  std::map<std::string_view, std::vector<int>> by_name;
  for (std::size_t i = 0; i < own.nodes.size(); ++i)
    by_name[own.nodes[i].name].push_back(static_cast<int>(i));
  const auto flops = [](const model::graph& g, const model::node& n) {
    const op::layer* l = model::layer_of(g, n);
    return l == nullptr ? 0.0 : static_cast<double>(op::cost(*l).flops());
  };
  std::set<std::string_view> changed; // own nodes, by name
  for (const model::rewrite& r : rewritten.rewrites)
    for (const int i : r.nodes)
      if (i < static_cast<int>(rewritten.nodes.size()))
        changed.insert(model::rewritten_from(rewritten.nodes[static_cast<std::size_t>(i)].name));
  std::map<int, double> left; // operations of own nodes
  for (const model::node& now : rewritten.nodes) {
    const std::string_view name = model::rewritten_from(now.name);
    const auto found = by_name.find(name);
    if (changed.contains(name) && found != by_name.end() && found->second.size() == 1)
      left[found->second[0]] += flops(rewritten, now);
  }
  std::map<int, double> out;
  for (const auto& [n, after] : left) {
    const double before = flops(own, own.nodes[static_cast<std::size_t>(n)]);
    out[n] = before > 0 ? std::max(0.0, 1 - after / before) : 0;
  }
  return out;
}

/// What the framework saves if its operators keep their pace on what is left of the work.
inline double framework_saves(const comparison& c, const std::map<int, double>& less) {
  double out = 0;
  for (const compared_operator& o : c.operators) {
    double all = 0, saved = 0;
    for (const int n : o.nodes) {
      const op::layer* l =
          model::layer_of(*c.model->graph, c.model->graph->nodes[static_cast<std::size_t>(n)]);
      const double flops = l == nullptr ? 0 : static_cast<double>(op::cost(*l).flops());
      const auto found = less.find(n);
      all += flops;
      saved += found == less.end() ? 0 : flops * found->second;
    }
    if (all > 0) out += o.ns * saved / all;
  }
  return out;
}

/// True if the framework computes less at most of those nodes by itself.
inline bool computes_less(const comparison& c, const std::map<int, double>& nodes) {
  std::size_t all = 0, fewer = 0;
  for (const compared_operator& o : c.operators)
    if (std::any_of(o.nodes.begin(), o.nodes.end(), [&](int n) { return nodes.contains(n); })) {
      ++all;
      fewer += o.fewer;
    }
  return 2 * fewer > all;
}
} // namespace detail

/// Advice to rewrite the model's graph.
inline advice_of_kind rewrite_advice(const grounds& g) {
  advice_of_kind out;
  if (!g.model.equivalent) return out;
  const bound::model_bound& other = *g.model.equivalent;
  const auto own = bound::expected(g.model.fastest_form()),
             less = bound::expected(other.fastest_form());
  if (!own || !less) return out;
  item one{.id = "rewrite/graph", .kind = "rewrite"};
  std::string what;
  for (const model::rewrite& r : model::by_rule(other.graph->rewrites)) {
    what += fmt::format("{}{} at {} node{}", what.empty() ? "" : ", ", r.rule, r.nodes.size(),
                        r.nodes.size() == 1 ? "" : "s");
    one.evidence.push_back(r.rule + ": " + model::savings_text(r));
  }
  const std::map<int, double> nodes = detail::rewritten_nodes(*g.model.graph, *other.graph);
  for (const auto& [n, saved] : nodes)
    one.nodes.push_back(n);
  if (g.framework != nullptr && detail::computes_less(*g.framework, nodes)) {
    out.not_worth.push_back(
        {"rewrite", what + ": the framework does it by itself", "rewriting the graph (done)"});
    return out;
  }
  one.evidence.push_back(fmt::format("by the model's graph a run should take {}, by the rewritten "
                                     "one {}",
                                     detail::time_text(own->ns), detail::time_text(less->ns)));
  const bound::figure best = detail::between_figures(*own, *less);
  if (const double its = g.framework == nullptr ? 0 : detail::framework_saves(*g.framework, nodes);
      its > 0) {
    one.saves = {
        .ns = its, .low_ns = std::clamp(best.ns, 0.0, its), .high_ns = std::max(best.high_ns, its)};
    one.evidence.push_back(
        "what the framework's own operators at these nodes take, by the operations that are left");
    one.assumes = "the framework's kernels keep their pace; results differ by rounding";
  } else {
    if (!g.model.rewritten || best.ns <= 0) return out;
    one.saves = best;
    one.assumes = "a framework's kernels gain what the best ones gain; results differ by rounding";
  }
  one.what = "rewrite the model: " + what;
  one.leads_to = "the rewritten graph";
  one.bound_ns = other.fastest_form().bound.sequential.ns;
  const std::string from = bound::shell_file(g.model.graph->model + ".onnx"),
                    to = bound::shell_file(g.model.graph->model + "_rewritten.onnx");
  one.how = {.by = doer::you,
             .kind = way::rewrite,
             .text = "benanza_generate rewrite writes it",
             .command = fmt::format("benanza_generate rewrite {} -o {}", from, to)};
  one.check = fmt::format("benanza_measure_framework {} {} --threads {}",
                          g.framework == nullptr ? "onnxruntime"
                                                 : bound::shell_word(g.framework->from->framework),
                          to, g.model.threads);
  out.items.push_back(std::move(one));
  return out;
}

} // namespace benanza::advice
