// SPDX-License-Identifier: Apache-2.0
// Is an SMT sibling active on our core? Two hardware threads share a core's units and first caches.
// A virtual machine does not know who has the other one: a layer then takes 5 to 40 % longer, and
// no counter in the machine shows it. But a core issues so many instructions in a cycle, and its
// threads take turns at that: a loop of nops takes up to twice as long next to an active sibling,
// while a chain of dependent operations hardly notices. So the ratio of the two is compared with
// the best one known; it does not depend on the clock.
//
// Nops, because they need nothing else: independent additions took 2.5 or 3.0 cycles on cores of
// one's own (AMD family 25), for seconds the one or the other, by how they were dealt to units.
//
// Siblings come and go within a millisecond, so that one probe says little about a long execution:
// the average of several says what they took of a while.
//
//   smt_probe p;   double slower_by = p.compare(probe_cores(2).nop_ratio, true);   // 0.5: shared
//   smt_average a;   a.add(slower_by);   ...   a.mean()
#pragma once

#include "../../machine/team.hpp"
#include "../sampling/parameters.hpp"
#include "clock_probe.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

namespace benanza::measure {

// One nop of four bytes: of shorter ones some cores cannot fetch enough.
#if defined(__x86_64__) || defined(__i386__)
#define BENANZA_NOP ".byte 0x0f, 0x1f, 0x40, 0x00"
#else
#define BENANZA_NOP "nop"
#endif

/// Nanoseconds of a fixed loop of nops, about 3 us.
inline double nop_loop_ns() {
  const stopwatch timer;
  for (int i = 0; i < 800; ++i)
    asm volatile(".rept 64\n\t" BENANZA_NOP "\n\t.endr");
  return timer.ns();
}
#undef BENANZA_NOP

/// What the cores of a team do when all its threads are busy, by the slowest of them.
struct core_speed {
  double chain_ns = 0;  ///< the loop of clock_probe.hpp
  double nop_ratio = 0; ///< of the loop of nops to that one
};

namespace detail {
/// Of so many loops of each kind, in turns: what holds the processor back for a while meets both.
inline core_speed probe_cores([[maybe_unused]] int threads, int chains) {
  double chain_ns = 0, ratio = 0;
#pragma omp parallel num_threads(threads) reduction(max : chain_ns, ratio) if (threads > 1)
  {
    double nops = std::numeric_limits<double>::infinity(), own_ns = nops;
    for (int i = 0; i < loops_of_a_probe; ++i) {
      nops = std::min(nops, nop_loop_ns());
      if (i < chains) own_ns = std::min(own_ns, clock_loop_ns());
    }
    chain_ns = own_ns;
    ratio = nops / own_ns;
  }
  return {chain_ns, ratio};
}
} // namespace detail

/// A probe of about 30 us.
inline core_speed probe_cores(int threads) {
  return detail::probe_cores(threads, loops_of_a_probe);
}

/// The ratio alone, less surely: a probe of about 15 us. The chain must be timed again too, for the
/// clock may have changed since.
inline double quick_nop_ratio(int threads) {
  return detail::probe_cores(threads, 1).nop_ratio;
}

/// Compares probes with the best one. One that no other comes near to in many probes was a mistake,
/// and is not believed any more.
class smt_probe {
public:
  explicit smt_probe(const parameters& p = usual_parameters)
      : confirmed_within_(p.best_confirmed_within)
      , patience_(p.best_patience) {}

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
  /// Infinite before the first sure probe.
  double best() const { return !confirmed() && probes_since_ >= patience_ ? second_ : least_; }
  /// True if more than one probe was about as good as the best.
  bool confirmed() const { return second_ <= confirmed_within_ * least_; }

private:
  void note(double ratio) {
    const bool better = ratio < least_;
    second_ = better ? least_ : std::min(second_, ratio);
    least_ = better ? ratio : least_;
    probes_since_ = better ? 0 : probes_since_ + 1;
  }

  double confirmed_within_;
  int patience_;
  double least_ = std::numeric_limits<double>::infinity(), second_ = least_;
  int probes_since_ = 0; ///< the best one
};

/// The best ratio of probes for so long, with pauses between them, as siblings pause now and then.
/// 0 if it was seen but once.
inline double calibrated_nop_ratio(int threads, double watch_ns,
                                   const parameters& p = usual_parameters) {
  const stopwatch timer;
  std::vector<core_speed> probes;
  do {
    probes.push_back(probe_cores(threads));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (timer.ns() < watch_ns);
  machine::dismiss_teams();
  double chain_ns = std::numeric_limits<double>::infinity();
  for (const core_speed& s : probes)
    chain_ns = std::min(chain_ns, s.chain_ns);
  smt_probe probe(p);
  for (const core_speed& s : probes)
    probe.compare(s.nop_ratio, s.chain_ns < (1 + p.clean_chain_within) * chain_ns);
  return probe.confirmed() ? probe.best() : 0;
}

/// What of a probe that was slower than the best is a sibling's: a little is turbo's.
inline double beyond_turbo(double slower_by, const parameters& p = usual_parameters) {
  return slower_by > p.turbo_within ? slower_by : 0;
}

/// What the probes of a while have seen of siblings, on the average.
class smt_average {
public:
  explicit smt_average(const parameters& p = usual_parameters)
      : parameters_(&p) {}

  void add(double slower_by) {
    sum_ += beyond_turbo(slower_by, *parameters_);
    ++count_;
  }
  int count() const { return count_; }
  double mean() const { return count_ == 0 ? 0 : sum_ / count_; }

private:
  const parameters* parameters_;
  double sum_ = 0;
  int count_ = 0;
};

/// True if the cores turned out to be so much faster than at the calibration that a sibling was
/// active then.
inline bool calibration_was_disturbed(double first, double best,
                                      const parameters& p = usual_parameters) {
  return first / best < std::numeric_limits<double>::infinity() &&
         beyond_turbo(first / best - 1, p) > 0;
}

} // namespace benanza::measure
