// SPDX-License-Identifier: Apache-2.0
// How do the zoo's models compare with the paper's Table I? A row a model: multiply-accumulates and
// layers, ours beside the paper's, and why they differ where they do. The paper counts every ONNX
// node; ours are counted three ways: all nodes on activations, those that are measured (no views),
// and how many of these are unique.
#pragma once

#include "../include/benanza/model/unique.hpp"
#include "../include/benanza/onnx/load.hpp"
#include "../include/benanza/onnx/resolve.hpp"
#include "zoo/zoo.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
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
  const zoo::entry* entry;
  std::int64_t macs = 0;     ///< of convolutions and matrix products, at batch 1
  std::int64_t nodes = 0;    ///< on activations: what depends on constants only is folded away
  std::int64_t folded = 0;   ///< nodes that depend on constants only, weights left out
  std::int64_t measured = 0; ///< nodes that are no views
  std::int64_t unique = 0;   ///< different layers among the measured
};

/// All models of the zoo, resolved at batch 1; `graphs` receives them.
inline std::vector<zoo_row> zoo_rows(std::vector<model::graph>& graphs) {
  std::vector<zoo_row> rows;
  for (const zoo::entry& e : zoo::list()) {
    onnx::options o;
    o.name = e.name;
    graphs.push_back(onnx::resolve(onnx::from(zoo::build(e.name)), o));
    const model::graph& g = graphs.back();
    zoo_row r{.entry = &e, .nodes = static_cast<std::int64_t>(g.nodes.size()), .folded = g.folded};
    for (const op::layer& l : g.layers)
      r.unique += !op::is_view(l);
    for (const model::node& n : g.nodes) {
      if (n.layer == model::no_layer) continue;
      const op::layer& l = g.layers[static_cast<std::size_t>(n.layer)];
      r.macs += op::cost(l).macs;
      r.measured += !op::is_view(l);
    }
    rows.push_back(r);
  }
  return rows;
}

/// The table, as `benanza_generate zoo --list` prints it.
inline std::string zoo_table() {
  std::vector<model::graph> graphs;
  const std::vector<zoo_row> rows = zoo_rows(graphs);
  std::string out =
      fmt::format("{:<20}{:>28}{:>33}\n{:<20}{:>10}{:>10}{:>8}{:>8}{:>7}{:>10}{:>8}\n", "",
                  "MACs            ", "layers             ", "model", "ours", "paper", "diff",
                  "paper", "ours", "measured", "unique");
  std::int64_t paper = 0, nodes = 0, measured = 0;
  for (const zoo_row& r : rows) {
    const double difference = 100 * (static_cast<double>(r.macs) / r.entry->paper_macs - 1);
    out += fmt::format(
        "{:<20}{:>10}{:>10}{:>8}{:>8}{:>7}{:>10}{:>8}{}\n", r.entry->name,
        detail::with_prefix(static_cast<double>(r.macs)), detail::with_prefix(r.entry->paper_macs),
        std::abs(difference) < 1000 ? fmt::format("{:+.1f} %", difference) : ">10x",
        r.entry->paper_layers, r.nodes, r.measured, r.unique, r.entry->note.empty() ? "" : " *");
    paper += r.entry->paper_layers;
    nodes += r.nodes;
    measured += r.measured;
  }
  std::int64_t unique = 0;
  for (const model::catalogue_entry& e : model::unique_layers(graphs).layers)
    unique += !op::is_view(e.layer);
  out += fmt::format("{:<48}{:>8}{:>7}{:>10}{:>8}\n\n", "all", paper, nodes, measured, unique);
  out += detail::wrapped(
      "The paper counts every node of the file, also those that only shape weights "
      "(Unsqueeze before Mul and Add). Ours are the nodes on activations; measured "
      "are those that are no views; unique are those that differ in "
      "a shape or an attribute. MACs are those of convolutions and matrix products.",
      80, "");
  for (const zoo_row& r : rows)
    if (!r.entry->note.empty())
      out += fmt::format("\n* {}:\n{}", r.entry->name, detail::wrapped(r.entry->note, 80, "  "));
  return out;
}

} // namespace benanza::generator
