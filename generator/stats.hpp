// SPDX-License-Identifier: Apache-2.0
// What is a model made of? A row a layer: name, operator, key, output dims, multiply-accumulates,
// parameters and bytes moved; then the totals, and how often each operator occurs. As text for
// people, as JSON for programs and as CSV for tables, with the units in the names.
//
//   std::string page = stats_text(graph);   nlohmann::ordered_json j = stats_json(graph);
//   std::string table = stats_csv({&graph, 1});
#pragma once

#include "messages.hpp"

#include <benanza/core/printable.hpp>
#include <benanza/core/text.hpp>
#include <benanza/model/graph.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <range/v3/algorithm/count_if.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
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

/// True where a cut before byte `i` would split a character.
inline bool inside_character(std::string_view text, std::size_t i) {
  return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
}

/// Text of at most `width` columns, cut in its middle for a tail of at most `tail` columns.
inline std::string cell(std::string_view text, std::size_t width, std::size_t tail = 0) {
  const std::string clean = printable(text, text.size());
  if (clean.size() <= width) return clean;
  std::size_t end = width - 2 - tail, again = clean.size() - tail;
  while (inside_character(clean, end))
    --end;
  while (inside_character(clean, again))
    ++again;
  return clean.substr(0, end) + ".." + clean.substr(again);
}

/// Columns of a page.
struct column_widths {
  std::size_t name = 24, op = 18, key = 34, output = 16;
};

/// So wide that nothing is cut but what no terminal shows.
inline column_widths needed_widths(const model_stats& s) {
  static constexpr std::size_t most = 250;
  column_widths w;
  const auto widen = [](std::size_t& column, std::size_t to) {
    column = std::clamp(to, column, most);
  };
  for (const node_stats& r : s.rows) {
    widen(w.name, r.node->name.size());
    widen(w.op, r.node->op.size());
    if (r.layer == nullptr) continue;
    widen(w.key, op::key(*r.layer).size());
    widen(w.output, dims_text(op::output(*r.layer)).size());
  }
  return w;
}

/// A field of a CSV line (RFC 4180).
inline std::string csv_field(std::string_view text) {
  std::string out;
  for (const char c : printable(text))
    out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out.find_first_of("\",") == std::string::npos ? out : '"' + out + '"';
}

inline std::string csv_line(const std::vector<std::string>& fields) {
  return join(fields | ranges::views::transform(csv_field), ",") + '\n';
}
} // namespace detail

/// The layers of a model and their totals, for a terminal of 120 columns; or as wide as they are.
inline std::string stats_text(const model::graph& g, bool wide = false) {
  const detail::model_stats s = detail::count_model(g);
  const detail::column_widths w = wide ? detail::needed_widths(s) : detail::column_widths{};
  const auto row = [&](std::string_view name, std::string_view op, std::string_view rest) {
    return fmt::format("{:<{}} {:<{}} {}\n", detail::cell(name, w.name, w.name * 2 / 3), w.name,
                       detail::cell(op, w.op), w.op, rest);
  };
  const auto figures = [&](std::string_view key, std::string_view output, std::string_view macs,
                           std::string_view parameters, std::string_view bytes) {
    return fmt::format("{:<{}} {:<{}} {:>6} {:>6} {:>6}", detail::cell(key, w.key), w.key,
                       detail::cell(output, w.output), w.output, macs, parameters, bytes);
  };
  std::string out = fmt::format("{}, {}\n\n", printable(g.name, 100), name(g.type)) +
                    row("layer", "operator", figures("key", "output", "MACs", "params", "bytes"));
  for (const detail::node_stats& r : s.rows)
    out += row(r.node->name, r.node->op,
               r.layer == nullptr
                   ? "not resolved: " + detail::cell(r.node->problem, wide ? 300 : 60)
                   : figures(op::key(*r.layer), detail::dims_text(op::output(*r.layer)),
                             detail::short_number(r.cost.macs),
                             detail::short_number(r.parameters()), detail::short_number(r.bytes)));
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
  const auto list = [&](const std::vector<std::string>& lines, const char* mark, const char* kind) {
    for (const std::string& line : lines | ranges::views::take(most_notes))
      out += fmt::format("{}: {}\n", mark, printable(line, 300));
    if (lines.size() > most_notes)
      out += fmt::format("and {} more {}\n", lines.size() - most_notes, kind);
  };
  list(g.repairs, "changed", "changes");
  list(g.assumptions, "assumed", "assumptions");
  return out + "\n";
}

/// The layers of models as a table: what JSON says of each, and its model in front.
inline std::string stats_csv(std::span<const model::graph> graphs) {
  std::string out = "model,batch,type,name,op,family,key,view,output,macs,flops,parameters,bytes,"
                    "inputs,problem\n";
  for (const model::graph& g : graphs)
    for (const detail::node_stats& r : detail::count_model(g).rows) {
      std::vector<std::string> line{g.model, std::to_string(g.batch), std::string(name(g.type)),
                                    r.node->name, r.node->op};
      if (r.layer == nullptr)
        line.resize(line.size() + 8);
      else
        for (const std::string& field :
             {std::string(op::family(*r.layer)), op::key(*r.layer),
              std::string(op::is_view(*r.layer) ? "true" : "false"),
              detail::dims_text(op::output(*r.layer)), std::to_string(r.cost.macs),
              std::to_string(r.cost.flops()), std::to_string(r.parameters()),
              std::to_string(r.bytes)})
          line.push_back(field);
      line.push_back(join(r.node->inputs, " "));
      line.push_back(r.node->problem);
      out += detail::csv_line(line);
    }
  return out;
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
          {"assumptions", g.assumptions},
          {"layers", std::move(layers)}};
}

} // namespace benanza::generator
