// SPDX-License-Identifier: Apache-2.0
// What is a model made of? A row a layer: name, operator, key, output dims, multiply-accumulates,
// parameters and bytes moved; then the totals, and how often each operator occurs. As text for
// people and as JSON for programs, with the units in the names.
//
//   std::string page = stats_text(graph);   nlohmann::ordered_json j = stats_json(graph);
#pragma once

#include "../include/benanza/model/graph.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace benanza::generator {

namespace detail {
/// What one node does; all zero for views and for what could not be resolved.
struct node_stats {
  const model::node* node = nullptr;
  const op::layer* layer = nullptr;
  op::work cost{};
  std::int64_t bytes = 0;
  std::int64_t result_bytes = 0;
  std::int64_t parameters() const { return cost.weights + cost.vectors; }
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
  for (const op::layer& l : g.layers)
    s.unique += !op::is_view(l);
  for (const model::node& n : g.nodes) {
    node_stats r{.node = &n};
    ++s.operators[n.op];
    if (n.layer == model::no_layer) {
      ++s.unresolved;
    } else {
      r.layer = &g.layers[static_cast<std::size_t>(n.layer)];
      r.cost = op::cost(*r.layer);
      r.bytes = r.cost.bytes(g.type);
      s.views += op::is_view(*r.layer);
      if (!op::is_view(*r.layer))
        r.result_bytes = elements(op::output(*r.layer)) * size_bytes(result_of(g.type));
    }
    s.macs += r.cost.macs;
    s.flops += r.cost.flops();
    s.bytes += r.bytes;
    s.activation_bytes += r.result_bytes;
    s.operator_macs[n.op] += r.cost.macs;
    s.rows.push_back(r);
  }
  return s;
}

inline std::string dims_text(const shape& s) {
  std::string out;
  for (std::int64_t d : s)
    out += (out.empty() ? "" : "x") + std::to_string(d);
  return out.empty() ? "scalar" : out;
}

/// 25557032 as "25.6M": at most three digits before the prefix.
inline std::string short_number(std::int64_t n) {
  static constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  double value = static_cast<double>(n);
  std::size_t p = 0;
  while (value >= 999.5 && p + 1 < std::size(prefixes))
    value /= 1000, ++p;
  if (p == 0) return std::to_string(n);
  return fmt::format("{:.{}f}{}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, prefixes[p]);
}

/// Text of at most `width` columns; control characters of hostile names do not reach the terminal.
inline std::string cell(std::string_view text, std::size_t width) {
  std::string out;
  for (const char c : text)
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '_' : c;
  if (out.size() > width) out = out.substr(0, width - 2) + "..";
  return out;
}
} // namespace detail

/// The layers of a model and their totals, for a terminal of 120 columns.
inline std::string stats_text(const model::graph& g) {
  const detail::model_stats s = detail::count_model(g);
  std::string out =
      fmt::format("{}, {}\n\n{:<24} {:<18} {:<34} {:<16} {:>6} {:>6} {:>6}\n", g.name, name(g.type),
                  "layer", "operator", "key", "output", "MACs", "params", "bytes");
  for (const detail::node_stats& r : s.rows) {
    if (r.layer == nullptr) {
      out += fmt::format("{:<24} {:<18} not resolved: {}\n", detail::cell(r.node->name, 24),
                         detail::cell(r.node->op, 18), detail::cell(r.node->problem, 60));
      continue;
    }
    out += fmt::format("{:<24} {:<18} {:<34} {:<16} {:>6} {:>6} {:>6}\n",
                       detail::cell(r.node->name, 24), detail::cell(r.node->op, 18),
                       detail::cell(op::key(*r.layer), 34),
                       detail::cell(detail::dims_text(op::output(*r.layer)), 16),
                       detail::short_number(r.cost.macs), detail::short_number(r.parameters()),
                       detail::short_number(r.bytes));
  }
  const auto nodes = static_cast<std::int64_t>(s.rows.size());
  out += fmt::format("\n{} layers: {} measured ({} unique), {} views that cost nothing", nodes,
                     nodes - s.views - s.unresolved, s.unique, s.views);
  if (s.unresolved > 0) out += fmt::format(", {} not resolved", s.unresolved);
  out += fmt::format("; {} nodes on constants were folded\n"
                     "{} multiply-accumulates, {} flops, {} parameters ({}B), {}B of results, "
                     "{}B moved\n\n",
                     g.folded, detail::short_number(s.macs), detail::short_number(s.flops),
                     detail::short_number(g.parameters), detail::short_number(g.parameter_bytes),
                     detail::short_number(s.activation_bytes), detail::short_number(s.bytes));
  for (const auto& [name, count] : s.operators)
    out += fmt::format("{:>6} {:<24} {:>8} MACs\n", count, detail::cell(name, 24),
                       detail::short_number(s.operator_macs.at(name)));
  for (const std::string& r : g.repairs)
    out += fmt::format("changed: {}\n", r);
  return out + "\n";
}

/// The same as JSON.
inline nlohmann::ordered_json stats_json(const model::graph& g) {
  using nlohmann::ordered_json;
  const detail::model_stats s = detail::count_model(g);
  ordered_json layers = ordered_json::array();
  for (const detail::node_stats& r : s.rows) {
    ordered_json row{{"name", r.node->name}, {"op", r.node->op}};
    if (r.layer == nullptr) {
      row["problem"] = r.node->problem;
    } else {
      const shape output = op::output(*r.layer);
      row["family"] = op::family(*r.layer);
      row["key"] = op::key(*r.layer);
      row["view"] = op::is_view(*r.layer);
      row["output"] = std::vector<std::int64_t>(output.begin(), output.end());
      row["macs"] = r.cost.macs;
      row["flops"] = r.cost.flops();
      row["parameters"] = r.parameters();
      row["bytes"] = r.bytes;
    }
    row["inputs"] = r.node->inputs;
    layers.push_back(std::move(row));
  }
  const auto nodes = static_cast<std::int64_t>(s.rows.size());
  ordered_json unresolved = ordered_json::array();
  for (const auto& [what, count] : model::unresolved(g))
    unresolved.push_back({{"op", what.first}, {"problem", what.second}, {"count", count}});
  return {{"name", g.name},
          {"model", g.model},
          {"batch", g.batch},
          {"type", name(g.type)},
          {"totals",
           {{"layers", nodes},
            {"measured", nodes - s.views - s.unresolved},
            {"unique", s.unique},
            {"views", s.views},
            {"unresolved", s.unresolved},
            {"folded", g.folded},
            {"macs", s.macs},
            {"flops", s.flops},
            {"parameters", g.parameters},
            {"parameter_bytes", g.parameter_bytes},
            {"activation_bytes", s.activation_bytes},
            {"bytes", s.bytes}}},
          {"operators", s.operators},
          {"unresolved", std::move(unresolved)},
          {"repairs", g.repairs},
          {"layers", std::move(layers)}};
}

} // namespace benanza::generator
