// SPDX-License-Identifier: Apache-2.0
// How far apart are our threads just now? A virtual machine's processors are moved about on the
// host: while they lie on cores that share no cache, whatever one thread made and another one reads
// takes up to nine times as long, and no counter in the machine tells. So a word goes round all
// threads between visits, and the time of a hand-off is compared with the best one known.
//
//   hand_off_probe p;   double slower_by = p.look(2);   // 0.5: a hand-off takes 1.5 times as long
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace benanza::measure {

/// The fact of a run's `measuring` section that holds the best hand-off.
inline constexpr const char* hand_off_fact = "hand_off_ns";

/// Nanoseconds of one hand-off in a round of `threads` threads; 0 if there is only one.
inline double hand_off_ns([[maybe_unused]] int threads) {
#ifdef _OPENMP
  using clock = std::chrono::steady_clock;
  constexpr std::int64_t rounds = 100;
  alignas(64) std::atomic<std::int64_t> turn{0};
  double ns = 0;
  std::int64_t hops = 0;
#pragma omp parallel num_threads(threads)
  {
    const std::int64_t team = omp_get_num_threads(), me = omp_get_thread_num();
#pragma omp barrier
    const clock::time_point start = clock::now();
    for (std::int64_t next = me; team > 1 && next < rounds * team; next += team) {
      while (turn.load(std::memory_order_acquire) != next) {
      }
      turn.store(next + 1, std::memory_order_release);
    }
    const std::chrono::duration<double, std::nano> took = clock::now() - start;
    if (me == team - 1) ns = took.count(), hops = rounds * team;
  }
  return hops > 0 && turn == hops ? ns / static_cast<double>(hops) : 0;
#else
  return 0;
#endif
}

/// The best hand-off of some looks; ends the threads again, which would spin on.
inline double best_hand_off_ns([[maybe_unused]] int threads) {
  double best = 0;
#ifdef _OPENMP
  for (int i = 0; i < 200; ++i)
    if (const double ns = hand_off_ns(threads); ns > 0 && (best <= 0 || ns < best)) best = ns;
  omp_pause_resource_all(omp_pause_soft);
#endif
  return best;
}

/// A hand-off between cores that share a cache takes no longer: 25 to 45 ns were seen, and 150 to
/// 180 where they share none.
inline constexpr double within_a_cache_ns = 60;

/// True if the system says that all processors share their last cache.
inline bool all_share_last_cache() {
  const std::string at = "/sys/devices/system/cpu/";
  std::string online, sharing;
  std::ifstream(at + "online") >> online;
  for (int index = 0;; ++index) { // the last one counts
    std::ifstream level(at + "cpu0/cache/index" + std::to_string(index) + "/shared_cpu_list");
    if (!(level >> sharing)) break;
  }
  return !online.empty() && online == sharing;
}

/// Compares looks at the hand-off with the best one.
class hand_off_probe {
public:
  /// By how much a hand-off takes longer than at its best, as a share; 0 or more.
  double look(int threads) { return compare(std::min(hand_off_ns(threads), hand_off_ns(threads))); }

  /// The same for one that took `ns`.
  double compare(double ns) {
    if (ns <= 0) return 0;
    best_ns_ = std::min(best_ns_, ns);
    return ns / best_ns_ - 1;
  }

  /// The shortest hand-off seen; 0 before the first look.
  double best_ns() const { return best_ns_ < unknown ? best_ns_ : 0; }

private:
  static constexpr double unknown = std::numeric_limits<double>::infinity();
  double best_ns_ = unknown;
};

} // namespace benanza::measure
