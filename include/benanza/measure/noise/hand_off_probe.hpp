// SPDX-License-Identifier: Apache-2.0
// What is the core-to-core latency of our threads just now? A virtual machine's processors are
// moved about on the host: while they are on cores that share no cache, whatever one thread made
// and another one reads takes up to nine times as long, and no counter in the machine shows it. So
// a word goes round all threads between slices, and the time of a hand-off is compared with the
// best one known.
//
//   hand_off_probe p;   double slower_by = p.probe(2);   // 0.5: a hand-off takes 1.5 times as long
#pragma once

#include "../../machine/ping_pong.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

namespace benanza::measure {

/// The fact of a run's `measuring` section that holds the best hand-off.
inline constexpr const char* hand_off_fact = "hand_off_ns";

/// Nanoseconds of one hand-off in a round of `threads` threads; 0 if there is only one.
inline double hand_off_ns(int threads) {
  constexpr std::int64_t rounds = 100;
  return machine::pass_word_round(threads, rounds).hand_off_ns();
}

/// The best hand-off of some probes; ends the threads again, which would spin on.
inline double best_hand_off_ns(int threads) {
  double best = 0;
  for (int i = 0; i < 200; ++i)
    if (const double ns = hand_off_ns(threads); ns > 0 && (best <= 0 || ns < best)) best = ns;
  machine::dismiss_teams();
  return best;
}

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

/// Compares hand-offs with the best one.
class hand_off_probe {
public:
  /// By how much a hand-off takes longer than at its best, as a share; 0 or more.
  double probe(int threads) {
    return compare(std::min(hand_off_ns(threads), hand_off_ns(threads)));
  }

  /// The same for one that took `ns`.
  double compare(double ns) {
    if (ns <= 0) return 0;
    best_ns_ = std::min(best_ns_, ns);
    return ns / best_ns_ - 1;
  }

  /// The shortest hand-off seen; 0 before the first probe.
  double best_ns() const { return best_ns_ < unknown ? best_ns_ : 0; }

private:
  static constexpr double unknown = std::numeric_limits<double>::infinity();
  double best_ns_ = unknown;
};

} // namespace benanza::measure
