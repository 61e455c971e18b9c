// SPDX-License-Identifier: Apache-2.0
// Which figures of a model cannot both be right, and what did the run lack that they should rest
// on? roofline <= bound <= prediction, and bound <= any run: what breaks that is a fault of the
// measuring, by name.
//
//   b = with_faults(std::move(b));   b.faults   b.notes
#pragma once

#include "figures.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

namespace benanza::bound {

/// A prediction may lie this far below its bound by noise alone (single layers inside a network
/// undercut their isolated minimum by up to 1 %).
inline constexpr double prediction_noise = roofline_noise;

namespace detail {
/// Notes how many nodes have layers for which `is` holds; none: nothing.
inline void note_nodes(model_bound& b, bool (*is)(const choice&), const char* before,
                       const char* after) {
  std::int64_t n = 0;
  for (const layer_answer& l : b.layers)
    if (l.timed() && is(l.algorithms)) n += l.uses;
  if (n != 0) b.notes.push_back(before + std::to_string(n) + after);
}
} // namespace detail

/// That f32 computes faster here than the model's type, and what to do; empty: it does not.
inline std::string wider_type(const model_bound& b) {
  double gain = 1;
  for (const layer_answer& l : b.layers)
    if (l.roofline) gain = std::max(gain, l.roofline->wider_gain);
  if (gain < 1.1) return {};
  char times[16];
  std::snprintf(times, sizeof times, "%.2g", gain);
  const std::string its(name(b.type));
  return "arithmetic in f32 is " + std::string(times) + " times as fast here as in " + its +
         ": the bound is that of kernels in " + its + " alone; measure both with --types f32," +
         its;
}

/// `b` with the faults of its figures, and notes on what the run lacks.
inline model_bound with_faults(model_bound b) {
  for (const layer_answer& l : b.layers) {
    if (!l.timed() || l.uses + l.fused_uses == 0) continue;
    if (l.algorithms.prediction.ns < prediction_noise * l.algorithms.bound.ns)
      b.faults.push_back({"the prediction lies below the bound", l.name});
    const roof least = l.roofline.value_or(roof{});
    const double clock = l.algorithms.best->min_clock_ns;
    if (l.algorithms.bound.ns < roofline_noise * at_higher_clock(least.clock_ns, clock) * least.ns)
      b.faults.push_back({"the bound lies below the roofline", l.name});
  }
  for (const chain_run& w : b.runs) {
    const double clock = at_higher_clock(b.clock_ns, w.run->min_clock_ns);
    const auto& bounds = b.form(w.fused).bound;
    const double bound_ns = w.side_by_side() ? bounds.parallel.ns : bounds.sequential.ns;
    if (b.covered.missing_nodes == 0 && w.run->min_ns < roofline_noise * clock * bound_ns)
      b.faults.push_back({"a run is faster than the bound", w.run->name});
  }
  const auto note = [&b](bool (*is)(const choice&), const char* before, const char* after) {
    detail::note_nodes(b, is, before, after);
  };
  note([](const choice& c) { return c.prediction_too_low; }, "no times with cold weights for ",
       " nodes: predicted from warmer ones, too low");
  note([](const choice& c) { return c.prediction_too_high; },
       "no times with weights from the caches for ",
       " nodes: predicted from colder ones, maybe too high");
  note([](const choice& c) { return c.first == nullptr; },
       "the library's first choice was not measured for ",
       " nodes: what choosing algorithms saves may be more");
  if (std::string wider = wider_type(b); !wider.empty()) b.notes.push_back(std::move(wider));
  note([](const choice& c) { return c.bound_from_coldw; }, "no hot times for ",
       " nodes: bounded by times with cold weights, maybe too high");
  return b;
}

} // namespace benanza::bound
