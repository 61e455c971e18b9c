// SPDX-License-Identifier: Apache-2.0
// How are the samples of competing cases taken? In many short rounds: each round visits every case
// once, in an order that changes, so that a slow drift of the clock hits all alike. After a change
// of case the first execution only warms the caches. A sample is one execution, or several where
// one would be too short for the clock; a case that cannot win any more gets few samples.
//
//   sample(cases, {.seconds = 0.1, .rounds = 8, .passes = 1}, stop);   cases[0].passes[0]  // ns
#pragma once

#include "../backend/concept.hpp"
#include "flight.hpp"
#include "statistics.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace benanza::measure {

/// One case while it is being sampled.
struct sampled_case {
  backend::prepared* run = nullptr;
  int rival_class = 0; ///< only cases of one class compete (same state, same equivalence)
  int place = -1;      ///< in its group, for notes of what is being done
  std::vector<std::vector<double>> passes{}; ///< nanoseconds an execution, in the order taken
  std::string stop_reason{};

  int batch = 1;      ///< executions a sample
  double best_ns = 0; ///< of one execution, so far
};

/// How long and how often.
struct sampling_plan {
  double seconds = 0.1; ///< of sampling, a case and pass
  int rounds = 8;
  int passes = 1; ///< independent repetitions of the whole
};

namespace detail {
inline constexpr double shortest_sample_ns = 2000;
inline constexpr double hopeless_ratio = 2;
inline constexpr int fewest_rounds = 4;

/// A first look at a case: warms it up, and finds how many executions make a sample.
inline void probe(sampled_case& c, double slice_ns) {
  double ns = c.run->time(1);
  for (int i = 0; i < 3 && (i == 0 || ns < slice_ns); ++i)
    ns = std::min(ns, c.run->time(1));
  if (ns < shortest_sample_ns) {
    const int several = static_cast<int>(std::ceil(shortest_sample_ns / std::max(ns, 1.0)));
    ns = c.run->time(several) / several;
    c.batch = std::max(1, static_cast<int>(std::ceil(shortest_sample_ns / std::max(ns, 1.0))));
  }
  c.best_ns = std::max(ns, 0.01);
}

/// True if a rival is so much faster that the case cannot win any more. Judged anew in every round,
/// so that one disturbed look does not lose a winner.
inline bool hopeless(const sampled_case& c, const std::vector<sampled_case>& cases) {
  for (const sampled_case& other : cases)
    if (other.rival_class == c.rival_class && c.best_ns > hopeless_ratio * other.best_ns)
      return true;
  return false;
}

/// Rounds in which the case takes part: fewer where one execution fills more than its slice.
inline int rounds_of(const sampled_case& c, const sampling_plan& plan) {
  const double fitting = std::min(plan.seconds * 1e9 / c.best_ns, 1e6);
  return std::clamp(static_cast<int>(fitting), fewest_rounds, std::max(fewest_rounds, plan.rounds));
}
} // namespace detail

/// Takes the samples of all `cases`, which compete. Ends early, with what it has, once `stop` is
/// set.
inline void sample(std::vector<sampled_case>& cases, const sampling_plan& plan,
                   const std::atomic<bool>& stop) {
  using clock = std::chrono::steady_clock;
  for (sampled_case& c : cases) {
    if (stop) return;
    flight::note(stage::sampling, c.place);
    detail::probe(c, plan.seconds * 1e9 / plan.rounds);
  }
  const auto slice = std::chrono::duration<double>(plan.seconds / plan.rounds);
  std::mt19937 order_of_round(20261u);
  std::vector<std::size_t> order(cases.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;

  for (int pass = 0; pass < plan.passes; ++pass) {
    for (sampled_case& c : cases)
      c.passes.emplace_back();
    for (int round = 0; round < std::max(plan.rounds, detail::fewest_rounds); ++round) {
      std::shuffle(order.begin(), order.end(), order_of_round);
      for (std::size_t i : order) {
        sampled_case& c = cases[i];
        if (stop) return;
        const bool lost = detail::hopeless(c, cases);
        const int rounds = lost ? detail::fewest_rounds : detail::rounds_of(c, plan);
        c.stop_reason = lost                   ? "cannot win: over twice the best"
                        : rounds < plan.rounds ? "fewest rounds: one execution takes long"
                                               : "time";
        if (round >= rounds) continue;
        flight::note(stage::sampling, c.place);
        c.run->run(1);
        const auto end = clock::now() + slice;
        do {
          c.passes.back().push_back(c.run->time(c.batch) / c.batch);
          c.best_ns = std::min(c.best_ns, std::max(c.passes.back().back(), 0.01));
        } while (!lost && clock::now() < end);
      }
    }
  }
}

} // namespace benanza::measure
