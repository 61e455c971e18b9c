// SPDX-License-Identifier: Apache-2.0
// What is a sequence of layers? A small graph of its own: some nodes of a model, in their order,
// with the edges between them; what others make comes from its caller. Its text is the names of its
// layers and those edges, so equal sequences of any models have one text, and one short
// fingerprint, by which it is called: `sequence/3-9ae16a3b2f90404f`. No name of a node or a model,
// and no weight, is in either.
//
//   graph s = sequence_of(graph, {4, 5, 6});   s.name == "sequence/3-9ae16a3b2f90404f"
//   text_of(s)   // "Conv/1x3x8x8-4x3x3 i c;Relu/1x4x6x6 0;..."
#pragma once

#include "../core/checksum.hpp"
#include "graph.hpp"
#include "operands.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::model {

inline constexpr std::string_view sequence_family = "sequence";
inline constexpr std::string_view sequence_prefix = "sequence/"; ///< no model's name has a slash

/// True for a sequence; the other graphs are models.
inline bool is_sequence(const graph& g) {
  return std::string_view(g.name).starts_with(sequence_prefix);
}

/// The canonical text: a layer and where its operands come from, a row a node. Models of another
/// class of numbers than f32 have sequences of their own.
inline std::string text_of(const graph& s) {
  std::string out = s.type == numeric::f32 ? "" : std::string(name(s.type)) + ':';
  for (const node& n : s.nodes) {
    const op::layer* l = layer_of(s, n);
    out += (l != nullptr ? op::name(*l) : "?" + n.op) + ' ' + write_operands(known_operands(n));
    out += ';';
  }
  return out;
}

/// How long it is, and a checksum of its text.
inline std::string fingerprint(const graph& s) {
  return std::to_string(s.nodes.size()) + '-' + fnv1a(text_of(s));
}

/// The sequence of those nodes of `g`, which ascend.
inline graph sequence_of(const graph& g, const std::vector<int>& nodes) {
  graph out;
  out.type = g.type;
  std::map<int, int> place; // of the nodes of `g`
  std::map<std::string, int> layers;
  for (const int i : nodes) {
    const node& from = g.nodes[static_cast<std::size_t>(i)];
    node n;
    n.op = from.op;
    n.name = std::to_string(out.nodes.size());
    n.problem = from.problem;
    if (const op::layer* l = layer_of(g, from)) {
      n.op = op::family(*l);
      const auto [at, fresh] = layers.try_emplace(op::name(*l), from.layer);
      n.layer = at->second;
    }
    for (operand o : known_operands(from)) {
      const auto made = place.find(o.node);
      if (o.node >= 0 && made == place.end()) o = {model_input, made_elsewhere};
      if (made != place.end()) o.node = made->second;
      n.operands.push_back(o);
    }
    n.inputs = inputs_of(n.operands);
    place.emplace(i, static_cast<int>(out.nodes.size()));
    out.nodes.push_back(std::move(n));
  }
  std::map<int, int> number; // by that in `g`
  for (const auto& [name, old] : layers) {
    number.emplace(old, static_cast<int>(out.layers.size()));
    out.layers.push_back(g.layers[static_cast<std::size_t>(old)]);
  }
  for (node& n : out.nodes)
    if (n.layer != no_layer) n.layer = number.at(n.layer);
  out.name = std::string(sequence_prefix) + fingerprint(out);
  return out;
}

/// True if every layer is known, so that it can be run.
inline bool resolved(const graph& s) {
  return std::all_of(s.nodes.begin(), s.nodes.end(),
                     [](const node& n) { return n.layer != no_layer; });
}

/// True if it only looks at memory in another way: nothing runs, and it takes no time.
inline bool only_views(const graph& s) {
  return std::all_of(s.nodes.begin(), s.nodes.end(), [&s](const node& n) {
    const op::layer* l = layer_of(s, n);
    return l != nullptr && op::is_view(*l);
  });
}

} // namespace benanza::model
