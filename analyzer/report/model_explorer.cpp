// SPDX-License-Identifier: Apache-2.0
#include "model_explorer.hpp"

#include "json.hpp"
#include "node_times.hpp"
#include "units.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace benanza::report {

namespace {
/// What each node of the unfused graph takes, as the form that should run does.
std::vector<double> times_of_own_nodes(const bound::model_bound& b) {
  const bound::layer_times point = bound::point_times(b.layers);
  std::vector<double> alone = bound::on_nodes(*b.graph, point.prediction);
  if (!b.fused) return alone;
  const std::vector<node_times> fused = times_of_nodes(b);
  for (std::size_t i = 0; i < fused.size(); ++i) {
    const std::vector<int>& parts = b.fused->graph->nodes[i].parts;
    if (!fused[i].as_one || parts.size() < 2) continue;
    std::size_t most = bound::detail::at(parts.front());
    for (const int p : parts)
      if (alone[bound::detail::at(p)] > alone[most]) most = bound::detail::at(p);
    for (const int p : parts)
      alone[bound::detail::at(p)] = 0;
    alone[most] = fused[i].prediction_ns;
  }
  return alone;
}
} // namespace

result::ordered_json node_data(const bound::model_bound& b) {
  std::map<std::string, double> us;
  const std::vector<double> ns = times_of_own_nodes(b);
  for (std::size_t i = 0; i < ns.size(); ++i)
    us[b.graph->nodes[i].name] += ns[i] / 1e3;
  result::ordered_json::object_t results; // its operator[] looks through all of it
  for (const auto& [node, value] : b.has_bound() ? us : decltype(us){})
    results.emplace_back(node, result::ordered_json{{"value", value}});
  return {{"name", "us that a run should take, " + std::string(name(b.type)) + ", " +
                       counted(b.threads, "thread")},
          {"results", std::move(results)},
          {"gradient",
           {{{"stop", 0}, {"bgColor", "#ffffff"}},
            {{"stop", 0.5}, {"bgColor", "#ffd27f"}},
            {{"stop", 1}, {"bgColor", "#ff5a36"}}}}};
}

std::string model_explorer_report(const input& in) {
  if (in.models.size() == 1) return dumped(node_data(in.models.front()));
  result::ordered_json all = result::ordered_json::object();
  for (const bound::model_bound& b : in.models) {
    std::string key = b.graph->name;
    if (all.contains(key)) key += ' ' + std::string(name(b.type));
    if (all.contains(key)) key += " t" + std::to_string(b.threads);
    all[key] = node_data(b);
  }
  return dumped(all);
}

} // namespace benanza::report
