// SPDX-License-Identifier: Apache-2.0
// How do the zoo's models compare with what is published of them? A row a model. Of the paper's
// Table I: multiply-accumulates and layers, ours next to the paper's, and why they differ where
// they do. The paper counts every ONNX node; ours are counted three ways: all nodes on activations,
// those that are measured (no views), and how many of these are unique. Of the newer models:
// parameters and multiply-accumulates next to those that their authors give.
#pragma once

#include "../analyzer/report/tables/page.hpp"
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
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::generator {

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
inline report::tables::cell apart(std::int64_t ours, double theirs) {
  if (theirs <= 0) return {};
  const double percent = 100 * (static_cast<double>(ours) / theirs - 1);
  return std::abs(percent) < 1000 ? fmt::format("{:+.1f} %", percent) : ">10x";
}
inline report::tables::cell words(std::string_view text) {
  return text.empty() ? report::tables::cell() : std::string(text);
}
} // namespace detail

/// The paper's 30.
inline report::tables::chapter paper_answer() {
  using report::tables::unit, report::tables::whole;
  report::tables::table models{.key = "paper",
                               .columns = {{"model", "model", unit::name},
                                           {"macs", "MACs", unit::amount},
                                           {"paper_macs", "paper's", unit::amount},
                                           {"", "differ", unit::share},
                                           {"paper_layers", "layers, paper's", unit::count},
                                           {"nodes", "ours", unit::count},
                                           {"measured", "measured", unit::count},
                                           {"unique", "unique", unit::count},
                                           {"year", "year", unit::count},
                                           {"task", "task", unit::name},
                                           {"note", ""},
                                           {"", "", unit::name}}};
  std::vector<model::graph> graphs;
  std::int64_t paper = 0, nodes = 0, measured = 0, unique = 0;
  for (const zoo::entry& e : zoo::list()) {
    graphs.push_back(zoo_graph(e.name));
    const zoo_row r = counted(graphs.back());
    models.rows.push_back({std::string(e.name), r.macs, report::tables::above_zero(e.paper_macs),
                           detail::apart(r.macs, e.paper_macs), whole(e.paper_layers), r.nodes,
                           r.measured, r.unique, whole(e.year), std::string(e.task),
                           detail::words(e.note), e.note.empty() ? "" : "*"});
    paper += e.paper_layers;
    nodes += r.nodes;
    measured += r.measured;
  }
  for (const model::catalogue_entry& e : model::unique_layers(graphs).layers)
    unique += !op::is_view(e.layer);
  report::tables::chapter out;
  out.add(std::move(models));
  out.say(fmt::format("All: {} layers by the paper, {} nodes, {} measured, {} unique. The paper "
                      "counts every node of the file, also those that only shape weights "
                      "(Unsqueeze before Mul and Add). Ours are the nodes on activations; measured "
                      "are those that are no views; unique are those that differ in a shape or an "
                      "attribute. MACs are those of convolutions and matrix products. Years are "
                      "those of the first publication.",
                      paper, nodes, measured, unique));
  for (const zoo::entry& e : zoo::list())
    if (!e.note.empty()) out.say(fmt::format("* {}: {}", e.name, e.note));
  return out;
}

/// The newer models.
inline report::tables::chapter modern_answer() {
  using report::tables::unit, report::tables::above_zero;
  report::tables::table models{.key = "newer",
                               .title = "Newer models, as exporters write them, without weights",
                               .columns = {{"model", "model", unit::name},
                                           {"parameters", "parameters", unit::amount},
                                           {"authors_parameters", "authors'", unit::amount},
                                           {"", "differ", unit::share},
                                           {"macs", "MACs", unit::amount},
                                           {"authors_macs", "authors'", unit::amount},
                                           {"", "differ", unit::share},
                                           {"nodes", "nodes", unit::count},
                                           {"unique", "unique", unit::count},
                                           {"unresolved", ""},
                                           {"dims", ""},
                                           {"source", ""},
                                           {"note", ""},
                                           {"", "", unit::name}}};
  report::tables::table sources{.columns = {{"", "", unit::name}, {"", ""}}};
  std::vector<std::string> notes;
  for (const zoo::modern_entry& e : zoo::modern()) {
    const model::graph g = zoo_graph(e.name, e.dims());
    const zoo_row r = counted(g);
    std::vector<std::string> dims;
    std::string at;
    for (const auto& [symbol, n] : e.dims()) {
      dims.push_back(fmt::format("{}={}", symbol, n));
      at += " --dim " + dims.back();
    }
    models.rows.push_back({std::string(e.name), g.parameters, above_zero(e.parameters),
                           detail::apart(g.parameters, e.parameters), r.macs, above_zero(e.macs),
                           detail::apart(r.macs, e.macs), r.nodes, r.unique, r.unresolved, dims,
                           std::string(e.source), detail::words(e.note),
                           std::string(e.note.empty() ? "" : "*") +
                               (r.unresolved > 0 ? fmt::format(" {} unknown", r.unresolved) : "")});
    sources.rows.push_back(
        {std::string(e.name), std::string(e.source) + (at.empty() ? "" : "; at" + at)});
    if (!e.note.empty()) notes.push_back(fmt::format("* {}: {}", e.name, e.note));
  }
  report::tables::chapter out;
  out.add(std::move(models));
  out.add(std::move(sources));
  for (std::string& n : notes)
    out.say(std::move(n));
  return out;
}

/// Both, as `benanza_generate zoo --list` prints them.
inline report::tables::chapter zoo_answer() {
  return {.chapters = {paper_answer(), modern_answer()}};
}

} // namespace benanza::generator
