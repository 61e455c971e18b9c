// SPDX-License-Identifier: Apache-2.0
// Which equivalent graph of a model is faster than its own? What was rewritten in it, at how many
// nodes, and what that saves: one line for the screen, an object for programs.
//
//   best_graph_line(b) == "strides moved back at 6 nodes, saves 0.757 GFLOP and 37.2 MB"
#pragma once

#include "../bound/figures.hpp"
#include "../model/rewrite/rewrite.hpp"
#include "../model/rewrite/text.hpp"
#include "escape.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace benanza::report {

/// A rule after the other; empty: the model's own graph is the best that was measured.
inline std::string best_graph_line(const bound::model_bound& b) {
  std::string out;
  if (!b.rewritten) return out;
  for (const model::rewrite& r : model::by_rule(b.rewritten->graph->rewrites))
    out += fmt::format("{}{} at {}, {}", out.empty() ? "" : "; ", printable(r.rule),
                       counted(std::ssize(r.nodes), "node"), model::savings_text(r));
  return out;
}

namespace detail {
inline nlohmann::ordered_json time_json(const bound::figure& f) {
  return {{"ns", f.ns}, {"low_ns", f.low_ns}, {"high_ns", f.high_ns}};
}
} // namespace detail

/// What is rewritten and what that graph takes, fused where that is faster; null: there is none.
inline nlohmann::ordered_json rewritten_json(const bound::model_bound& b) {
  if (!b.rewritten) return nullptr;
  const model::graph& g = *b.rewritten->graph;
  const bound::form_figures& form = b.rewritten->fastest_form();
  const auto expected = bound::expected(form);
  nlohmann::ordered_json rewrites = nlohmann::ordered_json::array();
  for (const model::rewrite& r : g.rewrites) {
    std::vector<std::string> names;
    for (const int n : r.nodes)
      if (n < static_cast<int>(g.nodes.size()))
        names.push_back(g.nodes[static_cast<std::size_t>(n)].name);
    rewrites.push_back(
        {{"rule", r.rule}, {"nodes", names}, {"saves_flops", r.flops}, {"saves_bytes", r.bytes}});
  }
  return {{"graph", g.name},
          {"rewrites", std::move(rewrites)},
          {"bound", detail::time_json(form.bound.sequential)},
          {"expected", expected ? detail::time_json(*expected) : nlohmann::ordered_json(nullptr)},
          {"roofline_ns", form.roofline.sequential.ns}};
}

} // namespace benanza::report
