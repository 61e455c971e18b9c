// SPDX-License-Identifier: Apache-2.0
// Where does a framework's time go, against the best kernels? Its operators are matched to the
// model's nodes, and each is compared with the best that was measured of the same work: the same
// nodes, fused where they can be and the framework runs them as one. From the framework's run down
// to the roofline every step is a bar, so that they add up; what is not explained is one of them.
// Profiled times are never added up to a total: that is of runs without a profiler. Times in ns.
//
//   comparison c = compare(profile, model);   c.bars[0].what   c.rows[0].lost_ns()
#pragma once

#include "../bound/form_totals.hpp"
#include "../core/winograd.hpp"
#include "bars.hpp"

#include <range/v3/action/stable_sort.hpp>
#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/algorithm/min.hpp>
#include <range/v3/algorithm/sort.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/zip.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::advice {

namespace detail {
inline std::vector<compared_row> rows_of(const std::vector<compared_operator>& all,
                                         const trace::profile& p, int verdict) {
  std::vector<compared_row> out;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::size_t> place;
  for (const compared_operator& o : all) {
    if (o.verdict() != verdict) continue;
    const trace::profiled_operator& of = p.operators[o.op];
    const auto [found, fresh] = place.try_emplace({o.layer, of.type, of.kernel}, out.size());
    if (fresh)
      out.push_back({.layer = o.layer, .type = of.type, .kernel = of.kernel, .answer = o.answer});
    compared_row& row = out[found->second];
    ++row.count;
    row.how = std::max(row.how, o.how);
    row.nodes.insert(row.nodes.end(), o.nodes.begin(), o.nodes.end());
    row.ns += o.ns;
    row.scatter_ns += o.scatter_ns;
    row.best_ns += verdict < 0 ? o.least_ns : o.best_ns;
  }
  return std::move(out) | ranges::actions::stable_sort(ranges::greater{}, [verdict](const auto& r) {
           return verdict * r.lost_ns();
         });
}

/// True for operators that did nothing in any run.
inline bool idle(const trace::profiled_operator& o) {
  return o.ns.empty() || median_of(o.ns) <= 0;
}

inline std::vector<added_row> added_rows(const comparison& c) {
  std::map<std::string, std::pair<std::int64_t, drawn_total>> kinds;
  bound::generator random{11};
  for (const auto& [i, o] : ranges::views::enumerate(c.from->operators)) {
    if (!c.matched.added(i) || idle(o)) continue;
    auto& [count, sum] = kinds[o.type];
    ++count;
    sum.add(o.ns, random, c.profiler);
  }
  std::vector<added_row> out;
  for (const auto& [type, kind] : kinds)
    out.push_back(
        {.type = type,
         .count = kind.first,
         .takes = kind.second.figure(),
         .seen = kind.second.ns > static_cast<double>(kind.first) * c.profiler.blur_ns()});
  return std::move(out) | ranges::actions::stable_sort(
                              ranges::greater{}, [](const added_row& r) { return r.takes.ns; });
}

/// True if the operators that are these nodes together multiply, and each makes fewer elements than
/// the last of the nodes.
inline bool make_fewer(const comparison& c, const std::vector<std::size_t>& together,
                       const std::vector<int>& nodes) {
  const model::graph& g = *c.model->graph;
  const auto layer = [&g](int n) { return model::layer_of(g, g.nodes[bound::detail::at(n)]); };
  const op::layer* last = layer(nodes.back());
  return last != nullptr &&
         ranges::any_of(
             nodes, [&](int n) { return layer(n) != nullptr && op::cost(*layer(n)).macs > 0; }) &&
         ranges::all_of(together, [&](std::size_t i) {
           const std::vector<trace::profiled_tensor>& results = c.from->operators[i].results;
           return results.size() == 1 && results[0].dims &&
                  elements(*results[0].dims) < elements(op::output(*last));
         });
}

inline std::vector<compared_operator>
compared_operators(const comparison& c, const work_table& work, const bound::layer_times& times) {
  std::vector<std::vector<std::size_t>> together(c.matched.leader.size());
  for (const auto& [i, leader] : ranges::views::enumerate(c.matched.leader))
    together[bound::detail::at(leader)].push_back(i);
  std::vector<compared_operator> out;
  for (const auto& [i, nodes] : ranges::views::enumerate(c.matched.nodes)) {
    if (nodes.empty()) continue;
    compared_operator one{.op = i, .nodes = nodes, .how = c.matched.sureness(i)};
    one.known = work.known(nodes);
    for (std::size_t j : together[i]) {
      const trace::profiled_operator& o = c.from->operators[j];
      one.ns += c.profiler.taken(median_of(o.ns));
      one.scatter_ns += c.profiler.pace * scatter_of(o.ns) + c.profiler.blur_ns() / 2;
      one.known = one.known && !o.ns.empty();
    }
    one.seen = one.ns >= static_cast<double>(together[i].size()) * c.profiler.blur_ns();
    one.best_ns = work.take(nodes, times.prediction);
    one.least_ns = work.take(nodes, times.bound);
    one.fewer = make_fewer(c, together[i], nodes);
    one.answer = work.main_layer(nodes, times.prediction);
    if (one.answer != nullptr) one.layer = one.answer->name;
    out.push_back(std::move(one));
  }
  return out;
}

/// The operators in groups as the best run has its layers: several that do what it runs as one are
/// one. A framework that is faster in a part of a group only is not faster.
inline std::vector<compared_operator> compared_groups(comparison& c, const work_table& work,
                                                      const bound::layer_times& times) {
  const bound::model_bound& b = *c.model;
  if (!b.fused) return c.operators;
  std::vector<std::size_t> leader(c.operators.size()); // the first operator of its group
  std::map<int, std::size_t> first;                    // that has a part of a node of the best run
  const auto leader_of = [&leader](std::size_t i) {
    while (leader[i] != i)
      i = leader[i];
    return i;
  };
  for (const auto& [i, o] : ranges::views::enumerate(c.operators)) {
    leader[i] = i;
    for (const int n : o.nodes) {
      if (!computes(*b.graph, b.graph->nodes[bound::detail::at(n)])) continue;
      const auto [found, fresh] = first.try_emplace(b.fused->pair.owner[bound::detail::at(n)], i);
      if (fresh) continue;
      const auto [before, behind] = std::minmax({leader_of(found->second), leader_of(i)});
      leader[behind] = before;
    }
  }
  std::map<std::size_t, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < leader.size(); ++i)
    groups[leader_of(i)].push_back(i);
  std::vector<compared_operator> out;
  for (const auto& [at, members] : groups) {
    compared_operator all = c.operators[at];
    for (const std::size_t i : members | ranges::views::drop(1)) {
      const compared_operator& o = c.operators[i];
      all.nodes.insert(all.nodes.end(), o.nodes.begin(), o.nodes.end());
      all.ns += o.ns;
      all.scatter_ns += o.scatter_ns;
      all.known = all.known && o.known;
      all.seen = all.seen && o.seen;
      all.fewer = all.fewer || o.fewer;
      all.how = std::max(all.how, o.how);
    }
    if (members.size() > 1) {
      for (const std::size_t i : members)
        c.operators[i].shares = true;
      ranges::sort(all.nodes);
      all.best_ns = work.take(all.nodes, times.prediction);
      all.least_ns = work.take(all.nodes, times.bound);
      all.answer = work.main_layer(all.nodes, times.prediction);
      if (all.answer != nullptr) all.layer = all.answer->name;
    }
    out.push_back(std::move(all));
  }
  return out;
}
} // namespace detail

