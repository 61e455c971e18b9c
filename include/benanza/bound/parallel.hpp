// SPDX-License-Identifier: Apache-2.0
// How long does a model take if independent layers run at the same time? Never less than the
// longest path through its graph, however many sources and sinks that has: the parallel lower bound
// of Benanza (IPDPS 2020). With k workers, each running one layer at a time, also never less than
// sum / k; measured branches met that within 3 % (DESIGN section 4).
//
//   path p = longest_path(graph, on_nodes(graph, layer_ns));   p.ns   p.nodes   reachable(p.ns,
//   sum_ns, 2)
#pragma once

#include "../model/graph.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace benanza::bound {

/// A path through a graph and what its nodes take together.
struct path {
  double ns = 0;
  std::vector<int> nodes; ///< from a source to a sink
};

/// What each node of `g` takes when each layer takes `layer_ns`; nodes without a layer take
/// nothing.
inline std::vector<double> on_nodes(const model::graph& g, const std::vector<double>& layer_ns) {
  std::vector<double> out;
  out.reserve(g.nodes.size());
  for (const model::node& n : g.nodes)
    out.push_back(n.layer == model::no_layer ? 0 : layer_ns[static_cast<std::size_t>(n.layer)]);
  return out;
}

/// The path to the node that ends last; `before[i]` is the node that node i waits for, or -1.
inline path path_to_last(const std::vector<double>& ends, const std::vector<int>& before) {
  path out;
  if (ends.empty()) return out;
  // Of nodes that end last, the one that comes last is a sink.
  auto at = static_cast<int>(ends.rend() - std::max_element(ends.rbegin(), ends.rend())) - 1;
  out.ns = ends[static_cast<std::size_t>(at)];
  for (; at >= 0; at = before[static_cast<std::size_t>(at)])
    out.nodes.push_back(at);
  std::reverse(out.nodes.begin(), out.nodes.end());
  return out;
}

/// The longest path through `g` when its nodes take `node_ns`.
inline path longest_path(const model::graph& g, const std::vector<double>& node_ns) {
  std::vector<double> ends(g.nodes.size(), 0); // if a node starts as soon as its inputs are there
  std::vector<int> before(g.nodes.size(), -1);
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    double start = 0;
    for (int from : g.nodes[i].inputs)
      if (const double ns = ends[static_cast<std::size_t>(from)]; before[i] < 0 || ns > start) {
        start = ns;
        before[i] = from;
      }
    ends[i] = start + node_ns[i];
  }
  return path_to_last(ends, before);
}

/// What k workers cannot beat, given the longest path and the sum: the larger of path and sum / k.
inline double reachable(double path_ns, double sum_ns, int workers) {
  return std::max(path_ns, sum_ns / std::max(workers, 1));
}

} // namespace benanza::bound
