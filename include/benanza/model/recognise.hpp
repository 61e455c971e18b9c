// SPDX-License-Identifier: Apache-2.0
// How does a model look where pieces are the layers that they make up? Rule after rule, from the
// last node to the first, pieces become one node with the layer that they are together, in the
// place of the last of them. What others read too stays. Takes a time that grows with the model,
// however it is made.
//
//   std::optional<graph> g = recognise(model, rules);   g->nodes[7].parts   // {9, 10, 11, 12, 15}
#pragma once

#include "layer_table.hpp"
#include "recognised.hpp"

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/indirect.hpp>
#include <range/v3/view/map.hpp>

#include <map>

namespace benanza::model {

namespace detail {
/// The graph of the nodes that are left.
inline graph graph_of(const graph& from, const pieces& in) {
  graph out = from;
  out.nodes.clear();
  out.layers.clear();
  std::vector<int> place(from.nodes.size(), constant);
  std::map<const op::layer*, int> numbers; // nodes share them
  for (int i = 0; i < in.size(); ++i)
    if (in[i].layer != nullptr && !in[i].gone) numbers.emplace(in[i].layer, 0);
  layer_table table(numbers | ranges::views::keys | ranges::views::indirect |
                    ranges::to<std::vector>);
  for (auto& [l, number] : numbers)
    number = table.number_of(*l);
  out.layers = std::move(table).layers();
  for (int i = 0; i < in.size(); ++i) {
    const pieces::place& p = in[i];
    if (p.gone) continue;
    node n = from.nodes[static_cast<std::size_t>(i)];
    n.parts = p.parts;
    n.operands = p.operands;
    for (operand& o : n.operands)
      if (o.node >= 0) o.node = place[static_cast<std::size_t>(o.node)];
    n.inputs = inputs_of(n.operands);
    if (p.layer != nullptr) {
      n.op = p.family;
      n.layer = numbers.at(p.layer);
    }
    place[static_cast<std::size_t>(i)] = static_cast<int>(out.nodes.size());
    out.nodes.push_back(std::move(n));
  }
  return out;
}
} // namespace detail

/// `g` with layers in the place of their pieces; each node's `parts` are nodes of `g`. Nothing if
/// no rule fits.
inline std::optional<graph> recognise(const graph& g, const std::vector<rule>& rules) {
  // From a node a rule is tried this often on average, or it ends before the last node.
  constexpr std::int64_t tries_a_node = 40, tries_more = 100'000;
  pieces in(g);
  bool any = false;
  for (const rule& r : rules) {
    std::int64_t tries = tries_a_node * in.size() + tries_more;
    match_search search(in, r, tries);
    for (int i = in.size(); i-- > 0;) {
      std::optional<detail::recognised> made;
      std::vector<int> nodes;
      if (!search.at(i, [&](const found& f) {
            made = detail::recognise(f);
            nodes = f.nodes;
            return made.has_value();
          }))
        continue;
      for (detail::recognised::changed& c : made->before) {
        std::erase(nodes, c.node);
        in.replace(c.node, {c.node}, std::move(c.layer), std::move(c.operands));
      }
      in.replace(i, nodes, std::move(made->layer), std::move(made->operands));
      any = true;
    }
  }
  if (!any) return std::nullopt;
  return detail::graph_of(g, in);
}

} // namespace benanza::model
