// SPDX-License-Identifier: Apache-2.0
// Which engines does cuDNN have for a graph? What its heuristics propose, best first, then the
// default configuration of every engine that takes the graph. Each with what the library says of
// it: whether it uses tensor cores, converts its inputs down, is compiled at run time. What a
// default chooses for its knobs it does not say (its plans write -1), so that one may be a proposal
// under another name.
//
//   for (const found_engine& e : engines_for(graph, target)) id_of(e.choice);
#pragma once

#include "../concept.hpp"
#include "engine.hpp"
#include "graph.hpp"
#include "target.hpp"

#include <set>

namespace benanza::backend::cudnn {

/// An engine configuration that the library has for a graph.
struct found_engine {
  engine_choice choice{};
  std::string proposed_by{}; ///< "A", "fallback", or "" for a default configuration
  std::set<cudnnBackendNumericalNote_t> numerics{};
  std::set<cudnnBackendBehaviorNote_t> behaviour{};
  std::int64_t workspace_bytes = -1; ///< -1: known only where the plan can be built

  bool tensor_cores() const { return numerics.contains(CUDNN_NUMERICAL_NOTE_TENSOR_CORE); }
  bool converts_down() const { return numerics.contains(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS); }
  bool reduces_precision() const {
    return numerics.contains(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION);
  }
  bool winograd() const {
    for (const auto note :
         {CUDNN_NUMERICAL_NOTE_WINOGRAD, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4,
          CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13})
      if (numerics.contains(note)) return true;
    return false;
  }
  /// The edge of its tiles of inputs; of one that does not say, that of the smallest.
  std::int64_t winograd_tile() const {
    if (numerics.contains(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13)) return 13;
    return numerics.contains(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6) ? 6 : 4;
  }
  bool fft() const { return numerics.contains(CUDNN_NUMERICAL_NOTE_FFT); }
  bool compiled_at_run_time() const {
    return behaviour.contains(CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION);
  }
  /// Reads weights in an order of its own, which nothing here puts them into.
  bool wants_reordered_weights() const {
    return behaviour.contains(CUDNN_BEHAVIOR_NOTE_REQUIRES_FILTER_INT8x32_REORDER) ||
           behaviour.contains(CUDNN_BEHAVIOR_NOTE_REQUIRES_BIAS_INT8x32_REORDER);
  }
};

namespace detail {
inline void read_notes(const descriptor& engine, found_engine& to) {
  const auto notes = engine.several<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                                 CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  const auto behaviour = engine.several<cudnnBackendBehaviorNote_t>(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                                                    CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
  to.numerics.insert(notes.begin(), notes.end());
  to.behaviour.insert(behaviour.begin(), behaviour.end());
}

/// What a finalized configuration says of itself.
inline found_engine read_configuration(const descriptor& configuration) {
  found_engine out;
  const auto engines =
      configuration.children(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  if (engines.empty()) throw error("cuDNN: a configuration without an engine");
  out.choice.engine = engines[0].one<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  read_notes(engines[0], out);
  // Their number is not known; there cannot be more than all types.
  for (const descriptor& knob :
       configuration.children(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                              CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS))
    out.choice.knobs.emplace_back(
        static_cast<int>(knob.one<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE)),
        knob.one<std::int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
  std::sort(out.choice.knobs.begin(), out.choice.knobs.end());
  return out;
}
} // namespace detail

/// A configuration of a graph, and the engine that it is one of.
struct configuration {
  descriptor engine{CUDNN_BACKEND_ENGINE_DESCRIPTOR};
  std::vector<descriptor> knobs{};
  descriptor it{CUDNN_BACKEND_ENGINECFG_DESCRIPTOR};
};

/// The configuration of a choice. Throws where the library refuses it.
inline configuration configure(const operation_graph& g, const engine_choice& c, const target& t) {
  configuration out;
  out.engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, g.graph)
      .set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, c.engine);
  out.engine.set(CUDNN_ATTR_ENGINE_DEVICEPROP, *t.properties);
  out.engine.finalize("engine " + std::to_string(c.engine));
  std::vector<cudnnBackendDescriptor_t> knobs;
  for (const auto& [type, value] : c.knobs) {
    out.knobs.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    out.knobs.back()
        .set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, static_cast<cudnnBackendKnobType_t>(type))
        .set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, value)
        .finalize("a knob");
    knobs.push_back(out.knobs.back().get());
  }
  out.it.set(CUDNN_ATTR_ENGINECFG_ENGINE, out.engine);
  if (!knobs.empty()) out.it.set_children(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, knobs);
  out.it.finalize(id_of(c));
  return out;
}

