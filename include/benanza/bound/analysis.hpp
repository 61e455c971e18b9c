// SPDX-License-Identifier: Apache-2.0
// How is a model analysed? Layers are asked for their figures, layouts are chosen, sums are made,
// and what cannot be right is named. Where BENANZA_COMPILED_BOUND is defined, one file of the
// program includes this for all.
#pragma once

#include "../model/footprint.hpp"
#include "../result/own_cache.hpp"
#include "clock.hpp"
#include "facts.hpp"
#include "form_totals.hpp"
#include "missing.hpp"
#include "model.hpp"
#include "run_parts.hpp"
#include "verdict.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::bound {

BENANZA_INLINE source::source(const result::run& r, limits l)
    : run(r)
    , cases(r)
    , machine(std::move(l)) {}
BENANZA_INLINE source::source(const result::run& r)
    : source(r, limits_of(r)) {}

namespace detail {
/// A prediction may lie this far below its bound by noise alone (single layers inside a network
/// undercut their isolated minimum by up to 1 %).
inline constexpr double noise = roofline_noise;

/// Answers for the layers of `g`, and behind them for those that only `fused` has.
inline layer_places ask(const question& q, const model::graph& g, const model::graph* fused,
                        std::vector<layer_answer>& out) {
  out.clear();
  layer_places places;
  std::map<std::string, std::size_t> known;
  const std::vector<std::int64_t> uses = model::counts(g);
  for (std::size_t i = 0; i < g.layers.size(); ++i) {
    out.push_back(answer(q, g.layers[i], uses[i]));
    known.emplace(out.back().name, i);
  }
  if (fused == nullptr) return places;
  const std::vector<std::int64_t> fused_uses = model::counts(*fused);
  for (std::size_t i = 0; i < fused->layers.size(); ++i) {
    const auto [found, fresh] = known.try_emplace(op::name(fused->layers[i]), out.size());
    if (fresh) out.push_back(answer(q, fused->layers[i], 0));
    out[found->second].fused_uses += fused_uses[i];
    places.fused.push_back(found->second);
  }
  return places;
}

/// Bytes of the weights of all nodes as the chosen algorithms want them; of a layer without any, as
/// a model would store them in type `t`.
inline std::int64_t prepared_weights(const model::graph& g, const std::vector<layer_answer>& layers,
                                     numeric t) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < g.layers.size(); ++i)
    bytes += layers[i].uses * (layers[i].timed() ? layers[i].algorithms.chosen->weight_bytes
                                                 : op::cost(g.layers[i]).constant_bytes(t));
  return bytes;
}

/// A fused form whose nodes all run as their parts is the unfused one: no figure is above its.
inline void not_above(layout_figures& fused, const layout_figures& unfused) {
  for (auto part : {&layout_figures::bound, &layout_figures::prediction})
    if (unfused.*part && (!(fused.*part) || (unfused.*part)->total.ns < (fused.*part)->total.ns))
      fused.*part = unfused.*part;
  const auto &plain = unfused.plain_prediction, &of_fused = fused.plain_prediction;
  if (plain && (!of_fused || plain->ns < of_fused->ns)) fused.plain_prediction = plain;
}

/// The figures of both forms with every change of layout paid for.
inline void lay_out(model_bound& b, const question& q, const layer_places& places) {
  std::vector<const layer_answer*> layers, fused_layers;
  for (std::size_t i = 0; i < b.graph->layers.size(); ++i)
    layers.push_back(&b.layers[i]);
  for (std::size_t i : places.fused)
    fused_layers.push_back(&b.layers[i]);
  layout_model m(q, *b.graph, layers, b.fused ? &b.fused->pair : nullptr, fused_layers);
  if (!m.known()) return;
  const auto figures = [&](bool fused) {
    layout_figures out{.bound = m.cheapest(purpose::bound, {.fused = fused}),
                       .prediction = m.cheapest(purpose::prediction, {.fused = fused}),
                       .plain_prediction = {}};
    if (const auto plain = m.cheapest(purpose::prediction, {.fused = fused, .plain_only = true}))
      out.plain_prediction = plain->total;
    return out;
  };
  b.layouts = figures(false);
  if (b.fused) {
    // Ways are compared by other samples than are reported.
    b.fused->layouts = figures(true);
    not_above(*b.fused->layouts, *b.layouts);
  }
  if (!m.untried_changes().empty()) {
    // What is left are the layouts for which nothing has to be changed: no prediction of a run.
    b.missing = m.untried_changes();
    b.layouts->bound = b.layouts->prediction = std::nullopt;
    if (b.fused) b.fused->layouts->bound = b.fused->layouts->prediction = std::nullopt;
  } else if (!b.layouts->prediction || (b.fused && !b.fused->layouts->prediction))
    b.notes.push_back("reorders were not measured that the model's layouts need: no figures with "
                      "layouts paid for");
  if (m.silent_nodes() > 0)
    b.notes.push_back("the algorithms of " + std::to_string(m.silent_nodes()) +
                      " nodes do not say in which layouts they work: taken as plain");
  if (const auto& modelled = m.modelled_changes(); !modelled.empty() && b.missing.empty())
    b.notes.push_back(std::to_string(modelled.size()) +
                      (modelled.size() == 1 ? " reorder is" : " reorders are") +
                      " modelled by roofline, such as " + modelled.front());
}

