// SPDX-License-Identifier: Apache-2.0
// Which algorithm runs a layer, and how long does it take? The bound is the least hot sample of all
// equivalent algorithms; the prediction is the median of the algorithm that wins with weights as
// cold as a real run finds them, chosen on one half of its samples and reported on the other, so
// that the winner of many is not flattered (DESIGN section 4). Times in ns, each with the samples
// it rests on.
//
//   choice c = choose(cases.of(layer, numeric::f32, 1), warmth{});   c.best->algorithm   c.bound.ns
#pragma once

#include "../result/statistics.hpp"
#include "../result/stop_reason.hpp"
#include "by_clock.hpp"
#include "cases.hpp"
#include "warmth.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::bound {

/// Algorithms whose medians lie within this factor of the best one's are equally fast.
inline constexpr double tie = 1.03;

/// A time and the samples, ascending, that it rests on.
struct timing {
  double ns = 0;
  std::vector<double> sorted_ns;
  by_clock clocked{}; ///< `ns` at other clocks
};

/// The algorithms chosen for one layer in one type on some threads.
struct choice {
  const measurement* best = nullptr;          ///< sets the bound; null: nothing was measured
  const measurement* chosen = nullptr;        ///< sets the prediction
  const measurement* chosen_warmer = nullptr; ///< with it, where weights are partly warmer; or null
  const measurement* first = nullptr; ///< the library's own first choice; null: not measured
  timing bound, prediction, first_choice;
  double chosen_by_ns = 0;          ///< the median by which `chosen` won, of the other samples
  bool bound_from_coldw = false;    ///< no hot times: the bound may be too high
  bool bound_from_roofline = false; ///< slow kernels alone ran it: nobody else's are held to them
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

/// The cases of an algorithm that tell how fast it is in a real run: one, or two to mix.
struct mixture {
  const measurement* main = nullptr;   ///< null: it was not measured so
  const measurement* warmer = nullptr; ///< of the same with all weights in the last cache
  const measurement* hot = nullptr;    ///< of the same with hot caches; null: not measured
  double gone = 1;                     ///< the share of `main`

  /// The samples at even (0) or odd (1) places, ascending.
  std::vector<double> half(std::size_t parity) const {
    std::vector<double> cold = bound::half(*main, parity);
    if (warmer == nullptr) return cold;
    const std::vector<double> warm = bound::half(*warmer, parity);
    std::vector<double> out(std::max(cold.size(), warm.size()));
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double at =
          out.size() > 1 ? static_cast<double>(i) / static_cast<double>(out.size() - 1) : 0.5;
      out[i] = (1 - gone) * result::quantile(warm, at) + gone * result::quantile(cold, at);
    }
    return out;
  }
  double median_ns() const {
    return warmer == nullptr ? main->median_ns
                             : (1 - gone) * warmer->median_ns + gone * main->median_ns;
  }
  bool raced_out() const {
    return result::was_raced_out(main->stop_reason) ||
           (warmer != nullptr && result::was_raced_out(warmer->stop_reason));
  }
  timing reported() const {
    timing t;
    t.sorted_ns = half(1);
    t.ns = result::quantile(t.sorted_ns, 0.5);
    const double clock_ns =
        warmer == nullptr ? main->clock_ns : (1 - gone) * warmer->clock_ns + gone * main->clock_ns;
    t.clocked = by_clock::of(t.ns, clock_ns, hot != nullptr ? hot->median_ns : 0,
                             hot != nullptr ? hot->clock_ns : 0);
    return t;
  }
};

inline mixture mixture_of(const candidate& c, const warmth& w) {
  if (!w.mixed()) return {.main = in_state(c, w.state()), .hot = c.hot};
  if (c.llcw == nullptr || c.coldw == nullptr)
    return {.main = c.coldw != nullptr ? c.coldw : c.llcw, .hot = c.hot};
  return {.main = c.coldw, .warmer = c.llcw, .hot = c.hot, .gone = w.gone};
}

/// The algorithm that wins by the even half of its samples, and its median of them; of those in a
/// tie the one with the smallest workspace, then the one that the library lists first. What was
/// raced out has few samples, and could only win by luck: it wins where there is nothing else.
inline std::pair<double, mixture> winner(const layer_cases& cases, const warmth& w) {
  std::vector<std::pair<double, mixture>> medians;
  for (const bool raced_out : {false, true}) {
    for (const candidate& c : cases.algorithms)
      if (const mixture m = mixture_of(c, w); m.main != nullptr && m.raced_out() == raced_out)
        medians.emplace_back(result::quantile(m.half(0), 0.5), m);
    if (!medians.empty()) break;
  }
  std::pair<double, mixture> out{};
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [ns, m] : medians)
    least = std::min(least, ns);
  for (const auto& [ns, m] : medians)
    if (ns <= tie * least &&
        (out.second.main == nullptr || m.main->workspace_bytes < out.second.main->workspace_bytes))
      out = {ns, m};
  return out;
}

/// The library's first choice: of several backends' first choices the fastest, and a fallback only
/// where there is nothing else.
inline mixture first_choice(const layer_cases& cases, const warmth& w) {
  mixture out;
  const auto rank = [](const mixture& m) {
    return std::pair(!m.main->fallback.empty(), m.median_ns());
  };
  for (const candidate& c : cases.algorithms)
    if (const mixture m = mixture_of(c, w); m.main != nullptr && m.main->algorithm_index == 0)
      if (out.main == nullptr || rank(m) < rank(out)) out = m;
  return out;
}
} // namespace detail

/// The choice among the algorithms of a layer whose weights a real run finds as warm as `w` says.
/// Where no case has them so, the next colder ones that any has are taken, or else the next warmer
/// ones.
inline choice choose(const layer_cases& cases, const warmth& w) {
  choice out;
  if (cases.algorithms.empty()) return out;
  bool weights = false;
  for (const candidate& c : cases.algorithms)
    weights = weights || c.any().weight_bytes > 0;
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
  out.bound.clocked =
      by_clock::of(out.bound.ns, out.best->min_clock_ns, out.bound.ns, out.best->min_clock_ns);
  std::sort(out.bound.sorted_ns.begin(), out.bound.sorted_ns.end());

  const auto wanted = std::find(warm_to_cold.begin(), warm_to_cold.end() - 1, w.state());
  const auto colder = std::find_if(wanted, warm_to_cold.end(), any);
  const auto warmer = std::find_if(std::make_reverse_iterator(wanted), warm_to_cold.rend(), any);
  const bool lacks_warm = w.mixed() && !any("llcw");
  out.prediction_too_low = weights && colder == warm_to_cold.end();
  out.prediction_too_high =
      weights && colder != warm_to_cold.end() && (colder != wanted || lacks_warm);
  warmth used = w;
  if (colder != wanted || lacks_warm)
    used = warmth::in(colder != warm_to_cold.end() ? *colder : *warmer);
  const auto [ns, winner] = detail::winner(cases, used);
  out.chosen_by_ns = ns;
  out.chosen = winner.main;
  out.chosen_warmer = winner.warmer;
  out.prediction = winner.reported();
  const detail::mixture first = detail::first_choice(cases, used);
  out.first = first.main;
  if (out.first != nullptr) out.first_choice = first.reported();
  return out;
}

} // namespace benanza::bound
