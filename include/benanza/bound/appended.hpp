// SPDX-License-Identifier: Apache-2.0
// What does appending to a cache of keys and values take at the least? A model that was exported
// with a Concat asks for a copy of all of it; frameworks that keep the cache write the new part in
// its place.
//
//   if (auto l = copy_of_added(graph, place_of_layer)) ...   // Relu/1x12x1x64 for 1x12x513x64
#pragma once

#include "../core/text.hpp"
#include "../model/graph.hpp"

#include <cstddef>
#include <optional>

namespace benanza::bound {

/// A layer that moves as much as the copy of the new part, for a layer whose nodes all append to
/// caches of the model; nothing: it is another one.
inline std::optional<op::layer> copy_of_added(const model::graph& g, std::size_t layer) {
  if (!g.cache || op::family(g.layers[layer]) != "Concat") return std::nullopt;
  for (const model::node& n : g.nodes)
    if (n.layer == static_cast<int>(layer) &&
        (n.operands.size() != 2 || n.operands.front().node != model::model_input))
      return std::nullopt;
  const shape whole = op::output(g.layers[layer]);
  std::optional<shape> least;
  for (int axis = 0; axis < whole.size; ++axis) { // of which may be several
    if (whole[axis] != g.cache.past + g.cache.added) continue;
    shape added = whole;
    added[axis] = g.cache.added;
    if (!least || elements(added) < elements(*least)) least = added;
  }
  if (!least) return std::nullopt;
  return op::parse("Relu", join(*least, "x"));
}

} // namespace benanza::bound
