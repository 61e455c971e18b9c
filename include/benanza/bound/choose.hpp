// SPDX-License-Identifier: Apache-2.0
// How is an algorithm chosen? On one half of its samples, and reported on the other, so that the
// winner of many is not flattered. Of those in a tie the smallest workspace wins, then the place in
// the library's list. Where BENANZA_COMPILED_BOUND is defined, one file of the program includes
// this for all.
#pragma once

#include "../result/statistics.hpp"
#include "../result/stop_reason.hpp"
#include "choice.hpp"

#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/algorithm/min_element.hpp>
#include <range/v3/algorithm/sort.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::bound {

namespace detail {
/// The samples at even (0) or odd (1) places, ascending; all of them where that leaves none.
inline std::vector<double> half(const measurement& m, std::size_t parity) {
  std::vector<double> out;
  for (std::size_t i = parity; i < m.samples_ns.size(); i += 2)
    out.push_back(m.samples_ns[i]);
  if (out.empty()) out = m.samples_ns;
  if (out.empty()) out.push_back(m.median_ns);
  ranges::sort(out);
  return out;
}

/// The cases of an algorithm that say how fast it is in a run of the model: one, or two to mix.
struct mixture {
  const measurement* main = nullptr;   ///< null: it was not measured so
  const measurement* warmer = nullptr; ///< of the same with all weights in the last cache
  const measurement* hot = nullptr;    ///< of the same with hot caches; null: not measured
  double gone = 1;                     ///< the share of `main`

  /// The samples at even (0) or odd (1) places, ascending.
  std::vector<double> half(std::size_t parity) const {
    std::vector<double> cold = detail::half(*main, parity);
    if (warmer == nullptr) return cold;
    const std::vector<double> warm = detail::half(*warmer, parity);
    std::vector<double> out(std::max(cold.size(), warm.size()));
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double at =
          out.size() > 1 ? static_cast<double>(i) / static_cast<double>(out.size() - 1) : 0.5;
      out[i] = mixed(result::quantile(warm, at), result::quantile(cold, at));
    }
    return out;
  }
  double median_ns() const {
    return warmer == nullptr ? main->median_ns : mixed(warmer->median_ns, main->median_ns);
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
        warmer == nullptr ? main->clock_ns : mixed(warmer->clock_ns, main->clock_ns);
    t.clocked = by_clock::of(t.ns, clock_ns, hot != nullptr ? hot->median_ns : 0,
                             hot != nullptr ? hot->clock_ns : 0);
    return t;
  }

private:
  double mixed(double warm, double cold) const { return (1 - gone) * warm + gone * cold; }
};

inline mixture mixture_of(const candidate& c, const warmth& w) {
  if (!w.mixed()) return {.main = in_state(c, w.state()), .hot = c.hot};
  if (c.llcw == nullptr || c.coldw == nullptr)
    return {.main = c.coldw != nullptr ? c.coldw : c.llcw, .hot = c.hot};
  return {.main = c.coldw, .warmer = c.llcw, .hot = c.hot, .gone = w.gone};
}

/// What was measured of each algorithm so.
inline std::vector<mixture> mixtures(const layer_cases& cases, const warmth& w) {
  std::vector<mixture> out;
  for (const candidate& c : cases.algorithms)
    if (const mixture m = mixture_of(c, w); m.main != nullptr) out.push_back(m);
  return out;
}

/// The algorithm that wins by the even half of its samples, and its median of them. One that was
/// raced out has few samples, and could only win by luck: it wins where there is nothing else.
inline std::pair<double, mixture> winner(const std::vector<mixture>& all) {
  const bool finished = ranges::any_of(all, [](const mixture& m) { return !m.raced_out(); });
  std::vector<std::pair<double, mixture>> medians;
  for (const mixture& m : all)
    if (m.raced_out() != finished) medians.emplace_back(result::quantile(m.half(0), 0.5), m);
  const double least =
      ranges::min_element(medians, ranges::less{}, [](const auto& m) { return m.first; })->first;
  std::erase_if(medians, [&](const auto& m) { return m.first > tie * least; });
  return *ranges::min_element(medians, ranges::less{},
                              [](const auto& m) { return m.second.main->workspace_bytes; });
}

