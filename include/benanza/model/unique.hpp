// SPDX-License-Identifier: Apache-2.0
// Which different layers do some models hold, and who uses each how often? A layer that two models
// share, or one model uses twice, is measured once.
//
//   catalogue c = unique_layers(graphs);
//   c.layers[3].layer;   c.layers[3].uses   // {{.graph = 0, .count = 2}, {.graph = 4, .count = 1}}
#pragma once

#include "graph.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace benanza::model {

/// How often one graph uses a layer.
struct use {
  std::size_t graph = 0; ///< index into the graphs given
  std::int64_t count = 0;
  bool operator==(const use&) const = default;
};

/// One layer and its users.
struct catalogue_entry {
  op::layer layer{};
  std::vector<use> uses{}; ///< in the order of the graphs; never empty in a catalogue

  /// Nodes of all graphs that use the layer.
  std::int64_t count() const {
    std::int64_t n = 0;
    for (const use& u : uses)
      n += u.count;
    return n;
  }
};

/// The different layers of some graphs, views included.
struct catalogue {
  std::vector<catalogue_entry> layers{}; ///< sorted by name, each once
  std::int64_t nodes = 0;                ///< nodes of all graphs, unresolved ones included
  std::int64_t unresolved = 0;           ///< nodes that have no layer
};

/// The different layers of `graphs`, sorted by name.
inline catalogue unique_layers(std::span<const graph> graphs) {
  catalogue out;
  std::map<std::string, catalogue_entry> by_name;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const graph& g = graphs[i];
    out.nodes += static_cast<std::int64_t>(g.nodes.size());
    for (const node& n : g.nodes)
      out.unresolved += n.layer == no_layer;
    const std::vector<std::int64_t> used = counts(g);
    for (std::size_t l = 0; l < g.layers.size(); ++l) {
      if (used[l] == 0) continue;
      catalogue_entry& e = by_name[op::name(g.layers[l])];
      if (e.uses.empty()) e.layer = g.layers[l];
      if (!e.uses.empty() && e.uses.back().graph == i)
        e.uses.back().count += used[l];
      else
        e.uses.push_back({i, used[l]});
    }
  }
  out.layers.reserve(by_name.size());
  for (auto& [name, e] : by_name)
    out.layers.push_back(std::move(e));
  return out;
}

} // namespace benanza::model
