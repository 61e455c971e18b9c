// SPDX-License-Identifier: Apache-2.0
// How much memory does a run of a model go through before it comes back to where it began? All
// weights, and the activations, whose memory is used again: as much as two layers need. A cache
// that holds so much still holds a layer's weights when the model runs again, unless that is so
// long after that others have used it.
//
//   footprint_bytes(g, numeric::f32)
//   runs_about_ns(g, numeric::f32, 2)
#pragma once

#include "graph.hpp"

#include "../op/layer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace benanza::model {

/// Bytes that one run of `g` goes through, its layers in type `t`; with weights of so many bytes
/// where that is given, else as the model stores them.
inline std::int64_t footprint_bytes(const graph& g, numeric t,
                                    std::optional<std::int64_t> weight_bytes = std::nullopt) {
  std::int64_t constants = 0, most_moved = 0;
  const std::vector<std::int64_t> uses = counts(g);
  for (std::size_t i = 0; i < g.layers.size(); ++i) {
    const op::work w = op::cost(g.layers[i]);
    constants = capped_add(constants, capped_multiply(uses[i], w.constant_bytes(t)));
    most_moved = std::max(most_moved, w.bytes(t) - w.constant_bytes(t));
  }
  return capped_add(weight_bytes.value_or(constants), 2 * most_moved);
}

/// A network goes through memory at about so many bytes a ns.
inline constexpr double pace_of_networks = 3;

/// A core does about so much arithmetic a ns.
inline constexpr double flops_a_ns = 100;

/// Nanoseconds that a layer takes on one core, by a roofline of these two; views take none.
inline double layer_about_ns(const op::layer& l, numeric t) {
  if (op::is_view(l)) return 0;
  const op::work w = op::cost(l);
  return std::max(static_cast<double>(w.flops()) / flops_a_ns,
                  static_cast<double>(w.bytes(t)) / pace_of_networks);
}

/// Nanoseconds that a run of `g` takes, within a factor of two or three: the mean, geometric, of
/// what going through its memory and what its arithmetic takes.
inline double runs_about_ns(const graph& g, numeric t, int threads) {
  double flops = 0;
  const std::vector<std::int64_t> uses = counts(g);
  for (std::size_t i = 0; i < g.layers.size(); ++i)
    flops += static_cast<double>(uses[i]) * static_cast<double>(op::cost(g.layers[i]).flops());
  const double moving_ns = static_cast<double>(footprint_bytes(g, t)) / pace_of_networks;
  return std::sqrt(moving_ns * std::max(1.0, flops / flops_a_ns / threads));
}

} // namespace benanza::model
