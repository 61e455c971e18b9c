// SPDX-License-Identifier: Apache-2.0
// How much memory does a run of a model go through before a layer runs again? The weights of all
// its nodes, and its largest operands and results, which take turns. Where that is well below the
// last-level cache, what a layer used in the last run is still there in the next one.
//
//   touched_bytes(graph, numeric::f32);   stays_in(graph, numeric::f32, llc_bytes)
#pragma once

#include "graph.hpp"

#include <algorithm>
#include <cstdint>

namespace benanza::model {

/// Bytes that one run of the model touches, about.
inline std::int64_t touched_bytes(const graph& g, numeric t) {
  std::int64_t weights = 0, largest = 0;
  for (const node& n : g.nodes) {
    if (n.layer == no_layer) continue;
    const op::layer& l = g.layers[static_cast<std::size_t>(n.layer)];
    if (op::is_view(l)) continue;
    const op::work w = op::cost(l);
    weights += w.constant_bytes(t);
    largest = std::max(largest, w.bytes(t) - w.constant_bytes(t));
  }
  return weights + 2 * largest;
}

/// True where a cache of so many bytes holds what a run touches, and has room for what else is
/// there.
inline bool stays_in(const graph& g, numeric t, std::int64_t cache_bytes) {
  return touched_bytes(g, t) <= cache_bytes / 2;
}

} // namespace benanza::model
