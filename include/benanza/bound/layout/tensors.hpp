// SPDX-License-Identifier: Apache-2.0
// Which tensors are passed between the nodes of a graph, who makes them, who reads them, and how
// large are they? Weights are none of them. What no node reads, the model's caller takes. Inputs of
// the model are distinguished by their dims only.
//
//   tensor_table t(graph);   t.reads[5]   // the tensors that node 5 reads, in ONNX order
#pragma once

#include "../../model/dims.hpp"
#include "problem.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
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

/// The tensors between the nodes of a graph.
struct tensor_table {
  std::vector<std::optional<shape>> dims;
  std::vector<dtype> elements;         ///< storage; real where it is not known
  std::vector<int> maker;              ///< its node, or no_maker: the caller
  std::vector<char> at_end;            ///< whether the caller takes it
  std::vector<std::vector<int>> reads; ///< the tensors that each node reads
  std::vector<std::vector<int>> makes; ///< the tensors that each node makes

  explicit tensor_table(const model::graph& g)
      : makes(g.nodes.size()) {
    std::vector<char> read(g.nodes.size(), 0);
    for (std::size_t i = 0; i < g.nodes.size(); ++i) {
      std::vector<int>& tensors = reads.emplace_back();
      for (const model::operand& o : activations(g.nodes[i])) {
        if (o.node == model::model_input) {
          tensors.push_back(given(g, i, tensors.size()));
        } else {
          tensors.push_back(number({o.node, o.output, {}}, model::result_dims(g, o),
                                   model::result_element(g, o)));
          read[detail::at(o.node)] = 1;
        }
      }
    }
    for (int i = 0; i < static_cast<int>(read.size()); ++i)
      if (!read[detail::at(i)]) {
        const model::operand o{i, 0};
        at_end[detail::at(
            number({o.node, 0, {}}, model::result_dims(g, o), model::result_element(g, o)))] = 1;
      }
  }

  /// The tensor that is that result of a node; -1: there is none.
  int find(const model::operand& o) const {
    const auto found = numbers_.find({o.node, o.output, {}});
    return found == numbers_.end() ? -1 : found->second;
  }

private:
  using name = std::tuple<int, int, std::vector<std::int64_t>>;

  int number(const name& n, const std::optional<shape>& size, dtype element = dtype::real) {
    const auto [found, fresh] = numbers_.try_emplace(n, static_cast<int>(dims.size()));
    if (fresh) {
      dims.push_back(size);
      elements.push_back(element);
      maker.push_back(std::get<0>(n));
      if (maker.back() != no_maker) makes[detail::at(maker.back())].push_back(found->second);
      at_end.push_back(0);
    }
    return found->second;
  }
  /// The tensor that the caller gives to a node. One of unknown dims is given to no other.
  int given(const model::graph& g, std::size_t node, std::size_t place) {
    std::optional<shape> size;
    if (const int l = g.nodes[node].layer; l != model::no_layer)
      size = op::operand_dims(g.layers[detail::at(l)], place);
    if (size) return number({no_maker, 0, std::vector(size->begin(), size->end())}, size);
    return number({no_maker, 1, {static_cast<int>(node), static_cast<int>(place)}}, size);
  }

  std::map<name, int> numbers_;
};

/// The layouts in which tensors of some dims and type are made or read anywhere in a model, the
/// plain one among them. Only between these is a change of layout worth its time, and measured.
class layouts_in_use {
public:
  /// Notes a layout of tensors of those dims. No dims are not known, no layout is none of its own.
  void add(const std::optional<shape>& dims, dtype element, std::optional<layout> as) {
    if (dims && as)
      by_tensor_.try_emplace(key(*dims, element), plain_only()).first->second.insert(*as);
  }
  const std::set<layout>& of(const std::optional<shape>& dims, dtype element) const {
    const auto found = dims ? by_tensor_.find(key(*dims, element)) : by_tensor_.end();
    return found == by_tensor_.end() ? plain_only() : found->second;
  }

private:
  using tensor = std::pair<std::vector<std::int64_t>, dtype>;
  static tensor key(const shape& dims, dtype element) {
    return {std::vector(dims.begin(), dims.end()), element};
  }
  static const std::set<layout>& plain_only() {
    static const std::set<layout> plain{layout::plain};
    return plain;
  }
  std::map<tensor, std::set<layout>> by_tensor_;
};

} // namespace benanza::bound