/// The plan of a configuration: what can be executed. Throws where the library cannot build it.
/// With a handle that is refused the description of the GPU is tried in its place.
inline descriptor plan_of(const descriptor& configuration, const target& t) {
  const auto built = [&](bool by_handle) {
    descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
    if (by_handle)
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, t.handle);
    else
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *t.properties);
    plan.finalize("a plan");
    return plan;
  };
  if (t.handle == nullptr) return built(false);
  try {
    return built(true);
  } catch (const refusal&) {
    try {
      return built(false);
    } catch (const refusal&) {
      // The first reason is the one to report.
    }
    throw;
  }
}

/// The configurations that a heuristic proposes, best first; none where it has no answer.
inline std::vector<descriptor> proposals(const operation_graph& g, cudnnBackendHeurMode_t mode,
                                         const target& t) {
  descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, g.graph)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *t.properties);
  if (!heuristic.accepted()) return {};
  try {
    return heuristic.children(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                              heuristic.count_of(CUDNN_ATTR_ENGINEHEUR_RESULTS));
  } catch (const refusal&) {
    return {};
  }
}

/// Which engines of a graph are asked for, and what becomes of the others.
struct engine_question {
  bool proposed = false; ///< only what the heuristics propose
  /// Gets ids and reasons of what the library names, and then refuses.
  std::vector<refused_algorithm>* refused = nullptr;
};

/// All that the library has for a graph on a GPU, in the order of its own choice.
inline std::vector<found_engine> engines_for(const operation_graph& g, const target& t,
                                             const engine_question& q = {}) {
  std::vector<found_engine> out;
  const auto refuse = [&](const std::string& id, const std::string& why) {
    if (q.refused != nullptr) q.refused->push_back({id, why});
  };
  std::set<std::string> seen;
  const auto add = [&](const descriptor& configuration, const char* proposed_by) {
    found_engine e;
    try {
      e = detail::read_configuration(configuration);
      if (e.wants_reordered_weights())
        return refuse(id_of(e.choice), "it wants its weights in an order of its own");
      // What is compiled at run time takes its time, and cannot be without a driver.
      if (!e.compiled_at_run_time())
        e.workspace_bytes =
            plan_of(configuration, t).one<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
    } catch (const refusal& r) {
      return refuse(id_of(e.choice), r.what());
    }
    e.proposed_by = proposed_by;
    if (seen.insert(id_of(e.choice)).second) out.push_back(std::move(e));
  };
  for (const auto& [mode, name] :
       {std::pair{CUDNN_HEUR_MODE_A, "A"}, std::pair{CUDNN_HEUR_MODE_FALLBACK, "fallback"}})
    for (const descriptor& c : proposals(g, mode, t))
      add(c, name);
  if (q.proposed) return out;
  const auto engines = g.graph.one<std::int64_t>(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT);
  for (std::int64_t i = 0; i < engines; ++i) {
    try {
      add(configure(g, {.engine = i}, t).it, "");
    } catch (const refusal& r) { // not every engine takes every graph
      refuse(id_of(engine_choice{.engine = i}), r.what());
    }
  }
  return out;
}

} // namespace benanza::backend::cudnn
