// SPDX-License-Identifier: Apache-2.0
// What does measure_framework write of llama.cpp? Its scheduler tells a caller of each node of its
// graph before and after it runs alone; the file has each node once, with the nodes of the model
// that it does the work of, and its times in every run but the first ones.
//
//   profile p = read_ggml_nodes(value, "llamacpp.json");   p.operators[3].type   // "MUL_MAT"
#pragma once

#include "values.hpp"

namespace benanza::trace {

/// {"nodes": [{"name", "type", "kernel", "stands_for": []}], "runs": [[ns of each]], "run_ns": []}
inline profile read_ggml_nodes(const nlohmann::json& value, const std::string& source) {
  using namespace detail;
  profile p{.source = source, .format = "llama.cpp's nodes", .framework = "llamacpp"};
  const json *nodes = member(value, "nodes"), *runs = member(value, "runs");
  if (nodes == nullptr || !nodes->is_array() || nodes->empty() || runs == nullptr ||
      !runs->is_array() || runs->empty())
    throw error("no nodes that ran are in it", source,
                "write one with benanza_measure_framework llamacpp");
  for (const json& n : *nodes)
    p.operators.push_back({.name = text_in(n, "name"),
                           .type = text_in(n, "type"),
                           .kernel = text_in(n, "kernel"),
                           .stands_for = texts_in(n, "stands_for")});
  for (const json& run : *runs) {
    if (!run.is_array() || run.size() != nodes->size())
      throw error("a run has " + std::to_string(run.is_array() ? run.size() : 0) + " times of " +
                      std::to_string(nodes->size()) + " nodes",
                  source, "write it again with benanza_measure_framework llamacpp");
    for (std::size_t i = 0; i < run.size(); ++i) {
      const auto ns = ns_of(number_of(run[i]), 1);
      if (!ns) throw error("the time of a node is none", source, "write it again");
      p.operators[i].ns.push_back(*ns);
    }
  }
  if (const json* whole = member(value, "run_ns"); whole != nullptr && whole->is_array())
    for (const json& one : *whole)
      if (const auto ns = ns_of(number_of(one), 1)) p.profiled_ns.push_back(*ns);
  p.overlapping = false;
  return p;
}

} // namespace benanza::trace
