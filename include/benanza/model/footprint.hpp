// SPDX-License-Identifier: Apache-2.0
// How much memory does a run of a model go through before it comes back to where it began? All
// weights, and the activations, whose memory is used again: as much as two layers need. A cache
// that holds so much still holds a layer's weights when the model runs again.
//
//   footprint_bytes(g, numeric::f32)
#pragma once

#include "graph.hpp"

#include "../op/layer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace benanza::model {

/// Bytes that one run of `g` goes through, its layers in type `t`.
inline std::int64_t footprint_bytes(const graph& g, numeric t) {
  std::int64_t constants = 0, most_moved = 0;
  const std::vector<std::int64_t> uses = counts(g);
  for (std::size_t i = 0; i < g.layers.size(); ++i) {
    const op::work w = op::cost(g.layers[i]);
    constants += uses[i] * w.constant_bytes(t);
    most_moved = std::max(most_moved, w.bytes(t) - w.constant_bytes(t));
  }
  return constants + 2 * most_moved;
}

} // namespace benanza::model
