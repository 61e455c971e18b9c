// SPDX-License-Identifier: Apache-2.0
// How is a model analysed? In steps from a value to a value: what each layer rests on (answers),
// its algorithms for weights as warm as a run finds them (choose), layouts (lay out), sums (total),
// and what to think of it all (judge). Where BENANZA_COMPILED_BOUND is defined, one file of the
// program includes this for all.
//
//   answers(q) | choose(q, 1) | lay_out(q) | total() | judge(q)
#pragma once

#include "../model/footprint.hpp"
#include "appended.hpp"
#include "chain_runs.hpp"
#include "choose.hpp"
#include "facts.hpp"
#include "faults.hpp"
#include "form_totals.hpp"
#include "last_cache.hpp"
#include "layout/model.hpp"
#include "missing.hpp"
#include "model.hpp"
#include "roofline.hpp"
#include "verdict.hpp"

#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/functional/pipeable.hpp>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/view/zip.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
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
/// What is analysed: a model of a run in a type on some threads.
struct inquiry {
  const source& of;
  const model::graph& graph;
  const model::graph* fused; ///< null: there is none
  setting in;
  const analysis_options& options;

  question about(const warmth& weights) const {
    return {of.cases, of.machine, in.first, graph.type, in.second, weights};
  }
};

/// Rooflines replace layers that were not measured if others were; alone they are no figures of a
/// model.
inline void leave_rooflines_alone(std::vector<layer_answer>& layers) {
  if (ranges::any_of(layers, &layer_answer::timed)) return;
  for (layer_answer& l : layers)
    if (l.rests_on == basis::modelled) {
      l.rests_on = basis::missing;
      l.algorithms = {};
    }
}

/// Answers for the layers of the graph, and behind them for those that only its fused form has,
/// with weights as warm as that.
inline model_bound answered(model_bound b, const inquiry& q, const warmth& weights) {
  const question asked = q.about(weights);
  b.weights = weights;
  b.layers.clear();
  std::map<std::string, std::size_t> places;
  const std::vector<std::int64_t> uses = model::counts(*b.graph);
  for (const auto& [layer, n] : ranges::views::zip(b.graph->layers, uses)) {
    const std::optional<op::layer> added = copy_of_added(*b.graph, b.layers.size());
    places.emplace(op::name(layer), b.layers.size());
    b.layers.push_back(answer(asked, layer, n, added ? &*added : nullptr));
  }
  if (b.fused) {
    b.fused->layers.clear();
    const std::vector<std::int64_t> fused_uses = model::counts(*b.fused->graph);
    for (const auto& [layer, n] : ranges::views::zip(b.fused->graph->layers, fused_uses)) {
      const auto [found, fresh] = places.try_emplace(op::name(layer), b.layers.size());
      if (fresh) b.layers.push_back(answer(asked, layer, 0));
      b.layers[found->second].fused_uses += n;
      b.fused->layers.push_back(found->second);
    }
  }
  leave_rooflines_alone(b.layers);
  return b;
}

/// Bytes of the weights of all nodes as the chosen algorithms want them; of a layer without any, as
/// a model would store them in the type.
inline std::int64_t prepared_weights(const model_bound& b) {
  std::int64_t bytes = 0;
  for (const auto& [layer, known] : ranges::views::zip(b.graph->layers, b.layers))
    bytes += known.uses * (known.timed() ? known.algorithms.chosen->weight_bytes
                                         : op::cost(layer).constant_bytes(b.type));
  return bytes;
}

/// About what a run takes, layer after layer, before layouts are chosen.
inline double run_ns(const model_bound& b) {
  return ranges::accumulate(b.layers, 0.0, std::plus<>{}, [&b](const layer_answer& l) {
    return static_cast<double>(b.fused ? l.fused_uses : l.uses) * l.algorithms.prediction.ns;
  });
}

/// The longer a run takes, the more of its weights are gone from the last cache; and the more are
/// gone, the longer it takes: after so many rounds neither changes.
inline constexpr int rounds_until_settled = 2;

