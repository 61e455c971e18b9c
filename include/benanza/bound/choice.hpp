// SPDX-License-Identifier: Apache-2.0
// Which algorithm runs a layer, and how long does it take? The bound is the least hot sample of all
// equivalent algorithms; the prediction is the median of the algorithm that wins with cold weights,
// chosen on one half of its samples and reported on the other, so that the winner of many is not
// flattered (DESIGN section 4). Times in ns, each with the samples it rests on.
//
//   choice c = choose(cases.of(layer, numeric::f32, 1), "coldw");   c.best->algorithm   c.bound.ns
#pragma once

#include "../result/statistics.hpp"
#include "../result/stop_reason.hpp"
#include "cases.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::bound {

/// Algorithms whose medians lie within this factor of the best one's are equally fast.
inline constexpr double tie = 1.03;

/// A time and the samples, ascending, that it rests on.
struct timing {
  double ns = 0;
  std::vector<double> sorted_ns;
};

/// The algorithms chosen for one layer in one type on some threads.
struct choice {
  const measurement* best = nullptr;   ///< sets the bound; null: nothing was measured
  const measurement* chosen = nullptr; ///< sets the prediction
  const measurement* first = nullptr;  ///< the library's own first choice; null: not measured
  timing bound, prediction, first_choice;
  double chosen_by_ns = 0;          ///< the median by which `chosen` won, of the other samples
  bool bound_from_coldw = false;    ///< no hot times: the bound may be too high
  bool prediction_too_low = false;  ///< weights, but no times with such cold ones as in a run
  bool prediction_too_high = false; ///< weights, but only times with colder ones
};

/// The samples at even (0) or odd (1) places, ascending; all of them where that leaves none.
inline std::vector<double> half(const measurement& m, std::size_t parity) {
  std::vector<double> out;
  for (std::size_t i = parity; i < m.samples_ns.size(); i += 2)
    out.push_back(m.samples_ns[i]);
  if (out.empty()) out = m.samples_ns;
  if (out.empty()) out.push_back(m.median_ns);
  std::sort(out.begin(), out.end());
  return out;
}

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

inline timing reported(const measurement& m) {
  timing t;
  t.sorted_ns = half(m, 1);
  t.ns = result::quantile(t.sorted_ns, 0.5);
  return t;
}

/// The case of the algorithm that wins in `state` by the even half of its samples, and its median
/// of them; of those in a tie the one with the smallest workspace, then the one that the library
/// lists first. What was raced out has few samples, and could only win by luck: it wins where there
/// is nothing else.
inline std::pair<double, const measurement*> winner(const layer_cases& cases,
                                                    std::string_view state) {
  std::vector<std::pair<double, const measurement*>> medians;
  for (const bool raced_out : {false, true}) {
    for (const candidate& c : cases.algorithms)
      if (const measurement* m = in_state(c, state);
          m != nullptr && result::was_raced_out(m->stop_reason) == raced_out)
        medians.emplace_back(result::quantile(half(*m, 0), 0.5), m);
    if (!medians.empty()) break;
  }
  if (medians.empty()) return {0, nullptr};
  const double limit = tie * std::min_element(medians.begin(), medians.end())->first;
  std::pair<double, const measurement*> out{0, nullptr};
  for (const auto& [ns, m] : medians)
    if (ns <= limit && (out.second == nullptr || m->workspace_bytes < out.second->workspace_bytes))
      out = {ns, m};
  return out;
}

/// The case of the library's first choice: of several backends' first choices the fastest, and a
/// fallback only where there is nothing else.
inline const measurement* first_choice(const layer_cases& cases, std::string_view state) {
  const measurement* out = nullptr;
  const auto rank = [](const measurement& m) {
    return std::pair(!m.fallback.empty(), m.median_ns);
  };
  for (const candidate& c : cases.algorithms)
    if (const measurement* m = in_state(c, state); m != nullptr && m->algorithm_index == 0)
      if (out == nullptr || rank(*m) < rank(*out)) out = m;
  return out;
}
} // namespace detail

/// The choice among the algorithms of a layer; `state` is the cache state, "hot", "llcw" or
/// "coldw", that a real run of the model is taken to have. Where no case has it, the next colder
/// one that any has is taken, or else the next warmer one.
inline choice choose(const layer_cases& cases, std::string_view state) {
  choice out;
  if (cases.algorithms.empty()) return out;
  bool weights = false;
  for (const candidate& c : cases.algorithms) {
    weights = weights || c.any().weight_bytes > 0;
  }
  static constexpr std::array<std::string_view, 3> warm_to_cold{"hot", "llcw", "coldw"};
  const auto any = [&](std::string_view s) {
    return std::any_of(cases.algorithms.begin(), cases.algorithms.end(),
                       [&](const candidate& c) { return detail::in_state(c, s) != nullptr; });
  };
  const std::string_view warmest = *std::find_if(warm_to_cold.begin(), warm_to_cold.end() - 1, any);
  out.bound_from_coldw = warmest != "hot";
  for (const candidate& c : cases.algorithms)
    if (const measurement* m = detail::in_state(c, warmest))
      if (out.best == nullptr || detail::least(*m) < out.bound.ns) {
        out.best = m;
        out.bound.ns = detail::least(*m);
      }
  out.bound.sorted_ns = out.best->samples_ns;
  if (out.bound.sorted_ns.empty()) out.bound.sorted_ns.push_back(out.bound.ns);
  std::sort(out.bound.sorted_ns.begin(), out.bound.sorted_ns.end());

  const auto wanted = std::find(warm_to_cold.begin(), warm_to_cold.end() - 1, state);
  const auto colder = std::find_if(wanted, warm_to_cold.end(), any);
  out.prediction_too_low = colder == warm_to_cold.end() && weights;
  out.prediction_too_high = colder != warm_to_cold.end() && colder != wanted && weights;
  const auto warmer = std::find_if(std::make_reverse_iterator(wanted), warm_to_cold.rend(), any);
  const std::string_view used = colder != warm_to_cold.end() ? *colder : *warmer;
  std::tie(out.chosen_by_ns, out.chosen) = detail::winner(cases, used);
  out.prediction = detail::reported(*out.chosen);
  out.first = detail::first_choice(cases, used);
  if (out.first != nullptr) out.first_choice = detail::reported(*out.first);
  return out;
}

} // namespace benanza::bound
