// SPDX-License-Identifier: Apache-2.0
// How fast could a model run, and how long should a real run take? All figures of one model in one
// type on some threads: sequential, parallel and reachable, as bound and as prediction, each with
// its interval; what choosing algorithms wins; what the figures rest on. Times in ns.
//
//   model_bound b = analyse(run, case_table(run), run.graphs[0], {numeric::f32, 1});
//   b.bound.sequential.ns   b.prediction.sequential.ns   b.partial()
#pragma once

#include "coverage.hpp"
#include "interval.hpp"
#include "parallel.hpp"
#include "sequential.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::bound {

/// The three totals of a model.
struct totals {
  figure sequential; ///< one layer after the other
  figure parallel;   ///< the longest path
  figure reachable;  ///< with as many workers as there are: max(path, sum / workers)
  path longest;
};

/// All figures of one model in one type on some threads.
struct model_bound {
  const model::graph* graph = nullptr;
  numeric type = numeric::f32;
  int threads = 1;
  int workers = 1;                  ///< that run layers at the same time, of `threads` each
  std::string_view state = "coldw"; ///< the cache state that the prediction rests on
  std::int64_t prepared_weight_bytes = 0;
  std::vector<layer_answer> layers; ///< in the order of graph->layers
  totals bound, prediction;
  figure gain; ///< what the chosen algorithms save over the first choices
  coverage covered;
  std::vector<std::string> faults; ///< layers whose prediction lies below their bound
  std::vector<std::string> notes;  ///< what the run lacks that the figures should rest on

  bool partial() const { return covered.partial(); }
  /// Failed cases of the model's layers.
  std::int64_t failed() const {
    std::int64_t n = 0;
    for (const layer_answer& l : layers)
      n += l.failed;
    return n;
  }
  /// The assumption of the parallel bound.
  std::string_view assumption() const {
    return threads == 1 ? "unbounded workers" : "each layer has the whole device to itself";
  }
};

