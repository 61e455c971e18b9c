// SPDX-License-Identifier: Apache-2.0
// What else does the machine do while we measure? A monitor is asked before and after each slice of
// a case, and gives its clock. What it saw is a `noise`; `judge` says which interference that is,
// or none, and `remedy` what disturbed most and what a person can do about it. Times in ns.
//
//   m.begin_slice();  ...  const noise n = m.end_slice();   if (judge(n) != interference::none) ...
#pragma once

#include "parameters.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>

namespace benanza::measure {

/// What was seen during a slice of a case, or a window of slices: shares, all 0 on a quiet machine.
struct noise {
  double waiting = 0;    ///< of the time, in which our thread waited for a processor
  double other_load = 0; ///< of the machine's processors, that other processes used
  double clock_loss = 0; ///< by which the clock was below its best
  /// By which SMT siblings slowed the issue of our instructions, on the average of some probes.
  double smt_loss = 0;
  double memory_loss = 0;   ///< by which reading cold memory took longer
  double hand_off_loss = 0; ///< by which a hand-off between threads took longer
};

/// What disturbs samples.
enum class interference { none, waiting, other_load, clock, smt, memory, hand_off };

/// What disturbs samples taken in such noise; the first that applies.
inline interference judge(const noise& n, const parameters& p = usual_parameters) {
  if (n.waiting > p.most_waiting) return interference::waiting;
  if (n.other_load > p.most_other_load) return interference::other_load;
  if (n.clock_loss > p.most_clock_loss) return interference::clock;
  if (n.smt_loss > p.most_smt_loss) return interference::smt;
  if (n.memory_loss > p.most_memory_loss) return interference::memory;
  return n.hand_off_loss > p.most_hand_off_loss ? interference::hand_off : interference::none;
}

/// The interference of what was thrown away, added up.
class noise_sum {
public:
  void add(const noise& n, const parameters& p = usual_parameters) {
    const interference what = judge(n, p);
    if (what == interference::none) return;
    part& its = parts_[static_cast<std::size_t>(what)];
    ++its.times;
    its.amount += what == interference::waiting      ? n.waiting
                  : what == interference::other_load ? n.other_load
                  : what == interference::clock      ? n.clock_loss
                  : what == interference::smt        ? n.smt_loss
                  : what == interference::memory     ? n.memory_loss
                                                     : n.hand_off_loss;
  }

  /// What disturbed most often; the first of several.
  interference most() const {
    std::size_t worst = 0;
    for (std::size_t i = 1; i < parts_.size(); ++i)
      if (parts_[i].times > parts_[worst].times) worst = i;
    return static_cast<interference>(worst);
  }
  /// How much, by the mean.
  double amount(interference what) const {
    const part& p = parts_[static_cast<std::size_t>(what)];
    return p.times == 0 ? 0 : p.amount / p.times;
  }

private:
  struct part {
    int times = 0;
    double amount = 0;
  };
  std::array<part, static_cast<std::size_t>(interference::hand_off) + 1> parts_{};
};

/// What disturbed most, how much, and what to do about it; empty if nothing did.
inline std::string remedy(const noise_sum& s) {
  const interference worst = s.most();
  const double amount = s.amount(worst);
  char text[240] = "";
  const auto say = [&](const char* format, double figure) {
    std::snprintf(text, sizeof text, format, figure);
    return std::string(text);
  };
  switch (worst) {
  case interference::none: return {};
  case interference::waiting:
    return say("we waited for the processor %.0f %% of the time: stop other processes, or bind to "
               "a free processor with taskset",
               100 * amount);
  case interference::other_load:
    return say("other processes used %.0f %% of the machine's processors: stop them, or run again "
               "later",
               100 * amount);
  case interference::clock:
    return say("the processor was %.0f %% slower than at its best: let it cool, set the governor "
               "to performance, or run again when the host is quiet",
               100 * amount);
  case interference::smt:
    return say("another hardware thread used our cores (SMT): instructions were issued at %.0f %% "
               "of the usual rate; run again when the host is quiet, turn SMT off, or take a "
               "machine with cores of its own",
               100 / (1 + amount));
  case interference::memory:
    return say("memory took %.1f times as long as at its best: others on the host use it; run "
               "again when they are quiet",
               1 + amount);
  case interference::hand_off: break;
  }
  return say("a hand-off between threads took %.1f times as long as at its best: their cores "
             "shared no cache; run again later, or pin the virtual machine's processors",
             1 + amount);
}

/// What a machine could do when it was measured before; 0: not known.
struct known_best {
  double hand_off_ns = 0; ///< of a word between two threads of the team
  double nop_ratio = 0;   ///< of noise/smt_probe.hpp, without an SMT sibling
  double clock_ns = 0;    ///< of the loop of noise/clock_probe.hpp
};

/// Gives the time, and sees what else the machine does.
class noise_monitor {
public:
  virtual ~noise_monitor() = default;

  /// From now on `team` threads pass data to each other.
  virtual void expect(int /*team*/, const known_best&) {}
  /// Time that only goes forward.
  virtual double now_ns() = 0;
  /// Directly after a sample: the clock that it ran at, as the time of a chain on registers; 0: not
  /// known.
  virtual double clock_after_sample_ns() { return 0; }

  virtual void begin_slice() = 0;
  /// What was seen in the slice that began last. `other_load` and `memory_loss` are left to
  /// `end_window`.
  virtual noise end_slice() = 0;
  /// Between samples, and between the parts of long ones: probes the cores if the last probe was a
  /// while ago, or if it `must`. False if an SMT sibling was active, by the last probe.
  virtual bool quick_probe(bool /*must*/ = false) { return true; }
  /// What quick probes have seen since this was asked last, or since the slice began; nothing:
  /// there were none.
  virtual std::optional<noise> probed() { return {}; }
  /// Waits until no SMT sibling is active, for at most so long; false if one still is. What was
  /// seen before is forgotten.
  virtual bool wait_for_quiet(double /*most_ns*/) { return true; }

  /// True once enough time has passed since the last window for the load of others to be known.
  virtual bool window_is_over() = 0;
  /// Load of others and loss of memory since the last window, or a little longer where that was too
  /// short to know; the next window begins.
  virtual noise end_window() = 0;
};

} // namespace benanza::measure