/// How many nodes of `b` have layers for which `is` holds.
template <class Predicate>
std::int64_t nodes_where(const model_bound& b, Predicate is) {
  std::int64_t n = 0;
  for (const layer_answer& l : b.layers)
    if (l.timed() && is(l)) n += l.uses;
  return n;
}

/// Real runs of the model in the type and on the threads of `b`.
inline void find_runs(model_bound& b, const result::run& r) {
  for (const measurement& m : r.measurements) {
    if (m.family != "model" || m.type != name(b.type) || m.threads != b.threads) continue;
    const bool unfused = m.key == b.graph->name, fused = b.fused && m.key == b.fused->graph->name;
    if (!unfused && !fused) continue;
    if (m.error.empty())
      b.runs.push_back({&m, fused, parts_of(m, fused, b)});
    else
      b.failed_runs.push_back(&m);
  }
}

/// What the run found out about the last cache; of runs that were put together what they say
/// together.
inline result::own_cache own_cache_of(const result::run& r) {
  const auto typical = [&r](const char* fact) {
    const std::vector<std::int64_t> found = numbers_of(r, "measuring", fact);
    return result::typical({found.begin(), found.end()});
  };
  return {.bytes = typical(result::own_cache_bytes_fact), .ns = typical(result::own_cache_ns_fact)};
}

/// After so many rounds of looking how long a run takes, and so how much is gone, both stand still.
inline constexpr int looks_at_gone = 2;

/// About what a run takes, layer after layer, before layouts are chosen.
inline double run_ns(const std::vector<layer_answer>& layers, bool fused) {
  double ns = 0;
  for (const layer_answer& l : layers)
    ns += static_cast<double>(fused ? l.fused_uses : l.uses) * l.algorithms.prediction.ns;
  return ns;
}

inline void check(model_bound& b) {
  for (const layer_answer& l : b.layers) {
    if (!l.timed() || l.uses + l.fused_uses == 0) continue;
    if (l.algorithms.prediction.ns < noise * l.algorithms.bound.ns)
      b.faults.push_back({"the prediction lies below the bound", l.name});
    const roof least = l.roofline.value_or(roof{});
    const double clock = l.algorithms.best != nullptr ? l.algorithms.best->min_clock_ns : 0;
    if (l.algorithms.bound.ns < noise * at_higher_clock(least.clock_ns, clock) * least.ns)
      b.faults.push_back({"the bound lies below the roofline", l.name});
  }
  for (const whole_run& w : b.runs) {
    const form_figures& f = w.fused ? static_cast<form_figures&>(*b.fused) : b;
    const double clock = at_higher_clock(b.clock_ns, w.run->min_clock_ns);
    if (b.covered.missing_nodes == 0 && w.run->min_ns < noise * clock * f.bound.sequential.ns)
      b.faults.push_back({"a run is faster than the bound", w.run->name});
  }
  if (const auto n = nodes_where(b, [](auto& l) { return l.algorithms.prediction_too_low; }))
    b.notes.push_back("no times with cold weights for " + std::to_string(n) +
                      " nodes: predicted from warmer ones, too low");
  if (const auto n = nodes_where(b, [](auto& l) { return l.algorithms.prediction_too_high; }))
    b.notes.push_back("no times with weights from the caches for " + std::to_string(n) +
                      " nodes: predicted from colder ones, maybe too high");
  if (const auto n = nodes_where(b, [](auto& l) { return l.algorithms.first == nullptr; }))
    b.notes.push_back("the library's first choice was not measured for " + std::to_string(n) +
                      " nodes: what choosing algorithms saves may be more");
  if (const auto n = nodes_where(b, [](auto& l) { return l.algorithms.bound_from_coldw; }))
    b.notes.push_back("no hot times for " + std::to_string(n) +
                      " nodes: bounded by times with cold weights, maybe too high");
}
} // namespace detail

