// SPDX-License-Identifier: Apache-2.0
#include "layers.hpp"

#include <benanza/advice/energy.hpp>
#include <range/v3/action/stable_sort.hpp>
#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/algorithm/find_if.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/zip.hpp>

#include <initializer_list>

namespace benanza::report {

namespace {
using advice::uses_as_fused;
} // namespace

double bound_ns(const bound::layer_answer& l) {
  return static_cast<double>(l.uses) * l.algorithms.bound.ns;
}

std::vector<const bound::layer_answer*> by_time(const bound::model_bound& b) {
  return advice::ranked(b.layers, bound_ns);
}

std::vector<layer_in_run> layers_in_run(const bound::model_bound& b) {
  std::vector<layer_in_run> out(b.layers.size());
  const auto add = [&](std::size_t place, std::int64_t uses, double each_ns,
                       const bound::measurement* by) {
    layer_in_run& l = out[place];
    l.layer = &b.layers[place];
    l.uses += uses;
    l.ns += static_cast<double>(uses) * each_ns;
    if (each_ns < l.longest_ns) return;
    l.longest_ns = each_ns;
    l.by = by;
  };
  if (const auto& layouts = b.fastest_form().layouts; layouts && layouts->prediction) {
    for (const bound::layout_step& s : layouts->prediction->steps) {
      const model::graph& g = s.fused ? *b.fused->graph : *b.graph;
      const int layer = g.nodes[static_cast<std::size_t>(s.node)].layer;
      if (layer == model::no_layer || !(s.ns > 0)) continue;
      const auto place = static_cast<std::size_t>(layer);
      add(s.fused ? b.fused->layers[place] : place, 1, s.ns, s.runs);
    }
  } else { // each by its own best
    const std::vector<std::int64_t> all_uses = advice::uses_as_fused(b);
    for (const auto& [place, uses] : ranges::views::enumerate(all_uses))
      if (const bound::choice& c = b.layers[place].algorithms;
          uses > 0 && b.layers[place].known() && c.prediction.ns > 0)
        add(place, uses, c.prediction.ns, c.chosen);
  }
  std::erase_if(out, [](const layer_in_run& l) { return l.uses == 0; });
  return std::move(out) | ranges::actions::stable_sort(ranges::greater{}, &layer_in_run::ns);
}

double gflops_in_run(const layer_in_run& l) {
  return l.layer->timed() ? static_cast<double>(l.layer->flops) / l.each_ns() : 0;
}

bool has_energy(const std::vector<layer_in_run>& layers) {
  return ranges::any_of(layers, [](const auto& l) { return advice::energy_nj(*l.layer) > 0; });
}

double sum_of_run(const bound::model_bound& b, const std::vector<layer_in_run>& layers) {
  double sum = 0;
  for (const layer_in_run& l : layers)
    sum += l.ns;
  const auto& form = b.fastest_form();
  return form.layouts && form.layouts->prediction ? sum + form.layouts->prediction->changes.ns
                                                  : sum;
}

std::vector<far_layer> by_lost_time(const bound::model_bound& b) {
  std::vector<far_layer> out;
  const std::vector<std::int64_t> all_uses = advice::uses_as_fused(b);
  for (const auto& [l, uses] : ranges::views::zip(b.layers, all_uses)) {
    const double took = bound::measured_ns(l.algorithms), roof = l.roofline ? l.roofline->ns : 0;
    if (uses == 0 || !(roof > 0) || took < far_above * roof + bound::call_ns) continue;
    out.push_back({&l, uses, static_cast<double>(uses) * (took - roof)});
  }
  return std::move(out) | ranges::actions::stable_sort(ranges::greater{}, &far_layer::lost_ns);
}

arithmetic_rate rate(const bound::layer_answer& l) {
  if (!l.timed()) return {};
  const bound::measurement& m = *l.algorithms.best;
  // A bound from the roofline is not what was measured.
  const double ns =
      l.algorithms.bound_from_roofline() ? bound::measured_ns(l.algorithms) : l.algorithms.bound.ns;
  return {.gflops = static_cast<double>(l.flops) / ns,
          .less_than_nominal = m.algorithm_flops > 0 && m.algorithm_flops < l.flops};
}

std::string_view short_name(std::string_view algorithm) {
  return algorithm.substr(0, algorithm.rfind(':'));
}

std::map<std::string, std::int64_t> views(const bound::model_bound& b) {
  std::map<std::string, std::int64_t> out;
  for (const bound::layer_answer& l : b.layers)
    if (l.rests_on == bound::basis::view) out[l.name.substr(0, l.name.find('/'))] += l.uses;
  return out;
}

std::vector<std::pair<std::string, std::string>> disturbed(const bound::model_bound& b) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const bound::layer_answer& l :
       b.layers | ranges::views::filter(&bound::layer_answer::timed)) {
    const bound::choice& c = l.algorithms;
    const std::initializer_list<const bound::measurement*> deciding{c.best, c.chosen,
                                                                    c.chosen_warmer};
    const auto found = ranges::find_if(
        deciding, [](const auto* m) { return m != nullptr && !m->disturbed.empty(); });
    if (found != deciding.end()) out.emplace_back(l.name, (*found)->disturbed);
  }
  return out;
}

} // namespace benanza::report
