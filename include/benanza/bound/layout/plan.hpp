// SPDX-License-Identifier: Apache-2.0
// Which plan should a model run by? The assignment of algorithms and layouts that its prediction
// rests on, as a graph in which fused nodes that are faster as their parts are split into them.
//
//   result::plan p = plan_of(run, analyse(source(run), graph, {numeric::f32, 1}), true);
#pragma once

#include "../../model/layer_table.hpp"
#include "../../model/operands.hpp"
#include "../../result/plan.hpp"
#include "../figures.hpp"

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace benanza::bound {

namespace detail {
/// The graph of the nodes that run, in the order of the steps.
inline model::graph graph_of(const model_bound& b, const layout_solution& l, bool fused) {
  const model::graph& whole = fused ? *b.fused->graph : *b.graph;
  model::graph out = whole;
  out.nodes.clear();
  out.layers.clear();
  const auto original = [&](const layout_step& s) -> const model::node& {
    return (s.fused ? whole : *b.graph).nodes[at(s.node)];
  };
  const auto layer_of = [&](const layout_step& s) -> const op::layer& {
    return (s.fused ? whole : *b.graph).layers[at(original(s).layer)];
  };
  model::layer_table layers(l.steps | ranges::views::transform(layer_of) | ranges::to<std::vector>);
  // Where the results of each node of the unfused form are made.
  std::vector<model::operand> made(b.graph->nodes.size());
  for (const layout_step& s : l.steps) {
    const auto here = static_cast<int>(out.nodes.size());
    model::node n = original(s);
    n.layer = layers.number_of(layer_of(s));
    n.operands = model::known_operands(n);
    for (model::operand& o : n.operands) {
      if (o.node < 0) continue;
      if (s.fused) o = b.fused->pair.unfused_result(o);
      const model::operand& from = made[at(o.node)];
      o.node = from.node;
      o.output = std::max(o.output, from.output);
    }
    n.inputs = model::inputs_of(n.operands);
    if (s.fused) {
      for (int part : n.parts)
        made[at(part)] = {.node = here};
      if (b.fused->pair.shows_sum(at(s.node))) made[at(n.parts.front())].output = 1;
    } else {
      made[at(s.node)] = {.node = here};
      if (fused) n.parts = {s.node};
    }
    out.nodes.push_back(std::move(n));
  }
  out.layers = std::move(layers).layers();
  return out;
}

inline std::string text_of(const std::vector<layout>& layouts) {
  std::string out;
  for (layout l : layouts)
    out.append(out.empty() ? "" : ",").append(name(l));
  return out;
}
} // namespace detail

/// The plan that the prediction of `b` rests on, of its fused form or of the unfused one. Refuses a
/// model of which a layer was not measured, or whose layouts are not known.
inline result::plan plan_of(const result::run& r, const model_bound& b, bool fused) {
  const form_figures& form = b.form(fused);
  const auto refuse = [&](const std::string& what, const std::string& remedy) {
    throw error("there is no plan for " + form.graph->name + ": " + what, r.source, remedy);
  };
  if (model::is_training_step(*b.graph))
    refuse("a step of training is no run of all its operators, only of products", "choose a model");
  for (const auto* rows : {&b.covered.holes, &b.covered.rooflines})
    if (!rows->empty())
      refuse("no time was measured for " + rows->front().name,
             rows->front().command.empty() ? "leave that model out" : rows->front().command);
  if (!form.layouts) refuse("the algorithms' layouts are not known", "measure again");
  if (!form.layouts->prediction || !form.layouts->bound)
    refuse("a reorder that its layouts need was not measured", "measure with the family reorder");
  const layout_solution& l = *form.layouts->prediction;

  result::plan out;
  out.graph = detail::graph_of(b, l, fused);
  out.type = b.type;
  out.threads = b.threads;
  out.bound_ns = form.layouts->bound->total.ns;
  out.prediction_ns = l.total.ns;
  out.prediction_low_ns = l.total.low_ns;
  out.prediction_high_ns = l.total.high_ns;
  out.provenance = r.provenance;
  for (const layout_step& s : l.steps) {
    result::plan_step step{.backend = {},
                           .algorithm = {},
                           .operand_layouts = detail::text_of(s.operands),
                           .result_layout = std::string(name(s.result))};
    if (s.runs != nullptr) {
      step.backend = s.runs->backend;
      step.algorithm = s.runs->algorithm;
      if (s.runs->type != name(b.type))
        refuse(s.runs->family + "/" + s.runs->key + " was measured in " + s.runs->type + " only",
               "choose that type with --type");
    }
    out.steps.push_back(std::move(step));
  }
  return out;
}

} // namespace benanza::bound
