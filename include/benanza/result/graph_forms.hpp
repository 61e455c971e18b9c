// SPDX-License-Identifier: Apache-2.0
// How do models become a file of graphs, and how is one read? Where BENANZA_COMPILED_RESULT is
// defined, one file of the program includes this for all.
#pragma once

#include "../core/nesting.hpp"
#include "graph_file.hpp"
#include "json_forms.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace benanza::result {

BENANZA_INLINE std::string to_text(const graph_list& l) {
  const auto line = [](const auto& j) {
    return ordered_json(j).dump(-1, ' ', true, ordered_json::error_handler_t::replace);
  };
  std::string out = "{\"benanza_graphs\": " + std::to_string(graphs_schema) +
                    ",\n\"known\": " + line(l.known) + ",\n\"graphs\": [";
  bool first = true;
  for (model::graph g : l.graphs) {
    g.repairs.clear();
    for (model::node& n : g.nodes)
      if (n.layer != model::no_layer)
        n.op = op::family(g.layers[static_cast<std::size_t>(n.layer)]);
    out += (std::exchange(first, false) ? "\n" : ",\n") + line(to_json(g));
  }
  return out + "\n]}\n";
}

BENANZA_INLINE graph_list read_graphs(std::string_view text, const std::string& source) {
  static constexpr const char* remedy = "give what benanza_generate wrote, unchanged";
  refuse_nested(text, source);
  json j;
  try {
    j = json::parse(text);
  } catch (const json::parse_error& e) {
    throw error(e.byte > text.size() ? "the file of graphs is cut off"
                                     : "the file of graphs is not valid JSON",
                source + ", byte " + std::to_string(e.byte), remedy);
  } catch (const json::exception&) {
    throw error("the file of graphs holds a number that no computer can", source, remedy);
  }
  if (!j.is_object() || !j.contains("benanza_graphs"))
    throw error("this is not a file of graphs", source, remedy);
  if (j["benanza_graphs"] != graphs_schema)
    throw error("the file of graphs has schema " + j["benanza_graphs"].dump() +
                    ", this program reads " + std::to_string(graphs_schema),
                source, "use benanza_generate and benanza_bench of one version");
  graph_list out;
  for (const json& name : detail::list_member(j, "known", source)) {
    std::string text_of_name;
    detail::assign(text_of_name, name, "known", source);
    out.known.insert(std::move(text_of_name));
  }
  for (const json& g : detail::list_member(j, "graphs", source))
    out.graphs.push_back(
        graph_from_json(g, source + ", graph " + std::to_string(out.graphs.size())));
  return out;
}

} // namespace benanza::result
