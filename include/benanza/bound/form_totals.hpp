// SPDX-License-Identifier: Apache-2.0
// What do a model's layers add up to, unfused and fused? The totals of both forms: at the point
// estimates, and for each redraw of all layers' samples, which both forms share. Times in ns.
//
//   model_bound b = with_totals(std::move(b));   // from b.layers, b.workers and b.fused->pair
#pragma once

#include "figures.hpp"
#include "layer_times.hpp"

#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/view/zip.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace benanza::bound {

namespace detail {
inline constexpr double never = std::numeric_limits<double>::infinity();

/// The sums of the unfused form.
inline sums unfused_sums(const model_bound& b, const std::vector<double>& layer_ns) {
  const std::vector<double> ns = on_nodes(*b.graph, layer_ns);
  return {ranges::accumulate(ns, 0.0), longest_path(*b.graph, ns)};
}

/// What the nodes of both graphs take in the fused form.
struct fused_times {
  /// Of fused nodes as one; infinite where that has no time, and for those that are their one part.
  std::vector<double> own;
  /// Of unfused nodes as parts; infinite for those without a time whose fused node has one.
  std::vector<double> parts;
};

inline fused_times times_as_fused(const model_bound& b, const std::vector<double>& layer_ns) {
  const fusion& pair = b.fused->pair;
  fused_times out{.own = {}, .parts = on_nodes(*b.graph, layer_ns)};
  for (std::size_t i = 0; i < pair.fused->nodes.size(); ++i) {
    const model::node& n = pair.fused->nodes[i];
    const bool layer = n.layer != model::no_layer;
    const std::size_t l = layer ? b.fused->layers[at(n.layer)] : 0;
    const bool as_one = layer && pair.differs(i) && (b.layers[l].timed() || pair.is_view(i));
    out.own.push_back(as_one ? layer_ns[l] : never);
  }
  for (const auto& [n, owner, ns] : ranges::views::zip(b.graph->nodes, pair.owner, out.parts)) {
    const bool known = n.layer != model::no_layer && b.layers[at(n.layer)].known();
    if (!known && out.own[at(owner)] < never) ns = never;
  }
  return out;
}

inline sums fused_sums(const model_bound& b, const std::vector<double>& layer_ns) {
  const fused_times t = times_as_fused(b, layer_ns);
  return {b.fused->pair.sequential(t.own, t.parts), b.fused->pair.longest(t.own, t.parts)};
}

/// Fills in the totals of a form, whose sums `sums_of` makes of a time of each layer.
template <class SumsOf>
void fill_totals(form_figures& f, const model_bound& b, const std::vector<layer_times>& redrawn,
                 SumsOf sums_of) {
  total_series bounds(b.workers), predictions(b.workers), rooflines(b.workers);
  for (const layer_times& t : redrawn) {
    bounds.add(sums_of(b, t.bound));
    predictions.add(sums_of(b, t.prediction));
  }
  const layer_times point = point_times(b.layers);
  f.bound = bounds.totals(sums_of(b, point.bound));
  f.prediction = predictions.totals(sums_of(b, point.prediction));
  const double winograd_ns = sums_of(b, times_with_winograd(b.layers)).sequential_ns;
  if (winograd_ns < f.bound.sequential.ns) f.winograd_ns = winograd_ns;
  std::vector<double> roofs;
  for (const layer_answer& l : b.layers)
    roofs.push_back(l.roofline.value_or(roof{}).ns);
  f.roofline = rooflines.totals(sums_of(b, roofs));
}

/// Counts the nodes that are faster as one, and those that were not measured so.
inline void count_fused(model_bound& b) {
  fused_figures& f = *b.fused;
  const fused_times t = times_as_fused(b, point_times(b.layers).bound);
  for (std::size_t i = 0; i < t.own.size(); ++i) {
    const auto [as_one, as_parts] = f.pair.times(i, t.own, t.parts);
    const bool several = f.pair.differs(i) && !f.pair.is_view(i);
    f.as_one.push_back(as_one <= as_parts && as_one < never);
    f.fused_nodes += several;
    f.faster_fused += several && f.as_one.back() != 0;
    f.not_measured += several && as_one == never;
  }
}
} // namespace detail

namespace detail {
/// No figure of `f` below is less than that; nothing that was not measured becomes a figure.
inline void raise(figure& f, double least_ns) {
  if (f.ns <= 0) return;
  for (double* ns : {&f.ns, &f.low_ns, &f.high_ns})
    *ns = std::max(*ns, least_ns);
}

/// Raises what no run of a form can beat to what reading from memory takes.
inline void raise(form_figures& f, const memory_floor& memory) {
  f.layers_ns = f.bound.sequential.ns;
  for (totals* t : {&f.roofline, &f.bound}) {
    raise(t->sequential, memory.ns);
    raise(t->parallel, memory.all_threads_ns);
    raise(t->reachable, memory.all_threads_ns);
  }
  if (f.winograd_ns > 0) f.winograd_ns = std::max(f.winograd_ns, memory.ns);
  if (f.winograd_ns >= f.bound.sequential.ns) f.winograd_ns = 0;
  if (f.layouts && f.layouts->bound) raise(f.layouts->bound->total, memory.ns);
}
} // namespace detail

/// What a chain on registers took directly after the least samples of `layers`, by how long these
/// take, each as often as nodes use it; 0: unknown. Processors change their clock with their heat
/// and with what their other cores do, by a tenth within seconds on some servers: divided by it,
/// bounds of two runs can be compared.
inline double bound_clock_ns(const std::vector<layer_answer>& layers) {
  double sum = 0, took_ns = 0;
  for (const layer_answer& l : layers) {
    const double clock_ns = l.timed() ? l.algorithms.best->min_clock_ns : 0;
    if (clock_ns <= 0) continue;
    const double ns = static_cast<double>(l.uses) * l.algorithms.bound.ns;
    sum += ns * clock_ns;
    took_ns += ns;
  }
  return took_ns > 0 ? sum / took_ns : 0;
}

/// `b` with the totals of both forms, made of its layers and of what its memory allows.
inline model_bound with_totals(model_bound b) {
  const std::vector<layer_times> redrawn = redrawn_times(b.layers);
  detail::fill_totals(b, b, redrawn, detail::unfused_sums);
  if (b.fused) {
    detail::fill_totals(*b.fused, b, redrawn, detail::fused_sums);
    detail::count_fused(b);
    detail::raise(*b.fused, b.memory);
  }
  detail::raise(b, b.memory);
  for (int n : b.bound.longest.nodes)
    if (const int l = b.graph->nodes[detail::at(n)].layer; l != model::no_layer)
      b.layers[detail::at(l)].on_path = true;
  b.clock_ns = bound_clock_ns(b.layers);
  return b;
}

} // namespace benanza::bound
