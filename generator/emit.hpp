// SPDX-License-Identifier: Apache-2.0
// What does the generator write? The text of every file of a generated folder: one statement a
// unique layer, sorted by name and split so that no file takes long to compile, the models' graphs
// as tables, a main, and the same models for programs built without them (result/graph_file.hpp).
// The same models give the same bytes. Text from a model file is always escaped, and every
// identifier comes from our own counters.
//
//   std::map<std::string, std::string> files = emit(graphs, {});   files["layers_0.cpp"]
#pragma once

#include "initializer.hpp"

#include <benanza/core/text.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/operands.hpp>
#include <benanza/model/rewrites.hpp>
#include <benanza/model/unique.hpp>
#include <benanza/result/graph_file.hpp>

#include <fmt/format.h>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/range/operations.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::generator {

struct emit_options {
  std::size_t layers_a_file = 500;
  std::size_t layer_files = 0; ///< exactly so many files; 0: as many as needed
  /// Names of layers whose times are known already: emitted for the graphs, in a file of their own,
  /// and not measured.
  std::set<std::string> known{};
  bool sources = true; ///< else only the file of graphs
};

namespace detail {
/// A C++ string literal; what is not plain ASCII becomes an octal escape.
inline std::string literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?')
      (out += '\\') += c;
    else if (u < 0x20 || u > 0x7e)
      out += fmt::format("\\{:03o}", u);
    else
      out += c;
  }
  return out + '"';
}

/// A name as it may appear in a comment: one line, and nothing that could end or continue it.
inline std::string comment(std::string_view text) {
  std::string out(text);
  const auto no_comment = [](char c) { return c < 0x20 || c > 0x7e || c == '\\' || c == '?'; };
  std::replace_if(out.begin(), out.end(), no_comment, '_');
  return out;
}

inline constexpr std::string_view first_line =
    "// Written by benanza_generate, which replaces this folder as a whole.\n";

/// Which models use a layer, and how often: at most three are named.
inline std::string uses_text(const model::catalogue_entry& l,
                             const std::vector<model::graph>& graphs) {
  constexpr int most = 3;
  const auto text = [&](const model::use& u) {
    return fmt::format("{} x{}", comment(graphs[u.graph].name), u.count);
  };
  const auto rest = l.uses | ranges::views::drop(most);
  const auto more = ranges::distance(rest);
  const auto uses = ranges::accumulate(rest, std::int64_t{0}, ranges::plus{}, &model::use::count);
  return join(l.uses | ranges::views::take(most) | ranges::views::transform(text), ", ") +
         (more > 0 ? fmt::format(", {} more x{}", more, uses) : "");
}

/// The block of the layers `ids`, which `how` (add, known) registers.
inline std::string layers_file(const std::vector<model::catalogue_entry>& layers,
                               std::span<const std::size_t> ids, std::string_view how,
                               const std::vector<model::graph>& graphs) {
  std::string out(first_line);
  out += "#include <benanza/op/registry.hpp>\n\nusing namespace benanza;\n"
         "using namespace benanza::op;\n\nBENANZA_LAYERS {\n";
  for (const std::size_t i : ids) {
    if (const std::string uses = uses_text(layers[i], graphs); !uses.empty())
      out += fmt::format("  // {}\n", uses);
    out += fmt::format("  unique_layer<{}>::{}({});\n", initializer(layers[i].layer), how, i);
  }
  return out + "}\n";
}

inline std::string parts_text(const std::vector<int>& parts) {
  std::vector<model::operand> as_operands;
  for (int i : parts)
    as_operands.push_back({i});
  return model::write_operands(as_operands);
}

