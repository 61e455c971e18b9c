// SPDX-License-Identifier: Apache-2.0
// Which graph does the page draw? That of the form that should run: each node with the layers it
// runs as, one or its parts, the nodes that it reads, and whether the longest path goes through it.
//
//   drawn_graph g(model);   g.node_of(17)   g.json(known_texts)
#pragma once

#include "../../bound/figures.hpp"
#include "numbers.hpp"

#include <range/v3/view/enumerate.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace benanza::report::html {

/// The graph of a model's fastest form. Refers to the model.
class drawn_graph {
public:
  explicit drawn_graph(const bound::model_bound& b)
      : b_(b)
      , form_(b.fastest_form()) {}

  /// The node in which one of the unfused graph is.
  int node_of(int unfused) const {
    return b_.fused ? b_.fused->pair.owner[static_cast<std::size_t>(unfused)] : unfused;
  }
  /// The same of several, each once.
  std::vector<int> nodes_of(const std::vector<int>& unfused) const {
    std::vector<int> out;
    for (int n : unfused)
      out.push_back(node_of(n));
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  /// {"nodes": [[name, operator, layers it runs as, nodes it reads], ...], "path": [...]}
  ordered_json json(texts& known) const {
    ordered_json nodes = ordered_json::array();
    for (const auto& [i, n] : ranges::views::enumerate(form_.graph->nodes))
      nodes.push_back({printable(n.name, 200), known.of(n.op), layers_of(i, n), n.inputs});
    return {{"nodes", std::move(nodes)}, {"path", form_.bound.longest.nodes}};
  }

private:
  std::vector<std::size_t> layers_of(std::size_t i, const model::node& n) const {
    const auto at = [](int v) { return static_cast<std::size_t>(v); };
    if (!b_.fused)
      return n.layer == model::no_layer ? std::vector<std::size_t>{} : std::vector{at(n.layer)};
    if (n.parts.size() > 1 && b_.fused->as_one[i] != 0) {
      if (n.layer == model::no_layer) return {};
      return {b_.fused->layers[at(n.layer)]};
    }
    std::vector<std::size_t> out;
    for (int part : n.parts)
      if (const int l = b_.graph->nodes[at(part)].layer; l != model::no_layer) out.push_back(at(l));
    return out;
  }

  const bound::model_bound& b_;
  const bound::form_figures& form_;
};

} // namespace benanza::report::html
