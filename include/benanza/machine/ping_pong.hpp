// SPDX-License-Identifier: Apache-2.0
// How long does a word take from one thread to the next? It goes round all threads of a team, each
// of which spins on a processor of its own until it is its turn.
//
//   word_passed p = pass_word_round(2, 100);   p.hand_off_ns()   // 31.0
#pragma once

#include "../core/stopwatch.hpp"
#include "cache_lines.hpp"
#include "team.hpp"

#include <atomic>
#include <cstdint>

namespace benanza::machine {

/// So many hand-offs, and how long they took.
struct word_passed {
  std::int64_t hand_offs = 0;
  double ns = 0;
  /// 0: there were none.
  double hand_off_ns() const { return hand_offs > 0 ? ns / static_cast<double>(hand_offs) : 0; }
};

/// Passes a word round so many threads, so many times; by the clock of the last thread.
inline word_passed pass_word_round([[maybe_unused]] int threads, std::int64_t rounds) {
  alignas(64) std::atomic<std::int64_t> turn{0};
  word_passed out;
#pragma omp parallel num_threads(threads)
  {
    const std::int64_t team = team_size(), me = team_rank();
#pragma omp barrier
    const stopwatch timer;
    for (std::int64_t next = me; team > 1 && next < rounds * team; next += team) {
      while (turn.load(std::memory_order_acquire) != next) {
      }
      turn.store(next + 1, std::memory_order_release);
    }
    if (team > 1 && me == team - 1) out = {rounds * team, timer.ns()};
  }
  return turn == out.hand_offs ? out : word_passed{};
}

} // namespace benanza::machine