inline void graph_table(std::string& out, const model::graph& g, std::size_t number,
                        const std::map<std::string, std::size_t>& ids) {
  constexpr std::size_t width = 116;
  out += fmt::format("\n// {}\nconstexpr benanza::model::row nodes_{}[] = {{\n", comment(g.name),
                     number);
  std::string line;
  for (const model::node& n : g.nodes) {
    std::string row;
    const op::layer* its = model::layer_of(g, n);
    if (its == nullptr)
      row = fmt::format("{{-1, {}, \"{}\", \"{}\", {}, {}}},", literal(n.name),
                        model::write_operands(model::known_operands(n)), parts_text(n.parts),
                        literal(n.op), literal(n.problem));
    else
      row = fmt::format("{{{}, {}, \"{}\"{}}},", ids.at(op::name(*its)), literal(n.name),
                        model::write_operands(model::known_operands(n)),
                        n.parts.empty() ? "" : ", \"" + parts_text(n.parts) + '"');
    if (!line.empty() && line.size() + row.size() + 3 > width) {
      out += "   " + line + '\n';
      line.clear();
    }
    line += ' ' + row;
  }
  out += "   " + line + "\n};\n";
  std::string assumed, dims;
  for (const std::string& a : g.assumptions)
    assumed += printable(a) + '\n';
  for (const auto& [symbol, n] : g.dims)
    dims += fmt::format("{}={}\n", printable(symbol), n);
  out += fmt::format(
      "const benanza::model::registration graph_{0}{{{{.name = {1},\n"
      "    .model = {2}, .batch = {3},{14} .type = benanza::numeric::{4},\n"
      "    .parameters = {5}, .parameter_bytes = {6}, .streamed_weight_bytes = {7},\n"
      "    {8}.folded = {9},{10}{11}{12}{13}\n"
      "    .nodes = nodes_{0}}}}};\n",
      number, literal(g.name), literal(g.model), g.batch, name(g.type), g.parameters,
      g.parameter_bytes, g.streamed_weight_bytes,
      !g.cache ? ""
               : fmt::format(".cache = {{{}, {}, {}, {}}}, ", g.cache.bytes, g.cache.sequences,
                             g.cache.past, g.cache.added),
      g.folded, g.unfused.empty() ? "" : " .unfused = " + literal(g.unfused) + ",",
      g.original.empty() ? ""
                         : fmt::format("\n    .original = {}, .rewrites = {},", literal(g.original),
                                       literal(model::write_rewrites(g.rewrites))),
      g.structure.empty() ? "" : "\n    .structure = " + literal(g.structure) + ",",
      assumed.empty() ? "" : "\n    .assumptions = " + literal(assumed) + ",",
      dims.empty() ? "" : " .dims = " + literal(dims) + ",");
}
} // namespace detail

/// The files of a generated folder, by name. `layers` are all layers of the graphs and those to
/// measure, sorted by name.
inline std::map<std::string, std::string> emit(const std::vector<model::catalogue_entry>& layers,
                                               const std::vector<model::graph>& graphs,
                                               const emit_options& o = {}) {
  std::map<std::string, std::string> files;
  files[result::graph_file_name] = result::to_text({.graphs = graphs, .known = o.known});
  if (!o.sources) return files;
  std::vector<std::size_t> fresh, known;
  std::map<std::string, std::size_t> ids;
  for (const auto& [i, l] : layers | ranges::views::enumerate) {
    const std::string name = op::name(l.layer);
    (o.known.contains(name) ? known : fresh).push_back(i);
    ids.emplace(name, i);
  }
  const std::size_t count =
      o.layer_files > 0
          ? o.layer_files
          : std::max<std::size_t>(1, (fresh.size() + o.layers_a_file - 1) / o.layers_a_file);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = fresh.size() * i / count, last = fresh.size() * (i + 1) / count;
    files[fmt::format("layers_{}.cpp", i)] =
        detail::layers_file(layers, std::span(fresh).subspan(first, last - first), "add", graphs);
  }
  if (!known.empty())
    files["known_layers.cpp"] = detail::layers_file(layers, known, "known", graphs);

  std::string& graph = files["graph.cpp"];
  graph =
      std::string(detail::first_line) + "#include <benanza/model/registry.hpp>\n\nnamespace {\n";
  for (std::size_t i = 0; i < graphs.size(); ++i)
    detail::graph_table(graph, graphs[i], i, ids);
  graph += "\n} // namespace\n";

  files["main.cpp"] =
      std::string(detail::first_line) +
      "#include <benanza/bench/run.hpp>\n"
      "int main(int argc, char** argv) { return benanza::bench::run(argc, argv); }\n";
  return files;
}

} // namespace benanza::generator
