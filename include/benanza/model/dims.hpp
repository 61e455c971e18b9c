// SPDX-License-Identifier: Apache-2.0
// How large are the tensors that nodes hand on? (Those of a layer alone: op/layer.hpp.)
//
//   result_dims(graph, {17, 1})         // of the second result of node 17
#pragma once

#include "graph.hpp"

#include <optional>

namespace benanza::model {

/// Dims of a result of a node; nothing: unknown.
inline std::optional<shape> result_dims(const graph& g, const operand& o) {
  const op::layer* l = layer_of(g, g.nodes[static_cast<std::size_t>(o.node)]);
  return l == nullptr ? std::nullopt : op::result_dims(*l, o.output);
}

/// Storage of a result of a node; real where it is not known.
inline dtype result_element(const graph& g, const operand& o) {
  const op::layer* l = layer_of(g, g.nodes[static_cast<std::size_t>(o.node)]);
  return l == nullptr ? dtype::real : op::result_element(*l, o.output);
}

} // namespace benanza::model
