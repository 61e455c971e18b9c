// SPDX-License-Identifier: Apache-2.0
// Which models shall be measured? benanza_generate writes them down for a benchmark program that
// was built without them: the graphs as results hold them (json.hpp), a line each, and the names of
// those layers whose times are known from elsewhere, and that are not to be measured.
//
//   {"benanza_graphs": 1, "known": ["Relu/1x64x56x56"], "graphs": [{"name": "tiny@batch=1", ...}]}
//
//   graph_list l = read_graph_file("graphs.json");   std::string text = to_text(l);
#pragma once

#include "input_text.hpp"
#include "run.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::result {

inline constexpr int graphs_schema = 1;
inline constexpr const char* graph_file_name = "graphs.json"; ///< in a generated folder
inline constexpr std::size_t most_graph_file_bytes = std::size_t{256} << 20;

/// Models to be measured.
struct graph_list {
  std::vector<model::graph> graphs{};
  std::set<std::string> known{}; ///< names of layers that are not to be measured
};

/// The text of a file of graphs. A program that has them compiled in knows neither what was
/// repaired nor what ONNX called a resolved node, and both shall give the same results.
std::string to_text(const graph_list& l);

/// The models that a text holds; `source` is its name in messages.
graph_list read_graphs(std::string_view text, const std::string& source);

inline graph_list read_graph_file(const std::string& path) {
  return read_graphs(input_text(path, most_graph_file_bytes, "the file of graphs"), path);
}

/// All models of several files. A layer that one of them wants measured is measured.
inline graph_list together(std::vector<graph_list> lists) {
  graph_list out;
  std::set<std::string> names;
  std::map<std::string, bool> known;
  for (graph_list& l : lists)
    for (model::graph& g : l.graphs) {
      if (!names.insert(g.name).second)
        throw error("two of the models to measure are called so", g.name,
                    "leave one out, or rename one of the files");
      for (const op::layer& layer : g.layers) {
        const std::string name = op::name(layer);
        bool& everywhere = known.try_emplace(name, true).first->second;
        everywhere = everywhere && l.known.contains(name);
      }
      out.graphs.push_back(std::move(g));
    }
  for (const auto& [name, everywhere] : known)
    if (everywhere) out.known.insert(name);
  return out;
}

} // namespace benanza::result

#ifndef BENANZA_COMPILED_RESULT
#include "graph_forms.hpp"
#endif
