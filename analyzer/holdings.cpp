// SPDX-License-Identifier: Apache-2.0
#include "holdings.hpp"

#include <benanza/bound/model.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <range/v3/view/transform.hpp>

#include <cstddef>
#include <iterator>
#include <set>

namespace benanza::analyzer {

std::vector<holding> holdings(const result::run& r) {
  const bound::case_table cases(r);
  const auto all = r.graphs | ranges::views::transform(&model::graph::name) |
                   ranges::to<std::set<std::string>>();
  std::vector<holding> out;
  for (const model::graph& g : r.graphs) {
    // A form counts with the model that it is the form of.
    if (all.contains(g.unfused) || all.contains(g.original)) continue;
    std::vector<const model::graph*> forms = bound::fused_forms(r, g);
    const bool fused = !forms.empty();
    for (const model::graph* rewritten : bound::rewritten_forms(r, g)) {
      forms.push_back(rewritten);
      const auto its = bound::fused_forms(r, *rewritten);
      forms.insert(forms.end(), its.begin(), its.end());
    }
    forms.push_back(&g);
    std::set<std::string> layers;
    for (const model::graph* of : forms)
      for (const op::layer& l : of->layers)
        if (!op::is_view(l)) layers.insert(op::name(l));
    std::vector<bound::setting> settings = cases.settings(g);
    if (settings.empty()) settings.emplace_back(g.type, 1);
    for (const bound::setting& s : settings) {
      holding h{.graph = &g, .in = s, .fused = fused, .layers = std::ssize(layers)};
      for (const std::string& l : layers) {
        const bound::layer_cases known = cases.of(l, s.first, s.second);
        h.timed += !known.algorithms.empty();
        h.failed += std::ssize(known.failed);
        for (const bound::candidate& c : known.algorithms)
          h.cases += (c.hot != nullptr) + (c.llcw != nullptr) + (c.coldw != nullptr);
      }
      out.push_back(h);
    }
  }
  return out;
}

std::string holdings_text(const std::vector<holding>& rows) {
  constexpr std::size_t width = 24;
  std::string out;
  const auto add = [&out](const auto&... cells) {
    const std::string line =
        fmt::format("{:<24} {:>5} {:<6} {:>7} {:>6} {:>6} {:>7} {:>6}  {}", cells...);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  };
  add("model", "batch", "type", "threads", "layers", "timed", "cases", "failed", "");
  for (const holding& h : rows) {
    std::string model = printable(h.graph->name);
    if (model.size() > width) {
      out += model + '\n';
      model.clear();
    }
    add(model, h.graph->batch, name(h.in.first), h.in.second, h.layers, h.timed, h.cases, h.failed,
        h.fused ? "fused" : "");
  }
  return out;
}

std::string holdings_json(const std::vector<holding>& rows) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const holding& h : rows)
    out.push_back({{"model", h.graph->name},
                   {"batch", h.graph->batch},
                   {"type", name(h.in.first)},
                   {"threads", h.in.second},
                   {"fused_form", h.fused},
                   {"layers", h.layers},
                   {"timed_layers", h.timed},
                   {"measured_cases", h.cases},
                   {"failed_cases", h.failed}});
  return out.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

} // namespace benanza::analyzer
