// SPDX-License-Identifier: Apache-2.0
// How long does a model take if its layers run one after the other, and if independent ones run at
// the same time? The sum over all nodes, and never less than the longest path through its graph:
// the sequential and the parallel lower bound of Benanza (IPDPS 2020). Layers are timed one by one,
// so the sum is "unfused": a framework that runs two layers as one can beat it. k workers, each
// running one layer at a time, take never less than sum / k; measured branches met that within 3 %.
//
//   double sum_ns = sequential(counts(graph), layer_ns);
//   path p = longest_path(graph, on_nodes(graph, layer_ns));   reachable(p.ns, sum_ns, 2)
#pragma once

#include "../model/graph.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace benanza::bound {

namespace detail {
/// The number of a node, a layer or a tensor as a place in a vector.
inline std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}
} // namespace detail

/// The sum of what the layers take, each as often as nodes use it.
inline double sequential(const std::vector<std::int64_t>& counts,
                         const std::vector<double>& layer_ns) {
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    sum += static_cast<double>(counts[i]) * layer_ns[i];
  return sum;
}

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
    out.push_back(n.layer == model::no_layer ? 0 : layer_ns[detail::at(n.layer)]);
  return out;
}

/// The path to the node that ends last; `before[i]` is the node that node i waits for, or -1.
inline path path_to_last(const std::vector<double>& ends, const std::vector<int>& before) {
  path out;
  if (ends.empty()) return out;
  // Of nodes that end last, the one that comes last is a sink.
  auto last = static_cast<int>(ends.rend() - std::max_element(ends.rbegin(), ends.rend())) - 1;
  out.ns = ends[detail::at(last)];
  for (; last >= 0; last = before[detail::at(last)])
    out.nodes.push_back(last);
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
      if (const double ns = ends[detail::at(from)]; before[i] < 0 || ns > start) {
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
