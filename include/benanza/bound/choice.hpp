// SPDX-License-Identifier: Apache-2.0
// Which algorithm runs a layer, and how long does it take? The bound is the least hot sample of all
// equivalent algorithms; the prediction is the median of the algorithm that wins with weights as
// cold as a run of the model finds them. Times in ns, each with the samples it rests on. What a GPU
// could not replay competes as it was measured: with the host's launches in it a time is too long,
// never too short, and it was reached.
//
//   choice c = choose(cases.of(layer, numeric::f32, 1), warmth{});   c.best->algorithm   c.bound.ns
#pragma once

#include "cases.hpp"
#include "clock.hpp"
#include "warmth.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace benanza::bound {

/// Algorithms whose medians are within this factor of the best one's are equally fast.
inline constexpr double tie = 1.03;

/// A time and the samples, ascending, that it rests on.
struct timing {
  double ns = 0;
  std::vector<double> sorted_ns;
  by_clock clocked{}; ///< `ns` at other clocks
};

/// Why a layer's bound is its roofline, though it was measured.
enum class roofline_for {
  nothing,      ///< it is not
  slow_kernels, ///< only plain kernels ran it, that stay far above it
  rounding,     ///< frameworks may round its operands, to 8 bits where weights are codes
  appending     ///< it copies a cache to append to it, and frameworks append in place
};

/// The token of a reason, as reports write it.
constexpr std::string_view name(roofline_for r) {
  constexpr std::array<std::string_view, 4> names{"nothing", "slow_kernels", "rounding",
                                                  "appending"};
  return names[static_cast<std::size_t>(r)];
}

/// The algorithms chosen for one layer in one type on some threads.
struct choice {
  const measurement* best = nullptr;          ///< sets the bound; null: nothing was measured
  const measurement* chosen = nullptr;        ///< sets the prediction
  const measurement* chosen_warmer = nullptr; ///< with it, where weights are partly warmer; or null
  const measurement* first = nullptr; ///< the library's own first choice; null: not measured
  timing bound, prediction, first_choice;
  double chosen_by_ns = 0;       ///< the median by which `chosen` won, of the other samples
  bool bound_from_coldw = false; ///< no hot times: the bound may be too high
  roofline_for why_roofline = roofline_for::nothing;
  bool prediction_too_low = false;  ///< weights, but no times with such cold ones as in a run
  bool prediction_too_high = false; ///< weights, but only times with colder ones
  bool bound_from_roofline() const { return why_roofline != roofline_for::nothing; }
};

namespace detail {
/// The least time of a case; samples that were thinned out count too.
inline double least(const measurement& m) {
  double v = m.min_ns;
  for (double s : m.samples_ns)
    v = std::min(v, s);
  return v;
}

/// The case of `c` in a cache state; null: none.
inline const measurement* in_state(const candidate& c, std::string_view state) {
  return state == "hot" ? c.hot : state == "llcw" ? c.llcw : c.coldw;
}
} // namespace detail

/// The choice among the algorithms of a layer whose weights a run of the model finds as warm as `w`
/// says. If no algorithm was measured in that cache state, the next colder state is taken; if there
/// is none, the next warmer one.
choice choose(const layer_cases& cases, const warmth& w);

} // namespace benanza::bound

#ifndef BENANZA_COMPILED_BOUND
#include "choose.hpp"
#endif
