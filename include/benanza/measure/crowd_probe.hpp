// SPDX-License-Identifier: Apache-2.0
// Does something else run on our core? Two threads of a core share what computes and the first
// caches, and a virtual machine is not told who has the other one: a layer takes 5 to 40 % longer
// beside a neighbour, and no counter in the machine shows it. A core begins so many instructions in
// a cycle, and two threads take turns at that: a loop of instructions that do nothing takes up to
// twice as long beside a neighbour, while a chain of operations hardly notices. So the ratio of the
// two is compared with the best one known, which does not depend on the clock.
//
// They do nothing because what they need is then beyond doubt. Additions that do not wait for each
// other took 2.5 or 3.0 cycles on cores of one's own (AMD family 25), for seconds the one or the
// other, as the core had happened to deal them out to its units.
//
// Neighbours come and go within a millisecond, so that one look tells little of a long execution:
// an account of several says what they took of a while.
//
//   crowd_probe p;   double slower_by = p.compare(look_at_cores(2).ratio, true);   // 0.5: not
//   alone
//   crowd_account a;   a.add(slower_by);   ...   a.mean()
#pragma once

#include "clock_probe.hpp"
#include "team.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

namespace benanza::measure {

/// A look is sure if its chain was slower than the best by less, as a share.
inline constexpr double surely_undisturbed = 0.01;

// One instruction that does nothing, of four bytes: of shorter ones some cores cannot keep enough.
#if defined(__x86_64__) || defined(__i386__)
#define BENANZA_NOTHING ".byte 0x0f, 0x1f, 0x40, 0x00"
#else
#define BENANZA_NOTHING "nop"
#endif

/// Nanoseconds of a fixed loop of about 3 us, of instructions that do nothing.
inline double one_begin_loop_ns() {
  using clock = std::chrono::steady_clock;
  const clock::time_point start = clock::now();
  for (int i = 0; i < 800; ++i)
    asm volatile(".rept 64\n\t" BENANZA_NOTHING "\n\t.endr");
  return std::chrono::duration<double, std::nano>(clock::now() - start).count();
}
#undef BENANZA_NOTHING

/// What the cores of a team do when all its threads are busy, by the slowest of them.
struct core_look {
  double chained_ns = 0; ///< the loop of clock_probe.hpp
  double ratio = 0;      ///< of instructions that do nothing, to that one
};

namespace detail {
/// Of so many loops of each kind, in turns: what holds the processor back for a while meets both.
inline core_look look_at_cores([[maybe_unused]] int threads, int chains) {
  double chained_ns = 0, ratio = 0;
#pragma omp parallel num_threads(threads) reduction(max : chained_ns, ratio) if (threads > 1)
  {
    double begin_ns = std::numeric_limits<double>::infinity(), own_ns = begin_ns;
    for (int i = 0; i < loops_of_a_look; ++i) {
      begin_ns = std::min(begin_ns, one_begin_loop_ns());
      if (i < chains) own_ns = std::min(own_ns, one_clock_loop_ns());
    }
    chained_ns = own_ns;
    ratio = begin_ns / own_ns;
  }
  return {chained_ns, ratio};
}
} // namespace detail

/// A look of about 30 us.
inline core_look look_at_cores(int threads) {
  return detail::look_at_cores(threads, loops_of_a_look);
}

/// The ratio alone, less surely: a look of about 15 us. The chain must be timed again too, for the
/// clock may have changed since.
inline double glance_at_cores(int threads) {
  return detail::look_at_cores(threads, 1).ratio;
}

/// Compares looks with the best one. One that no other comes near to in many looks was a mistake,
/// and is not believed any more.
class crowd_probe {
public:
  /// The best ratio is at most this; 0: not known.
  void know(double ratio) {
    if (ratio <= 0) return;
    note(ratio), note(ratio);
  }
  /// By how much a ratio is larger than the best, as a share; 0 or more. It may become the best one
  /// only if it is `sure`: something that stops the chain for a moment makes it too small.
  double compare(double ratio, bool sure) {
    if (ratio <= 0) return 0;
    if (sure) note(ratio);
    return std::max(0.0, ratio / best() - 1);
  }
  /// Infinite before the first sure look.
  double best() const { return !confirmed() && looks_since_ >= patience ? second_ : least_; }
  /// True if more than one look was about as good as the best.
  bool confirmed() const { return second_ <= near * least_; }

private:
  static constexpr double near = 1.03;
  static constexpr int patience = 300;

  void note(double ratio) {
    const bool better = ratio < least_;
    second_ = better ? least_ : std::min(second_, ratio);
    least_ = better ? ratio : least_;
    looks_since_ = better ? 0 : looks_since_ + 1;
  }

  double least_ = std::numeric_limits<double>::infinity(), second_ = least_;
  int looks_since_ = 0; ///< since the best one
};

/// The best ratio of looks for so long, with naps between them: neighbours rest now and then. 0 if
/// it was seen but once.
inline double best_ratio(int threads, double watch_ns) {
  using clock = std::chrono::steady_clock;
  const clock::time_point start = clock::now();
  std::vector<core_look> looks;
  do {
    looks.push_back(look_at_cores(threads));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (std::chrono::duration<double, std::nano>(clock::now() - start).count() < watch_ns);
  dismiss_teams();
  double chained_ns = std::numeric_limits<double>::infinity();
  for (const core_look& l : looks)
    chained_ns = std::min(chained_ns, l.chained_ns);
  crowd_probe probe;
  for (const core_look& l : looks)
    probe.compare(l.ratio, l.chained_ns < (1 + surely_undisturbed) * chained_ns);
  return probe.confirmed() ? probe.best() : 0;
}

/// What the looks of a while have seen of neighbours, on the average.
class crowd_account {
public:
  /// What of a look that was slower than the best is a neighbour's: a little is a turbo's.
  static double neighbours(double slower_by) { return slower_by > 0.12 ? slower_by : 0; }

  void add(double slower_by) {
    sum_ += neighbours(slower_by);
    ++looks_;
  }
  int looks() const { return looks_; }
  double mean() const { return looks_ == 0 ? 0 : sum_ / looks_; }

private:
  double sum_ = 0;
  int looks_ = 0;
};

/// True if the cores turned out to be so much faster than at the calibration that somebody shared
/// them then.
inline bool baseline_was_off(double first, double best) {
  return first / best < std::numeric_limits<double>::infinity() &&
         crowd_account::neighbours(first / best - 1) > 0;
}

} // namespace benanza::measure
