// SPDX-License-Identifier: Apache-2.0
// At which place of the stack is an algorithm fastest? Both are tried; from then on it runs at that
// one, in all cache states and in chains of layers, so that what is measured is what it can do and
// not what its caller's stack happens to be.
//
//   choose_stack_place(*prepared);
#pragma once

#include "concept.hpp"

#include <algorithm>
#include <limits>

namespace benanza::backend {

/// The other place must be so much faster: most algorithms do not depend on it.
inline constexpr double stack_gain = 0.97;
/// Executions that each place gets, and the time after which the first place stays.
inline constexpr int stack_tries = 3;
inline constexpr double stack_patience_ns = 5e6;

/// Finds the place and leaves `p` at it.
inline void choose_stack_place(prepared& p) {
  if (p.on_device()) return;
  double least_ns[2] = {std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
  double spent_ns = 0;
  for (int i = 0; i < stack_tries && spent_ns < stack_patience_ns; ++i)
    for (const std::size_t place : {0u, 1u}) {
      p.place_stack(place);
      const double ns = p.time(1);
      least_ns[place] = std::min(least_ns[place], ns);
      spent_ns += ns;
    }
  p.place_stack(least_ns[1] < stack_gain * least_ns[0] ? 1 : 0);
}

} // namespace benanza::backend