/// A fact of the machine that is a number; nothing if the run does not say or it is none.
inline std::optional<std::int64_t> machine_number(const result::run& r, const std::string& key) {
  const auto machine = r.provenance.find("machine");
  if (machine == r.provenance.end()) return std::nullopt;
  const auto fact = machine->second.find(key);
  if (fact == machine->second.end()) return std::nullopt;
  std::int64_t value = 0;
  const std::string& text = fact->second;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (bad != std::errc{} || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

namespace detail {
/// How often the samples are redrawn for an interval.
inline constexpr int redraws = 200;
/// A prediction may lie this far below its bound by noise alone (single layers inside a network
/// undercut their isolated minimum by up to 1 %).
inline constexpr double noise = 0.99;

inline std::vector<layer_answer> answers(const case_table& cases, const model::graph& g, setting s,
                                         std::string_view state) {
  std::vector<layer_answer> out;
  const std::vector<std::int64_t> uses = model::counts(g);
  for (std::size_t i = 0; i < g.layers.size(); ++i)
    out.push_back(answer(cases, g.layers[i], uses[i], s.first, g.type, s.second, state));
  return out;
}

/// Bytes of the weights of all nodes as the chosen algorithms want them; of a missing layer, as a
/// model would store them in type `t`.
inline std::int64_t prepared_weights(const model::graph& g, const std::vector<layer_answer>& layers,
                                     numeric t) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < layers.size(); ++i)
    bytes += layers[i].uses * (layers[i].timed() ? layers[i].algorithms.chosen->weight_bytes
                                                 : op::cost(g.layers[i]).constant_bytes(t));
  return bytes;
}

/// Which of a layer's times a total is made of.
using part = timing choice::*;

/// The first choice's samples, or the chosen one's where it is the same or was not measured.
inline bool chose_first(const choice& c) {
  return c.first == nullptr || c.first == c.chosen;
}

inline std::vector<double> times(const std::vector<layer_answer>& layers, part p) {
  std::vector<double> ns;
  for (const layer_answer& l : layers)
    ns.push_back(l.timed() ? (l.algorithms.*p).ns : 0);
  return ns;
}

/// Fills the totals and the gain of `b` from its layers.
inline void total(model_bound& b) {
  const model::graph& g = *b.graph;
  const std::vector<std::int64_t> uses = model::counts(g);
  struct series {
    std::vector<double> sequential, parallel, reachable;
  };
  series drawn_bound, drawn_prediction;
  std::vector<double> drawn_gain, scratch;
  const auto add = [&](series& to, const std::vector<double>& ns) {
    to.sequential.push_back(sequential(uses, ns));
    to.parallel.push_back(longest_path_ns(g, ns, scratch));
    to.reachable.push_back(reachable(to.parallel.back(), to.sequential.back(), b.workers));
  };
  const auto gain_of = [&](const std::vector<double>& first, const std::vector<double>& chosen) {
    return sequential(uses, first) - sequential(uses, chosen);
  };

  const std::vector<double> bound_ns = times(b.layers, &choice::bound);
  const std::vector<double> chosen_ns = times(b.layers, &choice::prediction);
  std::vector<double> first_ns = chosen_ns;
  for (std::size_t i = 0; i < b.layers.size(); ++i)
    if (b.layers[i].timed() && !chose_first(b.layers[i].algorithms))
      first_ns[i] = b.layers[i].algorithms.first_choice.ns;

  generator random{1};
  std::vector<double> least(bound_ns.size()), chosen(bound_ns.size()), first(bound_ns.size());
  for (int draw = 0; draw < redraws; ++draw) {
    for (std::size_t i = 0; i < b.layers.size(); ++i) {
      if (!b.layers[i].timed()) continue;
      const choice& c = b.layers[i].algorithms;
      least[i] = redrawn_minimum(c.bound.sorted_ns, random);
      chosen[i] = redrawn_median(c.prediction.sorted_ns, random);
      first[i] = chose_first(c) ? chosen[i] : redrawn_median(c.first_choice.sorted_ns, random);
    }
    add(drawn_bound, least);
    add(drawn_prediction, chosen);
    drawn_gain.push_back(gain_of(first, chosen));
  }

  const auto finish = [&](totals& out, series drawn, const std::vector<double>& ns) {
    out.longest = longest_path(g, ns);
    const double sum = sequential(uses, ns);
    out.sequential = between(std::move(drawn.sequential), sum);
    out.parallel = between(std::move(drawn.parallel), out.longest.ns);
    out.reachable = between(std::move(drawn.reachable), reachable(out.longest.ns, sum, b.workers));
  };
  finish(b.bound, std::move(drawn_bound), bound_ns);
  finish(b.prediction, std::move(drawn_prediction), chosen_ns);
  b.gain = between(std::move(drawn_gain), gain_of(first_ns, chosen_ns));
}

/// How many nodes of `b` have layers for which `is` holds.
template <class Predicate>
std::int64_t nodes_where(const model_bound& b, Predicate is) {
  std::int64_t n = 0;
  for (const layer_answer& l : b.layers)
    if (l.timed() && is(l)) n += l.uses;
  return n;
}

inline void check(model_bound& b) {
  for (const layer_answer& l : b.layers)
    if (l.timed() && l.uses != 0 && l.algorithms.prediction.ns < noise * l.algorithms.bound.ns)
      b.faults.push_back(l.name);
  if (const auto n = nodes_where(b, [](auto& l) { return l.algorithms.prediction_too_low; }))
    b.notes.push_back("no times with cold weights for " + std::to_string(n) +
                      " nodes: predicted from hot times, too low");
  if (const auto n = nodes_where(b, [](auto& l) { return l.algorithms.first == nullptr; }))
    b.notes.push_back("the library's first choice was not measured for " + std::to_string(n) +
                      " nodes: what choosing algorithms saves may be more");
  if (const auto n = nodes_where(b, [](auto& l) { return l.algorithms.bound_from_coldw; }))
    b.notes.push_back("no hot times for " + std::to_string(n) +
                      " nodes: bounded by times with cold weights, maybe too high");
}
} // namespace detail

/// All figures of the model `g` in a type on some threads; `cases` is the table of `r`. Refers to
/// `r`.
inline model_bound analyse(const result::run& r, const case_table& cases, const model::graph& g,
                           setting s) {
  model_bound b;
  b.graph = &g;
  std::tie(b.type, b.threads) = s;
  const auto cores = machine_number(r, "cores");
  b.workers = std::max(1, static_cast<int>(std::min<std::int64_t>(cores.value_or(1), 1 << 20)) /
                              std::max(1, b.threads));
  if (!cores)
    b.notes.push_back("the run does not say how many cores the machine has: one worker assumed");

  b.layers = detail::answers(cases, g, s, b.state);
  b.prepared_weight_bytes = detail::prepared_weights(g, b.layers, b.type);
  const auto cache = machine_number(r, "llc_bytes");
  if (!cache) {
    b.notes.push_back(
        "the run does not say how large the last-level cache is: weights taken as cold");
  } else if (b.prepared_weight_bytes <= *cache) {
    b.state = "hot";
    b.layers = detail::answers(cases, g, s, b.state);
    b.prepared_weight_bytes = detail::prepared_weights(g, b.layers, b.type);
  }
  detail::total(b);
  for (int n : b.bound.longest.nodes)
    if (const int l = g.nodes[static_cast<std::size_t>(n)].layer; l != model::no_layer)
      b.layers[static_cast<std::size_t>(l)].on_path = true;
  b.covered = cover(b.layers, model::unresolved(g));
  detail::check(b);
  return b;
}

} // namespace benanza::bound
