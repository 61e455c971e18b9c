// SPDX-License-Identifier: Apache-2.0
// Does something else run on our core? Two threads of a core share what computes and the first
// caches, and a virtual machine is not told who has the other one: a layer takes 5 to 40 % longer
// beside a neighbour, and no counter in the machine shows it. A loop of additions that do not wait
// for each other keeps a whole core busy: beside a neighbour it takes up to 1.6 times as long,
// while a chain of operations hardly notices. It is timed between visits and compared with the best
// known.
//
//   crowd_probe p;   double slower_by = p.compare(abreast_loop_ns());   // 0.5: not alone
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>

namespace benanza::measure {

/// The fact of a run's `measuring` section that holds the best time of the loop.
inline constexpr const char* abreast_fact = "abreast_loop_ns";

/// Nanoseconds of a fixed loop of about 3 us, of eight additions abreast: the best of three, so
/// that an interrupt does not count.
inline double abreast_loop_ns() {
  using clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  std::uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const clock::time_point start = clock::now();
    for (std::uint64_t i = 0; i < 4000; ++i) {
      a += i, b += i, c += i, d += i, e += i, f += i, g += i, h += i;
      // Each in a register of its own, and none of the additions left out.
      asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
    }
    const std::chrono::duration<double, std::nano> took = clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

/// The best of some looks, with naps between them: neighbours rest for a moment now and then.
inline double best_abreast_ns() {
  double best = abreast_loop_ns();
  for (int i = 0; i < 8; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    best = std::min(best, abreast_loop_ns());
  }
  return best;
}

/// Compares looks with the best one.
class crowd_probe {
public:
  /// By how much a loop that took `ns` took longer than at its best, as a share; 0 or more.
  double compare(double ns) {
    if (ns <= 0) return 0;
    best_ns_ = std::min(best_ns_, ns);
    return ns / best_ns_ - 1;
  }

private:
  double best_ns_ = std::numeric_limits<double>::infinity();
};

} // namespace benanza::measure
