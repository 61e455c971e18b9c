// SPDX-License-Identifier: Apache-2.0
// Where does a model's time go? Its layers sorted by their share of the sequential bound, as rows
// for a table; where the best kernels stay far above the roofline; how fast its arithmetic runs.
//
//   for (const layer_answer* l : by_time(model)) ...   rate(*l).gflops
#pragma once

#include "../advice/energy.hpp"
#include "../bound/figures.hpp"

#include <range/v3/action/stable_sort.hpp>
#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/algorithm/find_if.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/transform.hpp>
#include <range/v3/view/zip.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::report {

using advice::uses_as_fused;
using bound::layer_answer;
using bound::model_bound;

/// What a layer adds to the sequential bound.
inline double bound_ns(const layer_answer& l) {
  return static_cast<double>(l.uses) * l.algorithms.bound.ns;
}

/// Layers with a time, those that add most to the sequential bound first.
inline std::vector<const layer_answer*> by_time(const model_bound& b) {
  return advice::ranked(b.layers, bound_ns);
}

/// A layer of the form that should run, by the algorithm that a run takes, with caches as a run has
/// them.
struct layer_in_run {
  const layer_answer* layer = nullptr;
  std::int64_t uses = 0;
  double each_ns = 0;
  double ns() const { return static_cast<double>(uses) * each_ns; }
};

/// Layers of the form that should run, those that take most of it first.
inline std::vector<layer_in_run> layers_in_run(const model_bound& b) {
  std::vector<layer_in_run> out;
  const std::vector<std::int64_t> all_uses = uses_as_fused(b);
  for (const auto& [l, uses] : ranges::views::zip(b.layers, all_uses))
    if (uses > 0 && l.known() && l.algorithms.prediction.ns > 0)
      out.push_back({&l, uses, l.algorithms.prediction.ns});
  return std::move(out) | ranges::actions::stable_sort(ranges::greater{}, &layer_in_run::ns);
}

/// Arithmetic per time, in GFLOP/s.
inline double gflops_in_run(const layer_in_run& l) {
  return l.layer->timed() ? static_cast<double>(l.layer->flops) / l.each_ns : 0;
}

/// True where tables of these layers have a column for energy.
inline bool has_energy(const std::vector<layer_in_run>& layers) {
  return ranges::any_of(layers, [](const auto& l) { return advice::energy_nj(*l.layer) > 0; });
}

/// What the layers of a run and the changes of layout between them take together.
inline double sum_of_run(const model_bound& b, const std::vector<layer_in_run>& layers) {
  double sum = 0;
  for (const layer_in_run& l : layers)
    sum += l.ns();
  const auto& form = b.fastest_form();
  return form.layouts && form.layouts->prediction ? sum + form.layouts->prediction->changes.ns
                                                  : sum;
}

/// A layer whose best algorithm stays far above the layer's roofline.
struct far_layer {
  const layer_answer* layer = nullptr;
  std::int64_t uses = 0; ///< in the fused form, or else the only one
  double lost_ns = 0;    ///< what a kernel at the roofline would save in all of them
};

/// From so many times its roofline on, a layer's best algorithm is far above it.
inline constexpr double far_above = 3;

/// The layers of a model that are far above their rooflines, those that lose most first.
inline std::vector<far_layer> by_lost_time(const model_bound& b) {
  std::vector<far_layer> out;
  const std::vector<std::int64_t> all_uses = uses_as_fused(b);
  for (const auto& [l, uses] : ranges::views::zip(b.layers, all_uses)) {
    const double took = bound::measured_ns(l.algorithms), roof = l.roofline ? l.roofline->ns : 0;
    if (uses == 0 || !(roof > 0) || took < far_above * roof + bound::call_ns) continue;
    out.push_back({&l, uses, static_cast<double>(uses) * (took - roof)});
  }
  return std::move(out) | ranges::actions::stable_sort(ranges::greater{}, &far_layer::lost_ns);
}

/// Arithmetic per time of a layer's bound.
struct arithmetic_rate {
  double gflops = 0;              ///< of a direct algorithm: GFLOP/s
  bool less_than_nominal = false; ///< the algorithm itself needs fewer operations (Winograd, FFT)
};

/// The rate of a layer that was measured; none of others.
inline arithmetic_rate rate(const layer_answer& l) {
  if (!l.timed()) return {};
  const bound::measurement& m = *l.algorithms.best;
  return {.gflops = static_cast<double>(l.flops) / l.algorithms.bound.ns,
          .less_than_nominal = m.algorithm_flops > 0 && m.algorithm_flops < l.flops};
}

/// An algorithm's name without the instruction set after its last colon: `brgconv:avx512_core` is
/// `brgconv`.
inline std::string_view short_name(std::string_view algorithm) {
  return algorithm.substr(0, algorithm.rfind(':'));
}

/// Views of a model that cost nothing, as operator and number of nodes.
inline std::map<std::string, std::int64_t> views(const model_bound& b) {
  std::map<std::string, std::int64_t> out;
  for (const layer_answer& l : b.layers)
    if (l.rests_on == bound::basis::view) out[l.name.substr(0, l.name.find('/'))] += l.uses;
  return out;
}

/// Names of the layers for which `is` holds.
template <class Predicate>
std::vector<std::string> names_of(const model_bound& b, Predicate is) {
  return b.layers | ranges::views::filter(is) | ranges::views::transform(&layer_answer::name) |
         ranges::to<std::vector>;
}

/// Layers whose deciding cases were disturbed, with what disturbed them.
inline std::vector<std::pair<std::string, std::string>> disturbed(const model_bound& b) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const layer_answer& l : b.layers | ranges::views::filter(&layer_answer::timed)) {
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
