// SPDX-License-Identifier: Apache-2.0
// How do refusals speak of a plan? They name the model, the node and its layer, and say what to do.
//
//   throw error("a view has no operand", node_place(graph, 3), plan_again);
//   // (net@batch=1, pool5, MaxPool/1x32x9x9-3x3-s2)
#pragma once

#include "../../core/text.hpp"
#include "../../model/graph.hpp"

#include <string>
#include <string_view>

namespace benanza::measure {

inline constexpr std::string_view plan_again =
    "generate the model again, measure it, and write the plan from that result";

/// The layer of a node; refuses a node that has none.
inline const op::layer& layer_at(const model::graph& g, int node) {
  const model::node& n = g.nodes[static_cast<std::size_t>(node)];
  if (n.layer == model::no_layer)
    throw error("a node has no layer: " + n.op, g.name + ", " + n.name, plan_again);
  return g.layers[static_cast<std::size_t>(n.layer)];
}

/// The model, the node and its layer.
inline std::string node_place(const model::graph& g, int node) {
  return g.name + ", " + g.nodes[static_cast<std::size_t>(node)].name + ", " +
         op::name(layer_at(g, node));
}

/// What to do where an algorithm does not do in a chain what it did alone.
inline std::string measure_again(const op::layer& l) {
  std::string regex;
  for (const char c : op::name(l))
    regex.append(c == '+' ? "\\" : "").push_back(c);
  return "measure it again with --benchmark_filter='^" + regex +
         "/', and write the plan from that result";
}

/// `1x64x56x56`.
inline std::string dims_text(const shape& s) {
  return s.size == 0 ? "scalar" : join(s, "x");
}

} // namespace benanza::measure
