// SPDX-License-Identifier: Apache-2.0
// How does a generated source hand its models to the benchmark? As constant tables: a row a node,
// with the number of its layer, its name, and the rows it reads from. `registered_graphs` turns
// them into graphs, once the layers are known.
//
//   constexpr benanza::model::row nodes_0[] = {{12, "conv0", "i c"}, {7, "relu0", "0"}};
//   const benanza::model::registration graph_0{{.name = "tiny@batch=1", .nodes = nodes_0}};
#pragma once

#include "../op/registry.hpp"
#include "graph.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace benanza::model {

/// One node of a generated graph.
struct row {
  int layer; ///< number of its layer; no_layer: unresolved
  std::string_view name;
  std::string_view operands; ///< where they come from (model/operands.hpp): "17 c c"
  std::string_view parts{};  ///< of a fused row: the rows of the unfused model it replaces: "3 4"
  std::string_view op{};     ///< of an unresolved node: its ONNX operator
  std::string_view problem{};
};

/// One generated model.
struct table {
  std::string_view name;
  std::string_view model;
  std::int64_t batch = 1;
  std::string_view dims{}; ///< of symbols, a line each: sequence=128
  numeric type = numeric::f32;
  std::int64_t parameters = 0;
  std::int64_t parameter_bytes = 0;
  std::int64_t streamed_weight_bytes = 0;
  token_cache cache{};
  std::int64_t folded = 0;
  std::string_view unfused{};     ///< name of the model that this is the fused form of
  std::string_view original{};    ///< name of the model that this is a rewritten form of
  std::string_view rewrites{};    ///< a line each (model/rewrites.hpp)
  std::string_view structure{};   ///< hash of the file's
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

/// The graph that a table represents; refuses numbers that no layer or row has.
graph to_graph(const table& t, const std::vector<op::registered_layer>& layers);

} // namespace benanza::model

#ifndef BENANZA_COMPILED
#include "registered_graph.hpp"
#endif
