// SPDX-License-Identifier: Apache-2.0
// How does a generated source hand its models to the benchmark? As constant tables: a row a node,
// with the number of its layer, its name, and the rows it reads from. `registered_graphs` turns
// them into graphs, once the layers are known.
//
//   constexpr benanza::model::row nodes_0[] = {{12, "conv0", "i c"}, {7, "relu0", "0"}};
//   const benanza::model::registration graph_0{{.name = "tiny@batch=1", .nodes = nodes_0}};
#pragma once

#include "../op/registry.hpp"
#include "layer_table.hpp"
#include "operands.hpp"

#include <range/v3/view/filter.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace benanza::model {

/// One node of a generated graph.
struct row {
  int layer; ///< number of its layer; no_layer: unresolved
  std::string_view name;
  std::string_view operands; ///< where they come from (model/operands.hpp): "17 c c"
  std::string_view parts{};  ///< of a fused row: the rows of the unfused model it stands for: "3 4"
  std::string_view op{};     ///< of an unresolved node: its ONNX operator
  std::string_view problem{};
};

/// One generated model.
struct table {
  std::string_view name;
  std::string_view model;
  std::int64_t batch = 1;
  numeric type = numeric::f32;
  std::int64_t parameters = 0;
  std::int64_t parameter_bytes = 0;
  std::int64_t folded = 0;
  std::string_view unfused{};     ///< name of the model that this is the fused form of
  std::string_view assumptions{}; ///< a line each
  std::span<const row> nodes;
};

/// All models that the program's generated sources named.
inline std::vector<table>& registered_tables() {
  static std::vector<table> tables;
  return tables;
}

/// Adds a model to the list at start-up.
struct registration {
  explicit registration(const table& t) { registered_tables().push_back(t); }
};

/// The graph that a table stands for; refuses numbers that no layer or row has.
inline graph to_graph(const table& t, const std::vector<op::registered_layer>& layers) {
  graph g;
  g.name = t.name;
  g.model = t.model;
  g.batch = t.batch;
  g.type = t.type;
  g.parameters = t.parameters;
  g.parameter_bytes = t.parameter_bytes;
  g.folded = t.folded;
  g.unfused = t.unfused;
  for (std::string_view left = t.assumptions; !left.empty();) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    g.assumptions.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }

  std::map<int, const op::layer*> by_id;
  for (const op::registered_layer& l : layers)
    by_id.emplace(l.id, &l.parameters);
  const auto of_row = [&](const row& r) -> const op::layer& {
    const auto found = by_id.find(r.layer);
    if (found == by_id.end())
      throw error("a node names layer " + std::to_string(r.layer) + ", which is not there",
                  g.name + ", " + std::string(r.name), "generate the folder again");
    return *found->second;
  };
  layer_table its_layers(t.nodes |
                         ranges::views::filter([](const row& r) { return r.layer != no_layer; }) |
                         ranges::views::transform(of_row));
  for (const row& r : t.nodes) {
    node n;
    n.name = r.name;
    if (r.layer == no_layer) {
      n.op = r.op;
      n.problem = r.problem;
    } else {
      n.op = op::family(of_row(r));
      n.layer = its_layers.number_of(of_row(r));
    }
    const auto operands = read_operands(r.operands, static_cast<int>(g.nodes.size()));
    const auto parts = read_operands(r.parts, std::numeric_limits<int>::max());
    if (!operands || !parts)
      throw error("a node reads from a row that does not come before it", g.name + ", " + n.name,
                  "generate the folder again");
    n.operands = *operands;
    n.inputs = inputs_of(n.operands);
    n.parts = inputs_of(*parts);
    g.nodes.push_back(std::move(n));
  }
  g.layers = std::move(its_layers).layers();
  return g;
}

} // namespace benanza::model