/// `b` with that share of its weights gone that results when others take so many times as much of
/// the last cache as was found.
inline model_bound settled(model_bound b, const inquiry& q, const result::own_cache& llc_share,
                           double times_others) {
  const auto footprint =
      static_cast<double>(model::footprint_bytes(q.graph, b.type, b.prepared_weight_bytes));
  const auto gone = [&](double others) {
    return llc_share.beside(others).gone(footprint, run_ns(b));
  };
  for (int round = 0; round < rounds_until_settled; ++round) {
    const warmth weights{.gone = gone(times_others)};
    b = answered(std::move(b), q, weights);
  }
  b.fewest_gone = gone(times_others / result::others_change);
  b.most_gone = gone(times_others * result::others_change);
  return b;
}

/// A fused form whose nodes all run as their parts is the unfused one: no figure is above its.
inline void not_above(layout_figures& fused, const layout_figures& unfused) {
  for (auto part : {&layout_figures::bound, &layout_figures::prediction})
    if (unfused.*part && (!(fused.*part) || (unfused.*part)->total.ns < (fused.*part)->total.ns))
      fused.*part = unfused.*part;
  const auto &plain = unfused.plain_prediction, &of_fused = fused.plain_prediction;
  if (plain && (!of_fused || plain->ns < of_fused->ns)) fused.plain_prediction = plain;
}

/// The figures of a form with every change of layout paid for.
inline layout_figures layout_figures_of(layout_model& m, bool fused) {
  layout_figures out{.bound = m.cheapest(purpose::bound, {.fused = fused}),
                     .prediction = m.cheapest(purpose::prediction, {.fused = fused}),
                     .plain_prediction = {}};
  if (const auto plain = m.cheapest(purpose::prediction, {.fused = fused, .plain_only = true}))
    out.plain_prediction = plain->total;
  return out;
}

/// The layouts that the forms of `b` can run in.
inline layout_model layouts_of(const model_bound& b, const question& q) {
  std::vector<const layer_answer*> layers, fused_layers;
  for (std::size_t i = 0; i < b.graph->layers.size(); ++i)
    layers.push_back(&b.layers[i]);
  if (!b.fused) return {q, *b.graph, layers, nullptr, {}};
  for (std::size_t i : b.fused->layers)
    fused_layers.push_back(&b.layers[i]);
  return {q, *b.graph, layers, &b.fused->pair, fused_layers};
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

/// Workers that run layers at the same time: as asked for, or as many as the cores leave room for.
inline int workers_of(model_bound& b, const inquiry& q) {
  const auto cores = machine_number(q.of.run, "cores");
  if (q.options.workers > 0) return q.options.workers;
  if (!cores)
    b.notes.push_back("the run does not say how many cores the machine has: one worker assumed");
  const auto most = static_cast<int>(std::min<std::int64_t>(cores.value_or(1), 1 << 20));
  return std::max(1, most / std::max(1, b.threads));
}

/// `b` with the figures of its rewritten graph where that has a lower bound. What that lacks is
/// missing in the bound.
inline model_bound with_rewritten(model_bound b, model_bound other) {
  if (other.partial()) {
    b.notes.push_back("not all of the rewritten graph was measured: it sets no bound");
    if (b.partial()) return b;
    b.missing = std::move(other.missing);
    b.missing_filter = std::move(other.missing_filter);
    b.missing_command = std::move(other.missing_command);
    return b;
  }
  for (const fault& f : other.faults)
    if (std::find(b.faults.begin(), b.faults.end(), f) == b.faults.end()) b.faults.push_back(f);
  b.equivalent = std::make_shared<const model_bound>(std::move(other));
  if (b.equivalent->fastest_form().bound.sequential.ns < b.best_form().bound.sequential.ns)
    b.rewritten = b.equivalent;
  return b;
}
} // namespace detail