/// Compares a profile with the model `b`. Refers to both.
inline comparison compare(const trace::profile& p, const bound::model_bound& b) {
  comparison c{.from = &p, .model = &b};
  c.latency_profiled = p.latency_ns.empty();
  const std::vector<double>& runs = c.latency_profiled ? p.profiled_ns : p.latency_ns;
  c.latency = detail::median_figure(runs);
  if (!runs.empty()) c.least_ns = ranges::min(runs);
  c.disturbed = !p.latency_ns.empty() && !p.profiled_ns.empty() &&
                c.latency.ns > (1 + told_apart) * detail::median_of(p.profiled_ns);
  c.profiler = cost_of(p, c.latency.ns);
  for (const trace::profiled_operator& o : p.operators)
    if (const double ns = detail::median_of(o.ns);
        ns > 0 && c.profiler.taken(ns) < c.profiler.blur_ns()) {
      ++c.blurred;
      c.blurred_ns += ns;
    }
  c.matched = trace::attribute(p, *b.graph);
  const detail::work_table work(b);
  const bound::layer_times times = bound::point_times(b.layers);
  c.operators = detail::compared_operators(c, work, times);
  c.slower = detail::rows_of(c.operators, p, 1);
  c.groups = detail::compared_groups(c, work, times);
  c.faster = detail::rows_of(c.groups, p, -1);
  c.added = detail::added_rows(c);
  for (const auto& [n, owner] : ranges::views::zip(b.graph->nodes, c.matched.owner)) {
    if (!detail::computes(*b.graph, n)) continue;
    ++c.nodes;
    c.matched_nodes += owner != trace::no_operator;
  }
  for (const trace::profiled_operator& o : p.operators)
    c.winograds += names_winograd_apart(o.kernel, b.type);
  detail::add_bars(c, work);
  for (const bar& one : c.bars)
    if (one.id == "between_operators" || one.id == "unexplained") c.unexplained_ns = one.takes.ns;
  return c;
}

} // namespace benanza::advice
