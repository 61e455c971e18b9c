// SPDX-License-Identifier: Apache-2.0
// Which tensors are passed between the nodes of a graph, who makes them, who reads them, and how
// large are they? Weights are none of them. What nobody reads, the model's caller takes. Inputs of
// the model are told apart by their dims alone.
//
//   tensor_table t(graph);   t.reads[5]   // the tensors that node 5 reads, in ONNX order
#pragma once

#include "../model/graph.hpp"
#include "assignment.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

namespace benanza::bound {

/// Where the activations come from that a node reads, in ONNX order.
inline std::vector<model::operand> activations(const model::node& n) {
  std::vector<model::operand> out;
  for (const model::operand& o : n.operands)
    if (o.node != model::constant) out.push_back(o);
  if (!n.operands.empty()) return out;
  for (int i : n.inputs)
    out.push_back({i, 0});
  if (out.empty()) out.push_back({model::model_input, 0});
  return out;
}

namespace detail {
/// Dims of a result of a layer; nothing: unknown.
inline std::optional<shape> result_dims(const model::graph& g, const model::operand& o) {
  const int layer = g.nodes[at(o.node)].layer;
  if (layer == model::no_layer) return std::nullopt;
  const op::layer& l = g.layers[at(layer)];
  if (const auto* s = std::get_if<op::split>(&l)) {
    if (o.output >= s->parts) return std::nullopt;
    return op::part_of(s->whole, s->axis, s->parts, o.output);
  }
  return op::output(l);
}

/// Dims of the operand in that place of a layer, where its parameters tell.
template <class Layer>
std::optional<shape> operand_dims(const Layer& l, std::size_t place) {
  if constexpr (requires { l.base; }) {
    return operand_dims(l.base, place);
  } else if constexpr (requires { l.comparison(); }) {
    return place == 0 ? l.a : l.b;
  } else if constexpr (requires { l.input.size; }) {
    if (place == 0) return l.input;
  }
  return std::nullopt;
}
} // namespace detail

/// The tensors between the nodes of a graph.
struct tensor_table {
  std::vector<std::optional<shape>> dims;
  std::vector<int> maker;              ///< its node, or no_maker: the caller
  std::vector<char> at_end;            ///< whether the caller takes it
  std::vector<std::vector<int>> reads; ///< the tensors that each node reads

  explicit tensor_table(const model::graph& g) {
    std::vector<char> read(g.nodes.size(), 0);
    for (std::size_t i = 0; i < g.nodes.size(); ++i) {
      std::vector<int>& tensors = reads.emplace_back();
      for (const model::operand& o : activations(g.nodes[i])) {
        if (o.node == model::model_input) {
          tensors.push_back(given(g, i, tensors.size()));
        } else {
          tensors.push_back(number({o.node, o.output, {}}, detail::result_dims(g, o)));
          read[detail::at(o.node)] = 1;
        }
      }
    }
    for (std::size_t i = 0; i < read.size(); ++i)
      if (!read[i]) {
        const model::operand o{static_cast<int>(i), 0};
        at_end[detail::at(number({o.node, 0, {}}, detail::result_dims(g, o)))] = 1;
      }
  }

  /// The tensor that is that result of a node; -1: there is none.
  int find(const model::operand& o) const {
    const auto found = numbers_.find({o.node, o.output, {}});
    return found == numbers_.end() ? -1 : found->second;
  }

private:
  using name = std::tuple<int, int, std::vector<std::int64_t>>;

  int number(const name& n, const std::optional<shape>& size) {
    const auto [found, fresh] = numbers_.try_emplace(n, static_cast<int>(dims.size()));
    if (fresh) {
      dims.push_back(size);
      maker.push_back(std::get<0>(n));
      at_end.push_back(0);
    }
    return found->second;
  }
  /// The tensor that the caller gives to a node. One of unknown dims is nobody else's.
  int given(const model::graph& g, std::size_t node, std::size_t place) {
    std::optional<shape> size;
    if (const int l = g.nodes[node].layer; l != model::no_layer)
      size = std::visit([&](const auto& p) { return detail::operand_dims(p, place); },
                        g.layers[detail::at(l)]);
    if (size) return number({no_maker, 0, std::vector(size->begin(), size->end())}, size);
    return number({no_maker, 1, {static_cast<int>(node), static_cast<int>(place)}}, size);
  }

  std::map<name, int> numbers_;
};

} // namespace benanza::bound
