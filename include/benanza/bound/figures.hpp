// SPDX-License-Identifier: Apache-2.0
// Which figures does a model have, in one type on some threads? Unfused and fused: roofline, bound
// and prediction; sequential, parallel and on k workers; with every layout free and with every
// change of layout paid for; what all that rests on; and chain runs of the model. Times in ns.
//
//   b.bound.sequential.ns   b.fused->prediction.sequential.ns   b.layouts->prediction->total.ns
#pragma once

#include "../result/parts.hpp"
#include "coverage.hpp"
#include "fusion.hpp"
#include "layout/solution.hpp"
#include "memory_floor.hpp"
#include "totals.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::bound {

/// A model with every change of layout paid for.
struct layout_figures {
  std::optional<layout_solution> bound,
      prediction;                         ///< nothing: a reorder that is needed has no time
  std::optional<figure> plain_prediction; ///< if all tensors were as ONNX has them
};

/// The figures of one form of a model, unfused or fused.
struct form_figures {
  const model::graph* graph = nullptr;
  totals roofline; ///< zero: no ceiling is known
  /// A bound is the sum of its layers, or what reading from memory takes where that is more.
  totals bound, prediction;
  double layers_ns = 0;   ///< the bounds of the layers alone, one after the other
  double winograd_ns = 0; ///< the bound with the Winograds that it leaves out; 0: none is faster
  std::optional<layout_figures> layouts; ///< nothing: the algorithms' layouts are unknown
};

/// What a run of a form should take, one layer after the other, with changes of layout paid
/// for; nothing where these, or all layers, were not measured.
inline std::optional<figure> expected(const form_figures& f) {
  if (f.layouts && !f.layouts->prediction) return std::nullopt;
  const figure& out = f.layouts ? f.layouts->prediction->total : f.prediction.sequential;
  return out.ns > 0 ? std::optional(out) : std::nullopt;
}

/// The same at any clock; nothing where that of the layers is unknown.
inline std::optional<by_clock> expected_by_clock(const form_figures& f) {
  if (!f.layouts || !f.layouts->prediction) return std::nullopt;
  const by_clock& total = f.layouts->prediction->total_clocked;
  return total.per_clock > 0 ? std::optional(total) : std::nullopt;
}

/// The same at the clock of the chain run `m`; nothing where one of both clocks is unknown.
inline std::optional<double> expected_at_clock(const form_figures& f, const measurement& m) {
  const std::optional<by_clock> expected = expected_by_clock(f);
  return expected && m.clock_ns > 0 ? std::optional(expected->at(m.clock_ns)) : std::nullopt;
}

/// The fused form: each node as one or as its parts, whichever is faster.
struct fused_figures : form_figures {
  fusion pair;
  std::vector<std::size_t>
      layers;                    ///< where each layer of the fused graph is in model_bound::layers
  std::vector<char> as_one;      ///< of each node of the fused graph: its bound is that of one
  std::int64_t fused_nodes = 0;  ///< nodes that are another layer than their parts
  std::int64_t faster_fused = 0; ///< of these, as one by their bound
  std::int64_t not_measured = 0; ///< of these, without a time as one
};

/// A part of a chain run: a node by its algorithm, or all changes of layout.
struct run_part {
  std::string name;               ///< as in result/parts.hpp
  double ns = 0, expected_ns = 0; ///< this at the clock of the run, where that is known
};

/// A run of the whole model as one chain of kernels.
struct chain_run {
  const measurement* run = nullptr;
  bool fused = false;
  /// Those for which a time was expected too; nothing where the run reported none.
  std::vector<run_part> parts{};

  /// True where branches ran side by side: no prediction is about that.
  bool side_by_side() const { return run->algorithm == result::side_by_side; }
};

/// What a scenario of the whole model has shown.
struct scenario_run {
  const measurement* run = nullptr;
  bool fused = false;
  std::int64_t batch = 1;
};

/// Where the command that measures what is missing writes its result.
inline constexpr std::string_view missing_file = "missing.json";

/// Two figures that cannot both be right.
struct fault {
  std::string what; ///< "the prediction lies below the bound"
  std::string name; ///< of the layer or model
  bool operator==(const fault&) const = default;
};

