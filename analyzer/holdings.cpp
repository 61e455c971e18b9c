// SPDX-License-Identifier: Apache-2.0
#include "holdings.hpp"

#include <benanza/bound/model.hpp>
#include <range/v3/view/transform.hpp>

#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

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

report::tables::chapter holdings_answer(const std::vector<holding>& rows) {
  using report::tables::unit;
  using report::tables::whole;
  report::tables::table out{.key = "models",
                            .columns = {{"model", "model", unit::name},
                                        {"batch", "batch", unit::count},
                                        {"type", "type"},
                                        {"threads", "threads", unit::count},
                                        {"layers", "layers", unit::count},
                                        {"timed_layers", "timed", unit::count},
                                        {"measured_cases", "cases", unit::count},
                                        {"failed_cases", "failed", unit::count},
                                        {"fused_form", "fused", unit::flag}}};
  for (const holding& h : rows)
    out.rows.push_back({h.graph->name, whole(h.graph->batch), std::string(name(h.in.first)),
                        whole(h.in.second), whole(h.layers), whole(h.timed), whole(h.cases),
                        whole(h.failed), h.fused});
  report::tables::chapter answer;
  answer.add(std::move(out));
  return answer;
}

} // namespace benanza::analyzer
