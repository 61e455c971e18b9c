// SPDX-License-Identifier: Apache-2.0
// Who is beside us while something long runs? Between its parts somebody may look at the cores.
//
//   prepared.between_parts([&](bool must) { return witness.glance(must); });
#pragma once

#include <functional>

namespace benanza::backend {

/// What a look between parts tells.
struct sight {
  bool is_new = false; ///< it was taken now; else it is the last one, of a moment ago
  bool alone = true;   ///< nobody else was on our cores
};

/// Looks if the last look was a while ago, or if it `must`.
using look_between = std::function<sight(bool must)>;

} // namespace benanza::backend