/// All figures of one model in one type on some threads.
struct model_bound : form_figures {
  numeric type = numeric::f32;
  int threads = 1;
  int workers = 1;  ///< that run layers at the same time, of `threads` each
  warmth weights{}; ///< where the prediction takes them to be
  /// The shares that would be gone if others used half or twice as much of the last cache; the
  /// intervals of the predictions hold both.
  double fewest_gone = 1, most_gone = 1;
  std::int64_t prepared_weight_bytes = 0;
  memory_floor memory{}; ///< what a run must read from memory
  double clock_ns = 0;   ///< that the unfused bound rests on; 0: unknown
  /// In the order of graph->layers; behind them those that only the fused form has.
  std::vector<layer_answer> layers;
  std::optional<fused_figures> fused; ///< nothing: the run holds no fused form
  coverage covered;
  std::vector<chain_run> runs;
  std::vector<scenario_run> scenarios;
  std::vector<scenario_run> at_all_batches; ///< `offline` of the model at its own and other batches
  std::vector<const measurement*> failed_runs;
  std::int64_t machine_left = 0; ///< cases of the machine's limits that were not measured
  /// Layers, fused ones and changes of layout that were not measured, or not all of their cases,
  /// and that something may run; cases of the machine too.
  std::vector<std::string> missing;
  /// The same, with changes of layout that these layers may need once they are measured.
  std::vector<std::string> missing_filter;
  std::string missing_command; ///< measures all of these; empty: nothing is missing
  std::string unmeasurable;    ///< why there is no verdict, and what to do; empty: there is one
  /// The figures of the model's rewritten graph; null: there is none, or not all was measured.
  std::shared_ptr<const model_bound> equivalent{};
  /// The same; null where its bound is not lower.
  std::shared_ptr<const model_bound> rewritten{};
  std::vector<fault> faults;
  std::vector<std::string> notes; ///< what the run lacks that the figures should rest on

  bool partial() const {
    return covered.partial() || !missing.empty() || !failed_runs.empty() || lost() > 0;
  }
  /// True where all was measured, and undisturbed: only then have sums rates and shares.
  bool sure() const { return !partial() && unmeasurable.empty(); }
  /// Cases that were not measured of layers that have others.
  std::int64_t left() const {
    std::int64_t n = 0;
    for (const layer_answer& l : layers)
      n += l.timed() ? l.left : 0;
    return n;
  }
  /// Cases that failed without an answer: what they would have taken is not known.
  std::int64_t lost() const {
    std::int64_t n = 0;
    for (const layer_answer& l : layers)
      n += l.lost;
    return n;
  }
  /// Failed cases of the model's layers, and failed runs of it.
  std::int64_t failed() const {
    std::int64_t n = std::ssize(failed_runs);
    for (const layer_answer& l : layers)
      n += l.failed;
    return n;
  }
  /// The fused form, or else the unfused one.
  const form_figures& form(bool as_fused) const {
    return as_fused ? static_cast<const form_figures&>(*fused) : *this;
  }
  /// The form that a fast framework runs: the fused one if the run holds it.
  const form_figures& fastest_form() const { return form(fused.has_value()); }
  /// The model's graph, or the rewritten one where its bound is lower: no equivalent graph that was
  /// looked at can run faster.
  const model_bound& best_graph() const { return rewritten ? *rewritten : *this; }
  /// The form whose bound is the model's lower bound, on every page.
  const form_figures& best_form() const { return best_graph().fastest_form(); }
  /// False where no layer was measured that takes time: then there is no figure but of whole runs.
  bool has_bound() const { return best_form().bound.sequential.ns > 0; }
  /// True where the lower bound is what reading from memory takes, and not the sum of layers.
  bool set_by_memory() const {
    const form_figures& best = best_form();
    return best.bound.sequential.ns > best.layers_ns;
  }
  /// What layers whose bound is their roofline, as their kernels stay far above it, take beyond it
  /// in a run of the fastest form.
  double beyond_rooflines_ns() const {
    double out = 0;
    for (const layer_answer& l : layers)
      if (const choice& c = l.algorithms; c.bound_from_roofline())
        out += static_cast<double>(fused ? l.fused_uses : l.uses) *
               std::max(0.0, c.prediction.ns - c.bound.ns);
    return out;
  }
  /// The assumption of the parallel bound.
  std::string_view assumption() const {
    return threads == 1 ? "unbounded workers" : "each layer has the whole device to itself";
  }
};

} // namespace benanza::bound
