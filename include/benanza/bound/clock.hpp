// SPDX-License-Identifier: Apache-2.0
// At which clock do the samples lie that a bound rests on? Processors change their clock with their
// heat and with what their other cores do, by a tenth within seconds on some servers, so that
// bounds of two runs differ by as much. Hot layers follow it: divided by it, their bounds can be
// compared. Of predictions only a part follows it (by_clock.hpp).
//
//   double ns = bound_clock_ns(layers, uses);   // 1284: what a chain on registers took
#pragma once

#include "layers.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace benanza::bound {

/// What a chain on registers took directly after the least samples of `layers`, by how long these
/// take, each as often as `uses` says; 0: the run does not tell.
inline double bound_clock_ns(const std::vector<layer_answer>& layers,
                             const std::vector<std::int64_t>& uses) {
  double sum = 0, took_ns = 0;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (!layers[i].timed() || layers[i].algorithms.best->min_clock_ns <= 0) continue;
    const double ns = static_cast<double>(uses[i]) * layers[i].algorithms.bound.ns;
    sum += ns * layers[i].algorithms.best->min_clock_ns;
    took_ns += ns;
  }
  return took_ns > 0 ? sum / took_ns : 0;
}

} // namespace benanza::bound
