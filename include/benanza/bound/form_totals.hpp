// SPDX-License-Identifier: Apache-2.0
// What do a model's layers add up to, unfused and fused? Fills the totals of both forms: at the
// point estimates, and for each redraw of all layers' samples, which both forms share. Times in ns.
//
//   total(bound, places);   // from bound.layers, bound.workers and bound.fused->pair
#pragma once

#include "figures.hpp"
#include "sequential.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace benanza::bound {

namespace detail {
inline constexpr double never = std::numeric_limits<double>::infinity();

/// Where the layers of both forms of a model stand in model_bound::layers.
struct layer_places {
  std::vector<std::size_t> fused; ///< of each layer of the fused graph
};

/// True where the first choice is the chosen one, or was not measured.
inline bool chose_first(const choice& c) {
  return c.first == nullptr || c.first == c.chosen;
}

/// Adds up times of layers, for the unfused form and the fused one.
class adder {
public:
  adder(const model_bound& b, const layer_places& places)
      : b_(b)
      , places_(places) {
    const auto size = b.layers.size();
    timed_.resize(size);
    for (std::size_t i = 0; i < size; ++i)
      timed_[i] = b.layers[i].timed();
  }

  std::vector<double> unfused_nodes(const std::vector<double>& layer_ns) const {
    return on_nodes(*b_.graph, layer_ns);
  }
  /// What the fused graph's nodes take as one; infinite for those that were not measured so, and
  /// for those that are their one part.
  std::vector<double> fused_nodes(const std::vector<double>& layer_ns) const {
    std::vector<double> out;
    const fusion& pair = b_.fused->pair;
    for (std::size_t i = 0; i < pair.fused->nodes.size(); ++i) {
      const int layer = pair.fused->nodes[i].layer;
      const std::size_t l = layer == model::no_layer ? 0 : places_.fused[at(layer)];
      const bool as_one =
          layer != model::no_layer && pair.differs(i) && (timed_[l] || pair.is_view(i));
      out.push_back(as_one ? layer_ns[l] : never);
    }
    return out;
  }
  /// What the unfused graph's nodes take as parts of fused ones; infinite for those without a time
  /// whose fused node has one.
  std::vector<double> part_nodes(const std::vector<double>& layer_ns,
                                 const std::vector<double>& own_ns) const {
    std::vector<double> out = unfused_nodes(layer_ns);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const int l = b_.graph->nodes[i].layer;
      const bool known = l != model::no_layer && b_.layers[at(l)].known();
      if (!known && own_ns[at(b_.fused->pair.owner[i])] < never) out[i] = never;
    }
    return out;
  }

  void add(const std::vector<double>& layer_ns, total_series& unfused, total_series* fused) const {
    auto [sum, longest] = unfused_totals(layer_ns);
    unfused.add(sum, std::move(longest));
    if (fused == nullptr) return;
    auto [fused_sum, fused_longest] = fused_totals(layer_ns);
    fused->add(fused_sum, std::move(fused_longest));
  }
  std::pair<double, path> unfused_totals(const std::vector<double>& layer_ns) const {
    const std::vector<double> ns = unfused_nodes(layer_ns);
    double sum = 0;
    for (double v : ns)
      sum += v;
    return {sum, longest_path(*b_.graph, ns)};
  }
  std::pair<double, path> fused_totals(const std::vector<double>& layer_ns) const {
    const std::vector<double> own = fused_nodes(layer_ns), parts = part_nodes(layer_ns, own);
    return {b_.fused->pair.sequential(own, parts), b_.fused->pair.longest(own, parts)};
  }

private:
  const model_bound& b_;
  const layer_places& places_;
  std::vector<char> timed_;
};

/// Fills the totals and the gain of `b` from its layers.
inline void total(model_bound& b, const layer_places& places) {
  const std::vector<std::int64_t> uses = model::counts(*b.graph);
  const std::size_t n = b.layers.size();
  const adder sum(b, places);
  const auto gain_of = [&](const std::vector<double>& first, const std::vector<double>& chosen) {
    return sequential(uses, first) - sequential(uses, chosen);
  };
  std::vector<double> least(n, 0), chosen(n, 0), first(n, 0), roofs(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const layer_answer& l = b.layers[i];
    roofs[i] = l.roofline.value_or(roof{}).ns;
    least[i] = l.algorithms.bound.ns;
    chosen[i] = l.algorithms.prediction.ns;
    first[i] = chose_first(l.algorithms) ? chosen[i] : l.algorithms.first_choice.ns;
  }
  const std::vector<double> bound_ns = least, chosen_ns = chosen;
  const double gain = gain_of(first, chosen);

  total_series bounds(b.workers), predictions(b.workers), rooflines(b.workers);
  total_series fused_bounds(b.workers), fused_predictions(b.workers), fused_rooflines(b.workers);
  std::vector<double> gains;
  generator random{1};
  for (int draw = 0; draw < redraws; ++draw) {
    for (std::size_t i = 0; i < n; ++i) {
      if (!b.layers[i].timed()) continue;
      const choice& c = b.layers[i].algorithms;
      least[i] = redrawn_minimum(c.bound.sorted_ns, random);
      chosen[i] = redrawn_median(c.prediction.sorted_ns, random);
      first[i] = chose_first(c) ? chosen[i] : redrawn_median(c.first_choice.sorted_ns, random);
    }
    sum.add(least, bounds, b.fused ? &fused_bounds : nullptr);
    sum.add(chosen, predictions, b.fused ? &fused_predictions : nullptr);
    gains.push_back(gain_of(first, chosen));
  }
  const auto finish = [&](form_figures& f, total_series& of_bounds, total_series& of_predictions,
                          total_series& of_rooflines, auto&& at_point) {
    const auto put = [&](totals& to, total_series& from, const std::vector<double>& ns) {
      auto [all, longest] = at_point(ns);
      to = from.totals(all, std::move(longest));
    };
    put(f.bound, of_bounds, bound_ns);
    put(f.prediction, of_predictions, chosen_ns);
    put(f.roofline, of_rooflines, roofs);
  };
  finish(b, bounds, predictions, rooflines,
         [&](const std::vector<double>& ns) { return sum.unfused_totals(ns); });
  b.gain = between(std::move(gains), gain);
  if (!b.fused) return;

  finish(*b.fused, fused_bounds, fused_predictions, fused_rooflines,
         [&](const std::vector<double>& ns) { return sum.fused_totals(ns); });
  const std::vector<double> own = sum.fused_nodes(bound_ns), parts = sum.part_nodes(bound_ns, own);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto [as_one, as_parts] = b.fused->pair.times(i, own, parts);
    const bool several = b.fused->pair.differs(i) && !b.fused->pair.is_view(i);
    b.fused->as_one.push_back(as_one <= as_parts && as_one < never);
    b.fused->fused_nodes += several;
    b.fused->faster_fused += several && b.fused->as_one.back() != 0;
    b.fused->not_measured += several && as_one == never;
  }
}

} // namespace detail

} // namespace benanza::bound
