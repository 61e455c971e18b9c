// SPDX-License-Identifier: Apache-2.0
// Which graph does a table of a generated source represent? Where BENANZA_COMPILED is defined, one
// file of the program includes this for all.
#pragma once

#include "../core/text.hpp"
#include "layer_table.hpp"
#include "operands.hpp"
#include "registry.hpp"
#include "rewrites.hpp"

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/transform.hpp>

#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::model {

/// The graph that a table represents; refuses numbers that no layer or row has.
BENANZA_INLINE graph to_graph(const table& t, const std::vector<op::registered_layer>& layers) {
  graph g;
  g.name = t.name;
  g.model = t.model;
  g.batch = t.batch;
  for (const std::string_view line : items(t.dims, "\n")) {
    const std::size_t equals = line.rfind('=');
    g.dims[std::string(line.substr(0, equals))] =
        std::strtoll(std::string(line.substr(equals + 1)).c_str(), nullptr, 10);
  }
  g.type = t.type;
  g.parameters = t.parameters;
  g.parameter_bytes = t.parameter_bytes;
  g.streamed_weight_bytes = t.streamed_weight_bytes;
  g.cache = t.cache;
  g.folded = t.folded;
  g.unfused = t.unfused;
  g.original = t.original;
  if (const auto rewrites = read_rewrites(t.rewrites))
    g.rewrites = *rewrites;
  else
    throw error("what was rewritten is not said as it should be", g.name,
                "generate the folder again");
  g.structure = t.structure;
  for (const std::string_view line : items(t.assumptions, "\n"))
    g.assumptions.emplace_back(line);

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
                         ranges::views::transform(of_row) | ranges::to<std::vector>);
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
