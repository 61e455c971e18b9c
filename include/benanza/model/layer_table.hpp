// SPDX-License-Identifier: Apache-2.0
// Which different layers are these, and which number has each? Sorted by name, as a graph's layers
// are.
//
//   layer_table table(layers_of_nodes);
//   n.layer = table.number_of(layer);   out.layers = std::move(table).layers();
#pragma once

#include "graph.hpp"

#include <string>
#include <vector>

namespace benanza::model {

class layer_table {
public:
  /// Equal layers have one number.
  explicit layer_table(const std::vector<op::layer>& layers);

  /// The number of a layer that the table holds.
  int number_of(const op::layer& l) const;

  std::vector<op::layer> layers() &&;

private:
  struct entry {
    std::string name{};
    op::layer layer{};
  };
  static entry entry_of(const op::layer& l);

  std::vector<entry> entries_;
};

/// Gives a graph its layers; until now its nodes have places in `layers`.
void number_layers(graph& g, const std::vector<op::layer>& layers);

} // namespace benanza::model

#ifndef BENANZA_COMPILED
#include "layer_numbers.hpp"
#endif
