// SPDX-License-Identifier: Apache-2.0
// Which different layers do some models hold, and who uses each how often? A layer that two models
// share, or one model uses twice, is measured once.
//
//   catalogue c = unique_layers(graphs);
//   c.layers[3].layer;   c.layers[3].uses   // {{.graph = 0, .count = 2}, {.graph = 4, .count = 1}}
#pragma once

#include "graph.hpp"

#include <range/v3/algorithm/count.hpp>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/map.hpp>
#include <range/v3/view/move.hpp>
#include <range/v3/view/zip.hpp>

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
    return ranges::accumulate(uses, std::int64_t{0}, ranges::plus{}, &use::count);
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
  for (const auto& [i, g] : graphs | ranges::views::enumerate) {
    out.nodes += std::ssize(g.nodes);
    out.unresolved += ranges::count(g.nodes, no_layer, &node::layer);
    const std::vector<std::int64_t> used = counts(g);
    for (const auto& [layer, times] : ranges::views::zip(g.layers, used)) {
      if (times == 0) continue;
      catalogue_entry& e =
          by_name.try_emplace(op::name(layer), catalogue_entry{layer}).first->second;
      if (e.uses.empty() || e.uses.back().graph != i) e.uses.push_back({i});
      e.uses.back().count += times;
    }
  }
  out.layers = by_name | ranges::views::values | ranges::views::move | ranges::to<std::vector>;
  return out;
}

} // namespace benanza::model
