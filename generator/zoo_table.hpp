// SPDX-License-Identifier: Apache-2.0
// How do the zoo's models compare with what is published of them? A row a model. Of the paper's
// Table I: multiply-accumulates and layers, ours next to the paper's, and why they differ where
// they do. The paper counts every ONNX node; ours are counted three ways: all nodes on activations,
// those that are measured (no views), and how many of these are unique. Of the newer models:
// parameters and multiply-accumulates next to those that their authors give.
#pragma once

#include "zoo/modern.hpp"
#include "zoo/zoo.hpp"

#include <benanza/model/unique.hpp>
#include <benanza/onnx/load.hpp>
#include <benanza/onnx/resolve.hpp>

#include <fmt/format.h>
#include <range/v3/algorithm/count_if.hpp>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace benanza::generator {

namespace detail {
/// 3858000000 as "3.86 G".
inline std::string with_prefix(double n) {
  if (n >= 1e9) return fmt::format("{:.2f} G", n / 1e9);
  return n >= 1e6 ? fmt::format("{:.1f} M", n / 1e6) : fmt::format("{:.1f} k", n / 1e3);
}

/// `text` broken at spaces into lines of at most `width`, each behind `indent`.
inline std::string wrapped(std::string_view text, std::size_t width, std::string_view indent) {
  std::string out, line;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > width) {
      out.append(indent).append(line).append("\n");
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return line.empty() ? out : out.append(indent).append(line).append("\n");
}
} // namespace detail

/// One model of the zoo, counted.
struct zoo_row {
  std::int64_t macs = 0;       ///< of convolutions and matrix products, at batch 1
  std::int64_t nodes = 0;      ///< on activations: what depends on constants only is folded away
  std::int64_t measured = 0;   ///< nodes that are no views
  std::int64_t unique = 0;     ///< different layers among the measured
  std::int64_t unresolved = 0; ///< nodes that are no layers yet
};

inline zoo_row counted(const model::graph& g) {
  zoo_row r{.nodes = static_cast<std::int64_t>(g.nodes.size())};
  r.unique = ranges::count_if(g.layers, [](const op::layer& l) { return !op::is_view(l); });
  for (const model::node& n : g.nodes) {
    const op::layer* l = model::layer_of(g, n);
    r.unresolved += l == nullptr;
    if (l == nullptr) continue;
    r.macs += op::cost(*l).macs;
    r.measured += !op::is_view(*l);
  }
  return r;
}

/// A model of the zoo, resolved at batch 1.
inline model::graph zoo_graph(std::string_view name,
                              std::map<std::string, std::int64_t> dims = {}) {
  onnx::options o;
  o.name = name;
  o.dims = std::move(dims);
  return onnx::resolve(onnx::from(zoo::build(name)), o);
}

namespace detail {
/// How far ours is from theirs; nothing where they give no figure.
inline std::string apart(std::int64_t ours, double theirs) {
  if (theirs <= 0) return "-";
  const double percent = 100 * (static_cast<double>(ours) / theirs - 1);
  return std::abs(percent) < 1000 ? fmt::format("{:+.1f} %", percent) : ">10x";
}
inline std::string figure(double n) {
  return n > 0 ? with_prefix(n) : "-";
}
/// A note below the table, where there is one.
inline std::string noted(std::string_view name, std::string_view note) {
  return note.empty() ? "" : fmt::format("\n* {}:\n{}", name, wrapped(note, 80, "  "));
}
} // namespace detail

/// The paper's 30.
inline std::string paper_table() {
  std::string out =
      fmt::format("{:<20}{:>28}{:>33}\n{:<20}{:>10}{:>10}{:>8}{:>8}{:>7}{:>10}{:>8}  {:<4}  {}\n",
                  "", "MACs            ", "layers             ", "model", "ours", "paper", "diff",
                  "paper", "ours", "measured", "unique", "year", "task");
  std::vector<model::graph> graphs;
  std::int64_t paper = 0, nodes = 0, measured = 0;
  for (const zoo::entry& e : zoo::list()) {
    graphs.push_back(zoo_graph(e.name));
    const zoo_row r = counted(graphs.back());
    out += fmt::format("{:<20}{:>10}{:>10}{:>8}{:>8}{:>7}{:>10}{:>8}  {}  {}{}\n", e.name,
                       detail::figure(static_cast<double>(r.macs)), detail::figure(e.paper_macs),
                       detail::apart(r.macs, e.paper_macs), e.paper_layers, r.nodes, r.measured,
                       r.unique, e.year, e.task, e.note.empty() ? "" : " *");
    paper += e.paper_layers;
    nodes += r.nodes;
    measured += r.measured;
  }
  std::int64_t unique = 0;
  for (const model::catalogue_entry& e : model::unique_layers(graphs).layers)
    unique += !op::is_view(e.layer);
  out += fmt::format("{:<48}{:>8}{:>7}{:>10}{:>8}\n\n", "all", paper, nodes, measured, unique);
  out +=
      detail::wrapped("The paper counts every node of the file, also those that only shape weights "
                      "(Unsqueeze before Mul and Add). Ours are the nodes on activations; measured "
                      "are those that are no views; unique are those that differ in "
                      "a shape or an attribute. MACs are those of convolutions and matrix "
                      "products. Years are those of "
                      "the first publication.",
                      80, "");
  for (const zoo::entry& e : zoo::list())
    out += detail::noted(e.name, e.note);
  return out;
}

/// The newer models.
inline std::string modern_table() {
  std::string out =
      fmt::format("{:<22}{:>23}{:>29}{:>20}\n{:<22}{:>9}{:>9}{:>8}{:>10}{:>10}{:>8}"
                  "{:>7}{:>7}\n",
                  "", "parameters      ", "MACs            ", "layers    ", "model", "ours",
                  "authors", "diff", "ours", "authors", "diff", "nodes", "unique");
  std::string sources, notes;
  for (const zoo::modern_entry& e : zoo::modern()) {
    const model::graph g = zoo_graph(e.name, e.dims());
    const zoo_row r = counted(g);
    out += fmt::format("{:<22}{:>9}{:>9}{:>8}{:>10}{:>10}{:>8}{:>7}{:>7}{}{}\n", e.name,
                       detail::figure(static_cast<double>(g.parameters)),
                       detail::figure(e.parameters), detail::apart(g.parameters, e.parameters),
                       detail::figure(static_cast<double>(r.macs)), detail::figure(e.macs),
                       detail::apart(r.macs, e.macs), r.nodes, r.unique, e.note.empty() ? "" : " *",
                       r.unresolved > 0 ? fmt::format(" {} unknown", r.unresolved) : "");
    std::string at;
    for (const auto& [symbol, n] : e.dims())
      at += fmt::format(" --dim {}={}", symbol, n);
    sources += fmt::format("  {:<22}{}{}{}\n", e.name, e.source, at.empty() ? "" : "; at", at);
    notes += detail::noted(e.name, e.note);
  }
  return out + "\n" + sources + notes;
}

/// The tables, as `benanza_generate zoo --list` prints them.
inline std::string zoo_table() {
  return paper_table() + "\nNewer models, as exporters write them, without weights:\n\n" +
         modern_table();
}

} // namespace benanza::generator
