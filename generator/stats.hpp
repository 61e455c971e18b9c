// SPDX-License-Identifier: Apache-2.0
// What is a model made of? A row a layer: name, operator, key, output dims, multiply-accumulates,
// parameters and bytes moved; then the totals, and how often each operator occurs.
//
//   report::tables::chapter answer = stats_answer(graphs);
#pragma once

#include "../analyzer/report/tables/page.hpp"
#include "../analyzer/report/units.hpp"
#include "messages.hpp"

#include <benanza/core/text.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/kinds.hpp>

#include <fmt/format.h>
#include <range/v3/algorithm/count_if.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/transform.hpp>

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace benanza::generator {

namespace detail {
/// How many weights a layer has, those that are stored as codes too.
struct weights_in_kind {
  std::int64_t operator()(const op::matmul_nbits& p) const {
    return p.columns() * (p.length() + (p.bias ? 1 : 0));
  }
  std::int64_t operator()(const op::matmul_ggml& p) const { return p.experts * p.n * p.length(); }
  std::int64_t operator()(const op::on_codes<op::conv>& p) const {
    return elements(p.base.weights()) + (p.base.bias ? p.base.outputs : 0);
  }
  std::int64_t operator()(const op::on_codes<op::gemm>& p) const {
    return (p.base.constant_b ? elements(p.base.b_shape()) : 0) +
           (p.base.c.empty() ? 0 : elements(p.base.c));
  }
  std::int64_t operator()(const op::on_codes<op::matmul>& p) const {
    return p.base.constant_b ? elements(p.base.b) : 0;
  }
  std::int64_t operator()(const auto& p) const {
    const op::work w = p.cost();
    return w.weights + w.vectors;
  }
};

/// What one node does; all zero for views and for what could not be resolved.
struct node_stats {
  const model::node* node = nullptr;
  const op::layer* layer = nullptr;
  op::work cost{};
  std::int64_t bytes = 0;
  std::int64_t result_bytes = 0;
  std::int64_t parameters() const {
    return layer == nullptr ? 0 : op::visit(weights_in_kind{}, *layer);
  }
};

struct model_stats {
  std::vector<node_stats> rows{};
  std::int64_t macs = 0, flops = 0, bytes = 0;
  std::int64_t activation_bytes = 0; ///< of all layers' results, as if none were ever overwritten
  std::int64_t views = 0, unresolved = 0, unique = 0;
  std::map<std::string, std::int64_t> operators{}; ///< how often each occurs
  std::map<std::string, std::int64_t> operator_macs{};
};

inline model_stats count_model(const model::graph& g) {
  model_stats s;
  s.unique = ranges::count_if(g.layers, [](const op::layer& l) { return !op::is_view(l); });
  for (const model::node& n : g.nodes) {
    node_stats r{.node = &n, .layer = model::layer_of(g, n)};
    ++s.operators[n.op];
    if (r.layer == nullptr) {
      ++s.unresolved;
    } else {
      r.cost = op::cost(*r.layer);
      r.bytes = r.cost.bytes(g.type);
      s.views += op::is_view(*r.layer);
      if (!op::is_view(*r.layer))
        for (const op::result& made : op::results(*r.layer))
          r.result_bytes += bytes_of(made.element, elements(made.dims), g.type);
    }
    const auto add = [](std::int64_t& sum, std::int64_t more) { sum = capped_add(sum, more); };
    add(s.macs, r.cost.macs);
    add(s.flops, r.cost.flops());
    add(s.bytes, r.bytes);
    add(s.activation_bytes, r.result_bytes);
    add(s.operator_macs[n.op], r.cost.macs);
    s.rows.push_back(r);
  }
  return s;
}

inline std::string dims_text(const shape& s) {
  return s.empty() ? "scalar" : join(s, "x");
}

/// A row of a layer: what it is and does, or why that is not known.
inline std::vector<report::tables::cell> layer_row(const node_stats& r) {
  using report::tables::cell, report::tables::whole;
  const model::node& n = *r.node;
  const auto inputs = n.inputs | ranges::views::transform([](int i) { return std::to_string(i); });
  std::vector<cell> row{n.name, n.op};
  if (r.layer == nullptr)
    row.insert(row.end(), {{}, {}, {}, {}, {}, {}, {}, {}, "not resolved: " + n.problem});
  else
    row.insert(row.end(),
               {std::string(op::family(*r.layer)), op::is_view(*r.layer),
                dims_text(op::output(*r.layer)), whole(r.cost.macs), whole(r.cost.flops()),
                whole(r.parameters()), whole(r.bytes), op::key(*r.layer), op::key(*r.layer)});
  row.insert(row.end(), {std::vector<std::string>(inputs.begin(), inputs.end()),
                         n.problem.empty() ? cell() : cell(n.problem)});
  return row;
}

/// Words for people: the totals of a model, and what was changed or assumed to have them.
inline void say_totals(report::tables::chapter& c, const model::graph& g, const model_stats& s) {
  const auto amount = [](std::int64_t n) { return report::show_amount(static_cast<double>(n)); };
  const auto bytes = [](std::int64_t n) { return report::show_bytes(static_cast<double>(n)); };
  const std::int64_t nodes = std::ssize(s.rows);
  c.say(fmt::format("{} layers: {} measured ({} unique), {} views that cost nothing{}; {} nodes on "
                    "constants were folded",
                    nodes, nodes - s.views - s.unresolved, s.unique, s.views,
                    s.unresolved > 0 ? fmt::format(", {} not resolved", s.unresolved) : "",
                    g.folded));
  c.say(
      fmt::format("{} multiply-accumulates, {} flops, {} parameters ({}), {} of results, {} moved",
                  amount(s.macs), amount(s.flops), amount(g.parameters), bytes(g.parameter_bytes),
                  bytes(s.activation_bytes), bytes(s.bytes)));
  const auto list = [&c](const std::vector<std::string>& lines, const char* mark,
                         const char* kind) {
    for (const std::string& line : lines | ranges::views::take(most_notes))
      c.say(fmt::format("{}: {}", mark, line));
    if (lines.size() > most_notes)
      c.say(fmt::format("and {} more {}", lines.size() - most_notes, kind));
  };
  list(g.repairs, "changed", "changes");
  list(g.assumptions, "assumed", "assumptions");
}

inline report::tables::chapter stats_of(const model::graph& g) {
  using report::tables::unit, report::tables::whole;
  const model_stats s = count_model(g);
  const std::int64_t nodes = std::ssize(s.rows);
  report::tables::chapter c{.key = "models",
                            .title = fmt::format("{}, {}", g.name, name(g.type)),
                            .title_is_name = true,
                            .fields = {{"model", g.model, true},
                                       {"batch", whole(g.batch), true},
                                       {"type", std::string(name(g.type)), true},
                                       {"name", g.name},
                                       {"nodes", nodes},
                                       {"measured", nodes - s.views - s.unresolved},
                                       {"unique", s.unique},
                                       {"views", s.views},
                                       {"unresolved", s.unresolved},
                                       {"folded", whole(g.folded)},
                                       {"macs", s.macs},
                                       {"flops", s.flops},
                                       {"parameters", g.parameters},
                                       {"parameter_bytes", g.parameter_bytes},
                                       {"activation_bytes", s.activation_bytes},
                                       {"bytes", s.bytes},
                                       {"repairs", g.repairs},
                                       {"assumptions", g.assumptions}}};
  report::tables::table layers{.key = "layers",
                               .columns = {{"name", "layer", unit::name},
                                           {"op", "operator", unit::name},
                                           {"family", ""},
                                           {"view", "", unit::flag},
                                           {"output", "output", unit::name},
                                           {"macs", "MACs", unit::amount},
                                           {"flops", "", unit::amount},
                                           {"parameters", "params", unit::amount},
                                           {"bytes", "bytes", unit::bytes},
                                           {"key", ""},
                                           {"", "key"},
                                           {"inputs", ""},
                                           {"problem", ""}}};
  for (const node_stats& r : s.rows)
    layers.rows.push_back(layer_row(r));
  c.add(std::move(layers));
  say_totals(c, g, s);
  report::tables::table operators{.key = "operators",
                                  .columns = {{"op", "operator", unit::name},
                                              {"count", "nodes", unit::count},
                                              {"macs", "MACs", unit::amount}}};
  for (const auto& [op, count] : s.operators)
    operators.rows.push_back({op, count, s.operator_macs.at(op)});
  c.add(std::move(operators));
  return c;
}
} // namespace detail

/// The layers of models and their totals.
inline report::tables::chapter stats_answer(std::span<const model::graph> graphs) {
  report::tables::chapter out;
  for (const model::graph& g : graphs)
    out.chapters.push_back(detail::stats_of(g));
  return out;
}

} // namespace benanza::generator