/// The library's first choice: of several backends' first choices the fastest, and a fallback only
/// where there is nothing else.
inline mixture first_choice(const std::vector<mixture>& all) {
  const auto best = ranges::min_element(all, ranges::less{}, [](const mixture& m) {
    return std::tuple(m.main->algorithm_index != 0, !m.main->fallback.empty(), m.median_ns());
  });
  return best->main->algorithm_index == 0 ? *best : mixture{};
}

/// Cache states in which algorithms were measured.
inline constexpr std::array<std::string_view, 3> warm_to_cold{"hot", "llcw", "coldw"};

inline bool any_in_state(const layer_cases& cases, std::string_view state) {
  return ranges::any_of(cases.algorithms,
                        [&](const candidate& c) { return in_state(c, state) != nullptr; });
}

/// Fills in the bound: the least time of all algorithms in the warmest state that any was measured
/// in.
inline void choose_bound(choice& out, const layer_cases& cases) {
  const std::string_view warmest =
      *std::find_if(warm_to_cold.begin(), warm_to_cold.end() - 1,
                    [&](std::string_view s) { return any_in_state(cases, s); });
  const auto best = ranges::min_element(cases.algorithms, ranges::less{}, [&](const candidate& c) {
    const measurement* m = in_state(c, warmest);
    return m == nullptr ? std::numeric_limits<double>::infinity() : least(*m);
  });
  out.best = in_state(*best, warmest);
  out.bound_from_coldw = warmest != "hot";
  out.bound.ns = least(*out.best);
  out.bound.sorted_ns = out.best->samples_ns;
  ranges::sort(out.bound.sorted_ns);
  if (out.bound.sorted_ns.empty()) out.bound.sorted_ns.push_back(out.bound.ns);
  out.bound.clocked =
      by_clock::of(out.bound.ns, out.best->min_clock_ns, out.bound.ns, out.best->min_clock_ns);
}

/// The warmth that algorithms were measured in and that is nearest to `w`; says in `out` where it
/// is another one.
inline warmth nearest_measured(choice& out, const layer_cases& cases, const warmth& w) {
  const auto any = [&](std::string_view s) { return any_in_state(cases, s); };
  const auto wanted = std::find(warm_to_cold.begin(), warm_to_cold.end() - 1, w.state());
  const auto colder = std::find_if(wanted, warm_to_cold.end(), any);
  const auto warmer = std::find_if(std::make_reverse_iterator(wanted), warm_to_cold.rend(), any);
  const bool lacks_warm = w.mixed() && !any("llcw"), none_so_cold = colder == warm_to_cold.end();
  const bool weights =
      ranges::any_of(cases.algorithms, [](const candidate& c) { return c.any().weight_bytes > 0; });
  out.prediction_too_low = weights && none_so_cold;
  out.prediction_too_high = weights && !none_so_cold && (colder != wanted || lacks_warm);
  if (colder == wanted && !lacks_warm) return w;
  return warmth::in(none_so_cold ? *warmer : *colder);
}
} // namespace detail

BENANZA_INLINE choice choose(const layer_cases& cases, const warmth& w) {
  choice out;
  if (cases.algorithms.empty()) return out;
  detail::choose_bound(out, cases);
  const std::vector<detail::mixture> measured =
      detail::mixtures(cases, detail::nearest_measured(out, cases, w));
  const auto [ns, winner] = detail::winner(measured);
  out.chosen_by_ns = ns;
  out.chosen = winner.main;
  out.chosen_warmer = winner.warmer;
  out.prediction = winner.reported();
  const detail::mixture first = detail::first_choice(measured);
  out.first = first.main;
  if (out.first != nullptr) out.first_choice = first.reported();
  return out;
}

} // namespace benanza::bound
