// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include "../report/units.hpp"

#include <benanza/model/rewrite/rewritten.hpp>
#include <benanza/model/rewrites.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace benanza::report {

std::string best_graph_line(const bound::model_bound& b) {
  std::string out;
  if (!b.rewritten) return out;
  for (const model::rewrite& r : model::by_rule(b.rewritten->graph->rewrites))
    out += fmt::format("{}{} at {}, {}", out.empty() ? "" : "; ", printable(r.rule),
                       counted(std::ssize(r.nodes), "node"), model::savings_text(r));
  return out;
}

namespace {
result::ordered_json time_json(const bound::figure& f) {
  return {{"ns", f.ns}, {"low_ns", f.low_ns}, {"high_ns", f.high_ns}};
}
} // namespace

result::ordered_json rewritten_json(const bound::model_bound& b) {
  if (!b.rewritten) return nullptr;
  const model::graph& g = *b.rewritten->graph;
  const bound::form_figures& form = b.rewritten->fastest_form();
  const auto expected = bound::expected(form);
  result::ordered_json rewrites = result::ordered_json::array();
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
          {"bound", time_json(form.bound.sequential)},
          {"expected", expected ? time_json(*expected) : result::ordered_json(nullptr)},
          {"roofline_ns", form.roofline.sequential.ns}};
}

} // namespace benanza::report
