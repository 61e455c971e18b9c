// SPDX-License-Identifier: Apache-2.0
// How long does a model take if independent layers run at the same time? Never less than the
// longest path through its graph, however many sources and sinks that has: the parallel lower bound
// of Benanza (IPDPS 2020). With k workers, each running one layer at a time, also never less than
// sum / k; measured branches met that within 3 % (DESIGN section 4).
//
//   path p = longest_path(graph, layer_ns);   p.ns   p.nodes   reachable(p.ns, sum_ns, 2)
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

namespace detail {
inline double node_ns(const model::node& n, const std::vector<double>& layer_ns) {
  return n.layer == model::no_layer ? 0 : layer_ns[static_cast<std::size_t>(n.layer)];
}
} // namespace detail

/// When each node of `g` ends if it starts as soon as its inputs are there. Scratch memory is kept
/// in `ends`, which a caller may use again.
inline double longest_path_ns(const model::graph& g, const std::vector<double>& layer_ns,
                              std::vector<double>& ends) {
  ends.assign(g.nodes.size(), 0);
  double last = 0;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    double start = 0;
    for (int from : g.nodes[i].inputs)
      start = std::max(start, ends[static_cast<std::size_t>(from)]);
    ends[i] = start + detail::node_ns(g.nodes[i], layer_ns);
    last = std::max(last, ends[i]);
  }
  return last;
}

/// The longest path through `g` when each layer takes `layer_ns`; nodes without a layer take
/// nothing.
inline path longest_path(const model::graph& g, const std::vector<double>& layer_ns) {
  std::vector<double> ends;
  path out;
  out.ns = longest_path_ns(g, layer_ns, ends);
  if (g.nodes.empty()) return out;
  // Of nodes that end last, the one that comes last is a sink.
  auto at = static_cast<int>(ends.rend() - std::max_element(ends.rbegin(), ends.rend())) - 1;
  while (true) {
    out.nodes.push_back(at);
    const std::vector<int>& inputs = g.nodes[static_cast<std::size_t>(at)].inputs;
    if (inputs.empty()) break;
    at = *std::max_element(inputs.begin(), inputs.end(), [&](int a, int b) {
      return ends[static_cast<std::size_t>(a)] < ends[static_cast<std::size_t>(b)];
    });
  }
  std::reverse(out.nodes.begin(), out.nodes.end());
  return out;
}

/// What k workers cannot beat, given the longest path and the sum: the larger of path and sum / k.
inline double reachable(double path_ns, double sum_ns, int workers) {
  return std::max(path_ns, sum_ns / std::max(workers, 1));
}

} // namespace benanza::bound