namespace detail {
/// All figures, if those who share the last cache take so many times as much away as was found.
inline model_bound analyse(const source& s, const model::graph& g, setting in,
                           const analysis_options& options, double times_others) {
  model_bound b;
  b.graph = &g;
  std::tie(b.type, b.threads) = in;
  const auto cores = machine_number(s.run, "cores");
  b.workers =
      options.workers > 0
          ? options.workers
          : std::max(1, static_cast<int>(std::min<std::int64_t>(cores.value_or(1), 1 << 20)) /
                            std::max(1, b.threads));
  if (!cores && options.workers == 0)
    b.notes.push_back("the run does not say how many cores the machine has: one worker assumed");
  const auto measuring = s.run.provenance.find("measuring");
  if (measuring != s.run.provenance.end() && measuring->second.contains(result::begin_after_fact))
    b.notes.push_back("interference was not seen when measuring began, for it was there all the "
                      "time: layers measured first may be too slow; run it again");
  const model::graph* fused = fused_form(s.run, g);
  if (fused != nullptr) {
    b.fused.emplace();
    b.fused->graph = fused;
    b.fused->pair = pair_up(*fused, g);
  }

  question q{s.cases, s.machine, b.type, g.type, b.threads};
  layer_places places = ask(q, g, fused, b.layers);
  b.prepared_weight_bytes = prepared_weights(g, b.layers, b.type);
  // Weights stay where they are from run to run only in a cache without interference.
  const auto cache = machine_number(s.run, "l2_bytes");
  if (!cache) {
    b.notes.push_back(
        "the run does not say how large a core's own cache is: weights taken as cold");
  } else if (b.prepared_weight_bytes <= *cache) {
    q.weights = {.hot = true};
    places = ask(q, g, fused, b.layers);
    b.fewest_gone = b.most_gone = 0;
  } else if (const result::own_cache own = own_cache_of(s.run); own.known()) {
    const auto footprint =
        static_cast<double>(model::footprint_bytes(g, b.type, b.prepared_weight_bytes));
    const auto gone = [&](double others) {
      return own.beside(others).gone(footprint, run_ns(b.layers, fused != nullptr));
    };
    // The longer a run takes, the more is gone; and the more is gone, the longer it takes.
    for (int i = 0; i < looks_at_gone; ++i) {
      q.weights.gone = gone(times_others);
      places = ask(q, g, fused, b.layers);
    }
    b.fewest_gone = gone(times_others / result::others_change);
    b.most_gone = gone(times_others * result::others_change);
  }
  b.weights = q.weights;
  b.prepared_weight_bytes = prepared_weights(g, b.layers, b.type);
  total(b, places);
  for (int n : b.bound.longest.nodes)
    if (const int l = g.nodes[at(n)].layer; l != model::no_layer) b.layers[at(l)].on_path = true;
  b.covered = cover(b.layers, model::unresolved(g));
  lay_out(b, q, places);
  return b;
}

inline void widen(figure& f, const figure& other) {
  f.low_ns = std::min(f.low_ns, other.low_ns);
  f.high_ns = std::max(f.high_ns, other.high_ns);
}

/// Makes the intervals of the predictions hold those of the same form elsewhere.
inline void widen(form_figures& f, const form_figures& other) {
  for (auto part : {&totals::sequential, &totals::parallel, &totals::reachable})
    widen(f.prediction.*part, other.prediction.*part);
  if (!f.layouts || !other.layouts) return;
  if (f.layouts->prediction && other.layouts->prediction)
    widen(f.layouts->prediction->total, other.layouts->prediction->total);
  if (f.layouts->plain_prediction && other.layouts->plain_prediction)
    widen(*f.layouts->plain_prediction, *other.layouts->plain_prediction);
}
} // namespace detail

BENANZA_INLINE model_bound analyse(const source& s, const model::graph& g, setting in,
                                   const analysis_options& options) {
  model_bound b = detail::analyse(s, g, in, options, 1);
  for (const auto& [gone, times_others] : {std::pair(b.fewest_gone, 1 / result::others_change),
                                           {b.most_gone, result::others_change}}) {
    if (b.weights.hot || gone == b.weights.gone) continue;
    const model_bound other = detail::analyse(s, g, in, options, times_others);
    detail::widen(b, other);
    if (b.fused && other.fused) detail::widen(*b.fused, *other.fused);
    (times_others < 1 ? b.fewest_gone : b.most_gone) = other.weights.gone;
  }
  b.clock_ns = bound_clock_ns(b.layers, model::counts(g));
  detail::find_runs(b, s.run);
  detail::check(b);
  b.unmeasurable = judge(b.layers).unmeasurable;
  note_missing(b, s.run);
  return b;
}

} // namespace benanza::bound