/// The steps of an analysis: behind `|`, each from a value to a value.
namespace step {
using detail::inquiry;

/// What each layer rests on, its weights taken as cold.
inline model_bound answers(const inquiry& q) {
  model_bound b;
  b.graph = &q.graph;
  std::tie(b.type, b.threads) = q.in;
  b.workers = detail::workers_of(b, q);
  const auto measuring = q.of.run.provenance.find("measuring");
  if (measuring != q.of.run.provenance.end()) {
    if (measuring->second.contains(result::begin_after_fact))
      b.notes.push_back("interference was there all the time when measuring began, and not seen: "
                        "layers measured first may be too slow; run it again");
    if (const auto set = measuring->second.find("parameters"); set != measuring->second.end())
      b.notes.push_back("measured with other thresholds than usual: " + set->second);
  }
  if (q.fused != nullptr) {
    b.fused.emplace();
    b.fused->graph = q.fused;
    b.fused->pair = pair_up(*q.fused, q.graph);
  }
  b.memory = floor_of(*b.graph, b.type, b.threads, q.of.machine,
                      machine_number(q.of.run, "cores").value_or(0),
                      fastest_cold_weights(q.of.run, b.threads));
  b = detail::answered(std::move(b), q, warmth{});
  b.prepared_weight_bytes = detail::prepared_weights(b);
  return b;
}

/// Algorithms for weights as warm as a run of the model finds them, if others take so many times as
/// much of the last cache away as was found. Weights stay in a core's own cache if they fit.
inline auto choose(const inquiry& q, double times_others) {
  return ranges::make_pipeable([&q, times_others](model_bound b) {
    const auto cache = machine_number(q.of.run, "l2_bytes");
    const result::own_cache llc_share = own_cache_of(q.of.run);
    if (!cache) {
      b.notes.push_back(
          "the run does not say how large a core's own cache is: weights taken as cold");
    } else if (b.prepared_weight_bytes <= *cache) {
      b = detail::answered(std::move(b), q, {.hot = true});
      b.fewest_gone = b.most_gone = 0;
    } else if (llc_share.known()) {
      b = detail::settled(std::move(b), q, llc_share, times_others);
    }
    b.prepared_weight_bytes = detail::prepared_weights(b);
    return b;
  });
}

/// The figures of both forms with every change of layout paid for.
inline auto lay_out(const inquiry& q) {
  return ranges::make_pipeable([&q](model_bound b) {
    layout_model m = detail::layouts_of(b, q.about(b.weights));
    if (!m.known()) return b;
    b.layouts = detail::layout_figures_of(m, false);
    if (b.fused) {
      // Ways are compared by other samples than are reported.
      b.fused->layouts = detail::layout_figures_of(m, true);
      detail::not_above(*b.fused->layouts, *b.layouts);
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
    return b;
  });
}

/// The totals of both forms.
inline auto total() {
  return ranges::make_pipeable([](model_bound b) { return with_totals(std::move(b)); });
}

/// Intervals of the predictions that hold too if others use half or twice as much of the last
/// cache; `figures` gives the figures then.
template <class Figures>
auto widen(const Figures& figures) {
  return ranges::make_pipeable([&figures](model_bound b) {
    const auto hold = [&](double& gone, double times_others) {
      if (b.weights.hot || gone == b.weights.gone) return;
      const model_bound other = figures(times_others);
      detail::widen(b, other);
      if (b.fused && other.fused) detail::widen(*b.fused, *other.fused);
      gone = other.weights.gone;
    };
    hold(b.fewest_gone, 1 / result::others_change);
    hold(b.most_gone, result::others_change);
    return b;
  });
}

/// What the figures rest on, chain runs, what cannot be right, and what is missing.
inline auto judge(const inquiry& q) {
  return ranges::make_pipeable([&q](model_bound b) {
    b.covered = cover(b.layers, model::unresolved(q.graph));
    b.unmeasurable = bound::judge(b.layers).unmeasurable;
    return with_missing(with_faults(with_chain_runs(std::move(b), q.of.run)), q.of.run);
  });
}
} // namespace step

BENANZA_INLINE model_bound analyse(const source& s, const model::graph& g, setting in,
                                   const analysis_options& options) {
  using namespace step;
  const auto analysed = [&](const model::graph* fused) {
    const inquiry q{s, g, fused, in, options};
    const model_bound asked = answers(q);
    const auto figures = [&](double times_others) {
      return asked | choose(q, times_others) | lay_out(q) | total();
    };
    return figures(1) | widen(figures) | judge(q);
  };
  const std::vector<const model::graph*> forms = fused_forms(s.run, g);
  model_bound least = analysed(forms.empty() ? nullptr : forms.front());
  for (std::size_t i = 1; i < forms.size(); ++i)
    if (model_bound other = analysed(forms[i]);
        other.fused->layers_ns < least.fused->layers_ns) // memory may set the bound of all
      least = std::move(other);
  for (const model::graph* r : rewritten_forms(s.run, g))
    least = detail::with_rewritten(std::move(least), analyse(s, *r, in, options));
  return least;
}

} // namespace benanza::bound
