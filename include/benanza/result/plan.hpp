// SPDX-License-Identifier: Apache-2.0
// What should a whole model run, node by node? A plan names for every node of a graph the backend,
// the algorithm and the layouts in which its tensors are passed, and how long that should take. It
// holds the graph itself and the provenance of its times, so it can be run without another file and
// refused on another machine. Between a result and an operand of unlike layouts is a reorder.
//
//   write(to_json(plan).dump(1));   plan p = read_plan(text, "plan.json");
//   p.steps[3]   // {"onednn", "jit:avx512_core", "blocked16", "blocked16"}
#pragma once

#include "json.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::result {

inline constexpr int plan_schema = 1;

/// How one node runs.
struct plan_step {
  std::string backend, algorithm; ///< empty: a view, nothing runs
  /// The layouts (core/layout.hpp) of the activations read, one each in ONNX order and separated by
  /// commas, the last for all further ones; and that of the result. Empty for views that have none.
  std::string operand_layouts, result_layout;
  /// Of a part of a model: the layout in which it gets what another part makes; empty: plain.
  std::string given_layout{};
  bool operator==(const plan_step&) const = default;
};

/// A model, how each of its nodes runs, and how long that should take.
struct plan {
  model::graph graph;
  numeric type = numeric::f32;
  int threads = 1;
  std::vector<plan_step> steps; ///< one a node of the graph
  double bound_ns = 0;          ///< no run of the model on these layouts is faster
  double prediction_ns = 0, prediction_low_ns = 0, prediction_high_ns = 0;
  /// The sections of the run that the times came from.
  std::map<std::string, std::map<std::string, std::string>> provenance;
};

/// The plan as JSON; a view's step is an empty object.
ordered_json to_json(const plan& p);

/// The plan that `text` holds; `source` is its name in messages. Refuses what is no plan, in one
/// line.
plan read_plan(std::string_view text, const std::string& source);

} // namespace benanza::result

#ifndef BENANZA_COMPILED_RESULT
#include "plan_forms.hpp"
#endif
