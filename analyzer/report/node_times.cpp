// SPDX-License-Identifier: Apache-2.0
#include "node_times.hpp"

#include <benanza/bound/form_totals.hpp>

#include <cstddef>
#include <functional>
#include <queue>
#include <utility>

namespace benanza::report {

namespace {
/// What each node of the form takes, given a time of each layer.
std::vector<double> form_times(const bound::model_bound& b, const std::vector<double>& layer_ns) {
  if (!b.fused) return bound::on_nodes(*b.graph, layer_ns);
  const bound::detail::fused_times t = bound::detail::times_as_fused(b, layer_ns);
  std::vector<double> out;
  for (std::size_t i = 0; i < t.own.size(); ++i) {
    const auto [own, parts] = b.fused->pair.times(i, t.own, t.parts);
    const double ns = std::min(own, parts);
    out.push_back(ns < bound::detail::never ? ns : 0);
  }
  return out;
}
} // namespace

std::vector<node_times> times_of_nodes(const bound::model_bound& b) {
  const bound::form_figures& form = b.fastest_form();
  const model::graph& g = *form.graph;
  const bound::layer_times point = bound::point_times(b.layers);
  std::vector<double> roofs;
  for (const bound::layer_answer& l : b.layers)
    roofs.push_back(l.roofline.value_or(bound::roof{}).ns);
  const std::vector<double> bounds = form_times(b, point.bound),
                            predictions = form_times(b, point.prediction),
                            rooflines = form_times(b, roofs);
  std::vector<node_times> out(g.nodes.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    node_times& n = out[i];
    n.bound_ns = bounds[i];
    n.prediction_ns = predictions[i];
    n.roofline_ns = rooflines[i];
    const model::node& of = g.nodes[i];
    n.as_one = !b.fused || of.parts.size() < 2 || b.fused->as_one[i] != 0;
    const auto known = [&](int node) {
      const int l = b.graph->nodes[bound::detail::at(node)].layer;
      return l != model::no_layer && b.layers[bound::detail::at(l)].known();
    };
    n.known = n.as_one && b.fused && of.parts.size() > 1 ? true // its time won
              : b.fused ? std::all_of(of.parts.begin(), of.parts.end(), known)
                        : known(static_cast<int>(i));
    if (n.as_one && of.layer != model::no_layer) n.layer = op::name(*model::layer_of(g, of));
  }
  for (const int i : form.bound.longest.nodes)
    out[bound::detail::at(i)].on_path = true;
  return out;
}

namespace {
/// True for fused nodes whose parts end sooner than they do as one, if each starts as soon as it
/// can: a part that waits for one operand does not hold up the others.
std::vector<char> end_sooner_in_parts(const bound::model_bound& b,
                                      const bound::detail::fused_times& t) {
  const bound::fusion& pair = b.fused->pair;
  std::vector<char> out;
  std::vector<double> ends(pair.unfused->nodes.size(), 0); // of the unfused nodes
  for (std::size_t i = 0; i < pair.fused->nodes.size(); ++i) {
    const std::vector<int>& parts = pair.fused->nodes[i].parts;
    double start = 0, in_parts = 0;
    for (const int p : parts) {
      double begin = 0;
      for (const int from : pair.unfused->nodes[bound::detail::at(p)].inputs) {
        begin = std::max(begin, ends[bound::detail::at(from)]);
        if (pair.owner[bound::detail::at(from)] != static_cast<int>(i))
          start = std::max(start, ends[bound::detail::at(from)]);
      }
      ends[bound::detail::at(p)] = begin + t.parts[bound::detail::at(p)];
      in_parts = std::max(in_parts, ends[bound::detail::at(p)]);
    }
    out.push_back(in_parts < start + t.own[i]);
    if (out.back() == 0)
      for (const int p : parts)
        ends[bound::detail::at(p)] = start + t.own[i];
  }
  return out;
}

void wait_for(task& t, int other) {
  if (std::find(t.waits_for.begin(), t.waits_for.end(), other) == t.waits_for.end())
    t.waits_for.push_back(other);
}
} // namespace

std::vector<task> tasks_of(const bound::model_bound& b) {
  const std::vector<double> layer_ns = bound::point_times(b.layers).bound;
  std::vector<task> out;
  if (!b.fused) {
    const std::vector<double> ns = bound::on_nodes(*b.graph, layer_ns);
    for (std::size_t i = 0; i < ns.size(); ++i)
      out.push_back(
          {.node = static_cast<int>(i), .ns = ns[i], .waits_for = b.graph->nodes[i].inputs});
    return out;
  }
  const bound::fusion& pair = b.fused->pair;
  const bound::detail::fused_times t = bound::detail::times_as_fused(b, layer_ns);
  const std::vector<char> sooner = end_sooner_in_parts(b, t);
  std::vector<int> task_of(pair.unfused->nodes.size(), -1);
  for (std::size_t i = 0; i < pair.fused->nodes.size(); ++i) {
    const auto [own, parts_ns] = pair.times(i, t.own, t.parts);
    const bool in_parts = b.workers > 1 ? sooner[i] != 0 : parts_ns < own;
    if (!in_parts) out.push_back({.node = static_cast<int>(i), .ns = own});
    for (const int p : pair.fused->nodes[i].parts) {
      const double ns = t.parts[bound::detail::at(p)];
      if (in_parts)
        out.push_back({.node = p, .part = true, .ns = ns < bound::detail::never ? ns : 0});
      task_of[bound::detail::at(p)] = static_cast<int>(out.size()) - 1;
      for (const int from : pair.unfused->nodes[bound::detail::at(p)].inputs)
        if (const int other = task_of[bound::detail::at(from)];
            other != static_cast<int>(out.size()) - 1)
          wait_for(out.back(), other);
    }
  }
  return out;
}

std::vector<task> schedule(const bound::model_bound& b) {
  std::vector<task> out = tasks_of(b);
  const std::size_t n = out.size();
  std::vector<std::vector<std::size_t>> readers(n);
  std::vector<std::size_t> waits(n, 0);
  std::vector<double> way(n, 0); // from its beginning to the end of the model
  for (std::size_t i = 0; i < n; ++i)
    for (const int from : out[i].waits_for) {
      readers[bound::detail::at(from)].push_back(i);
      ++waits[i];
    }
  for (std::size_t i = n; i-- > 0;) {
    double behind = 0;
    for (const std::size_t r : readers[i])
      behind = std::max(behind, way[r]);
    way[i] = out[i].ns + behind;
  }
  using ready_task =
      std::pair<double, std::size_t>; // its way, and how early it occurs in the model
  std::priority_queue<ready_task> ready;
  using end = std::pair<double, std::size_t>;
  std::priority_queue<end, std::vector<end>, std::greater<>> running;
  std::priority_queue<int, std::vector<int>, std::greater<>> idle;
  for (int w = 0; w < std::max(b.workers, 1); ++w)
    idle.push(w);
  for (std::size_t i = 0; i < n; ++i)
    if (waits[i] == 0) ready.push({way[i], n - i});
  double now = 0;
  while (!ready.empty() || !running.empty()) {
    while (!ready.empty() && !idle.empty()) {
      const std::size_t i = n - ready.top().second;
      ready.pop();
      out[i].worker = idle.top();
      out[i].begin_ns = now;
      idle.pop();
      running.push({now + out[i].ns, i});
    }
    const auto [at, i] = running.top();
    running.pop();
    now = at;
    idle.push(out[i].worker);
    for (const std::size_t r : readers[i])
      if (--waits[r] == 0) ready.push({way[r], n - r});
  }
  return out;
}

} // namespace benanza::report
