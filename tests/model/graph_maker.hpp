// SPDX-License-Identifier: Apache-2.0
// Graphs for tests, from rows of layer name and operands in the words of a generated table.
//
//   maker m;  m.add("Relu/4x5", "i").add("Tanh/4x5", "0");   m.g.nodes[1].inputs == {0}
#pragma once

#include <benanza/model/fuse.hpp>
#include <doctest/doctest.h>

#include <string>

namespace graphs {
using namespace benanza;
using namespace benanza::model;

struct maker {
  graph g;
  maker& add(const std::string& layer, const std::string& operands) {
    const int number = static_cast<int>(g.nodes.size());
    node n;
    n.name = "n" + std::to_string(number);
    const op::layer l = op::parse(layer);
    n.op = op::family(l);
    n.layer = static_cast<int>(g.layers.size());
    g.layers.push_back(l);
    n.operands = *read_operands(operands, number);
    n.inputs = inputs_of(n.operands);
    g.nodes.push_back(n);
    return *this;
  }
};

inline std::string name_of(const graph& g, int i) {
  return op::name(g.layers[static_cast<std::size_t>(g.nodes[static_cast<std::size_t>(i)].layer)]);
}

inline graph fused(const graph& g) {
  const auto f = fuse(g, default_patterns());
  REQUIRE(f);
  return *f;
}
} // namespace graphs
