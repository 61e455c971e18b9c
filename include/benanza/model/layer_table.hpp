// SPDX-License-Identifier: Apache-2.0
// Which different layers are these, and which number has each? Sorted by name, as a graph's layers
// are.
//
//   layer_table table(layers_of_nodes);
//   n.layer = table.number_of(layer);   out.layers = std::move(table).layers();
#pragma once

#include "graph.hpp"

#include <range/v3/action/sort.hpp>
#include <range/v3/action/unique.hpp>
#include <range/v3/algorithm/lower_bound.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/move.hpp>
#include <range/v3/view/transform.hpp>

#include <string>
#include <utility>
#include <vector>

namespace benanza::model {

class layer_table {
public:
  /// Of any range of layers; equal ones have one number.
  template <class Layers>
  explicit layer_table(Layers&& layers)
      : entries_(layers | ranges::views::transform([](const op::layer& l) { return entry_of(l); }) |
                 ranges::to<std::vector> | ranges::actions::sort(ranges::less{}, &entry::name) |
                 ranges::actions::unique(ranges::equal_to{}, &entry::name)) {}

  /// The number of a layer that the table holds.
  int number_of(const op::layer& l) const {
    const auto found = ranges::lower_bound(entries_, op::name(op::canonical_form(l)),
                                           ranges::less{}, &entry::name);
    return static_cast<int>(found - entries_.begin());
  }

  std::vector<op::layer> layers() && {
    return entries_ | ranges::views::transform(&entry::layer) | ranges::views::move |
           ranges::to<std::vector>;
  }

private:
  struct entry {
    std::string name{};
    op::layer layer{};
  };
  static entry entry_of(const op::layer& l) {
    op::layer its = op::canonical_form(l);
    return {op::name(its), std::move(its)};
  }

  std::vector<entry> entries_;
};

/// Gives a graph its layers; until now its nodes have places in `layers`.
inline void number_layers(graph& g, const std::vector<op::layer>& layers) {
  layer_table table(layers);
  for (node& n : g.nodes)
    if (n.layer != no_layer) n.layer = table.number_of(layers[static_cast<std::size_t>(n.layer)]);
  g.layers = std::move(table).layers();
}

} // namespace benanza::model
