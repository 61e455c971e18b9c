// SPDX-License-Identifier: Apache-2.0
// What does each layer of a model rest on? A layer is measured in the asked type, measured in the
// model's own type only (mixed precision: a Softmax of an int8 model runs in f32), a view that
// costs nothing, or missing. A missing one says why, and its command says how to measure it.
//
//   layer_answer a = answer(cases, layer, uses, numeric::u8s8u8, graph.type, 1, "coldw");
#pragma once

#include "choice.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace benanza::bound {

/// What the time of a layer rests on.
enum class basis { measured, other_type, view, missing };

/// The token of a basis, as reports write it.
constexpr std::string_view name(basis b) {
  switch (b) {
  case basis::measured: return "measured";
  case basis::other_type: return "other_type";
  case basis::view: return "view";
  case basis::missing: return "missing";
  }
  return "?";
}

/// All that is known of one layer of a model.
struct layer_answer {
  std::string name;      ///< family and key
  std::int64_t uses = 0; ///< nodes that are this layer
  basis rests_on = basis::missing;
  numeric type = numeric::f32; ///< in which it was measured
  choice algorithms;
  std::int64_t flops = 0;  ///< of one execution by a direct algorithm
  std::int64_t failed = 0; ///< cases that failed
  std::string reason;      ///< why it is missing, or what the first failed case said
  bool on_path = false;    ///< a node on the longest path of the bounds is this layer

  bool timed() const { return algorithms.best != nullptr; }
};

/// The shell command that measures a layer.
inline std::string measuring_command(std::string_view layer) {
  std::string out = "benanza_bench --benchmark_filter='^";
  for (char c : layer) {
    if (std::string_view(".+*?()[]{}|^$\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out + "/'";
}

/// What `layer`, which `uses` nodes are, rests on in type `wanted` of a model of type `own`.
inline layer_answer answer(const case_table& cases, const op::layer& layer, std::int64_t uses,
                           numeric wanted, numeric own, int threads, std::string_view state) {
  layer_answer out;
  out.name = op::name(layer);
  out.uses = uses;
  out.type = wanted;
  if (op::is_view(layer)) {
    out.rests_on = basis::view;
    return out;
  }
  out.flops = op::direct_flops(layer);
  bool inexact = false;
  const auto look = [&](numeric type, basis found) {
    const layer_cases known = cases.of(out.name, type, threads);
    inexact = inexact || known.inexact;
    out.failed += static_cast<std::int64_t>(known.failed.size());
    if (out.reason.empty() && !known.failed.empty()) out.reason = known.failed.front()->error;
    out.algorithms = choose(known, state);
    if (!out.timed()) return false;
    out.rests_on = found;
    out.type = type;
    return true;
  };
  if (look(wanted, basis::measured) || (own != wanted && look(own, basis::other_type))) return out;
  if (out.reason.empty())
    out.reason = inexact ? "only algorithms of lower precision were measured" : "not measured";
  return out;
}

} // namespace benanza::bound
