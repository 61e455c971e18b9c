// SPDX-License-Identifier: Apache-2.0
// At which place of the stack is an algorithm fastest? Both are tried; from then on it runs at that
// one, in all cache states and in chains of layers, so that what is measured is what it can do and
// not what its caller's stack happens to be.
//
//   choose_stack_place(*prepared);
#pragma once

#include "../../backend/prepared.hpp"
#include "../sampling/parameters.hpp"

#include <algorithm>
#include <limits>

namespace benanza::measure {

/// Finds the place and leaves `run` at it.
inline void choose_stack_place(backend::prepared& run, const parameters& p = usual_parameters) {
  if (run.on_device()) return;
  double least_ns[2] = {std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
  double spent_ns = 0;
  for (int i = 0; i < p.stack_tries && spent_ns < p.stack_patience_ns; ++i)
    for (const std::size_t place : {0u, 1u}) {
      run.place_stack(place);
      const double ns = run.time(1);
      least_ns[place] = std::min(least_ns[place], ns);
      spent_ns += ns;
    }
  run.place_stack(least_ns[1] < p.stack_gain * least_ns[0] ? 1 : 0);
}

} // namespace benanza::measure
