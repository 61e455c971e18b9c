// SPDX-License-Identifier: Apache-2.0
// How large are the tensors that nodes hand on? The dims of each result of a node, and those of an
// operand that the model's caller gives, as far as the layer's parameters say them.
//
//   result_dims(graph, {17, 1})         // of the second result of node 17
//   operand_dims(op::parse("Conv/1x3x8x8-32x3x3-s1-p1"), 0)   // 1x3x8x8
#pragma once

#include "graph.hpp"

#include <cstddef>
#include <optional>
#include <variant>

namespace benanza::model {

/// Dims of a result of a node; nothing: unknown.
inline std::optional<shape> result_dims(const graph& g, const operand& o) {
  const int layer = g.nodes[static_cast<std::size_t>(o.node)].layer;
  if (layer == no_layer) return std::nullopt;
  const op::layer& l = g.layers[static_cast<std::size_t>(layer)];
  if (const auto* s = std::get_if<op::split>(&l)) {
    if (o.output >= s->parts) return std::nullopt;
    return op::part_of(s->whole, s->axis, s->parts, o.output);
  }
  const op::result_list all = op::results(l);
  return o.output < all.size ? std::optional(all[o.output].dims) : std::nullopt;
}

/// Storage of a result of a node; real where it is not known.
inline dtype result_element(const graph& g, const operand& o) {
  const int layer = g.nodes[static_cast<std::size_t>(o.node)].layer;
  if (layer == no_layer) return dtype::real;
  const op::layer& l = g.layers[static_cast<std::size_t>(layer)];
  const op::result_list all = op::results(l);
  return all[std::holds_alternative<op::split>(l) || o.output >= all.size ? 0 : o.output].element;
}

namespace detail {
template <class Parameters>
std::optional<shape> operand_dims(const Parameters& p, std::size_t place) {
  if constexpr (op::is_residual<Parameters>) {
    if (place < 2) return p.addend();
  } else if constexpr (requires { p.base; }) {
    return operand_dims(p.base, place);
  } else if constexpr (requires { p.condition; }) {
    return place == 0 ? p.condition : place == 1 ? p.x : p.y;
  } else if constexpr (requires { p.a, p.b; }) {
    return place == 0 ? p.a : p.b;
  } else if constexpr (requires { p.input.size; }) {
    if (place == 0) return p.input;
  }
  return std::nullopt;
}
} // namespace detail

/// Dims of the operand in that place among a layer's activations; nothing where its parameters do
/// not say.
inline std::optional<shape> operand_dims(const op::layer& l, std::size_t place) {
  return op::visit([place](const auto& p) { return detail::operand_dims(p, place); }, l);
}

} // namespace benanza::model
