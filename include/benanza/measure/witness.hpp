// SPDX-License-Identifier: Apache-2.0
// What goes on around us while we measure? A witness is asked before and after each visit of a
// case, and gives its clock. What it saw is a `noise`; `judge` says whether samples taken meanwhile
// may be kept, and `advice` what disturbed them and what a person can do about it. Times in ns.
//
//   w.begin_visit();  ...  const noise n = w.end_visit();   if (judge(n) != harm::none) ...
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>

namespace benanza::measure {

/// What a witness saw in one visit of a case, or in one stretch of visits.
struct noise {
  double delayed = 0;  ///< share of the time in which we waited for our processor
  double foreign = 0;  ///< share of all the machine's processors that others used
  double slowdown = 0; ///< by how much the clock probe was slower than its best, as a share
  /// By how much more slowly our cores began instructions while others shared them, on the average
  /// of the looks of a while.
  double crowded = 0;
  double memory = 0; ///< by how much reading cold memory took longer, as a share
  double apart = 0;  ///< by how much a hand-off between threads took longer, as a share
  /// What slowed a case's own device down, and what to do about it; empty: nothing, or no device.
  std::string device{};
};

/// What a noise did to the samples; the first that applies.
enum class harm { none, device, delayed, foreign, slow, crowded, memory, apart };

/// Above these a visit is thrown away. The clock's is above what a turbo varies by with the load of
/// the processor's other cores: that is kept with the samples, and allowed for where bounds are
/// compared; what is left is heat, or a governor. A neighbour's, a percent of a layer's time;
/// memory's, above what a stretch of a quiet machine varies by; a hand-off's, above what it varies
/// by between cores that share a cache. Load elsewhere shares the last cache, the memory and the
/// clock with us: the more processors there are, the less of it is felt.
inline constexpr double most_delayed = 0.01, most_foreign = 0.12, most_slowdown = 0.25,
                        most_crowded = 0.03, most_memory = 0.4, most_apart = 1.5;

/// Whether samples taken in such noise may be kept.
inline harm judge(const noise& n) {
  if (!n.device.empty()) return harm::device;
  if (n.delayed > most_delayed) return harm::delayed;
  if (n.foreign > most_foreign) return harm::foreign;
  if (n.slowdown > most_slowdown) return harm::slow;
  if (n.crowded > most_crowded) return harm::crowded;
  if (n.memory > most_memory) return harm::memory;
  return n.apart > most_apart ? harm::apart : harm::none;
}

/// The same harms, added up over what was thrown away.
class noise_sum {
public:
  void add(const noise& n) {
    const harm h = judge(n);
    if (h == harm::none) return;
    part& p = parts_[static_cast<std::size_t>(h)];
    ++p.visits;
    p.amount += h == harm::delayed   ? n.delayed
                : h == harm::foreign ? n.foreign
                : h == harm::slow    ? n.slowdown
                : h == harm::crowded ? n.crowded
                : h == harm::memory  ? n.memory
                                     : n.apart;
    if (h == harm::device) device_ = n.device;
  }

  /// What disturbed most visits; the first of several.
  harm most() const {
    std::size_t worst = 0;
    for (std::size_t i = 1; i < parts_.size(); ++i)
      if (parts_[i].visits > parts_[worst].visits) worst = i;
    return static_cast<harm>(worst);
  }
  /// How much, by the mean of the visits that it disturbed.
  double amount(harm h) const {
    const part& p = parts_[static_cast<std::size_t>(h)];
    return p.visits == 0 ? 0 : p.amount / p.visits;
  }
  /// What a device said last.
  const std::string& device() const { return device_; }

private:
  struct part {
    int visits = 0;
    double amount = 0;
  };
  std::array<part, static_cast<std::size_t>(harm::apart) + 1> parts_{};
  std::string device_{};
};

/// What disturbed most of the visits, how much, and what to do about it; empty if nothing did.
inline std::string advice(const noise_sum& s) {
  const harm worst = s.most();
  const double amount = s.amount(worst);
  char text[240] = "";
  const auto say = [&](const char* format, double figure) {
    std::snprintf(text, sizeof text, format, figure);
    return std::string(text);
  };
  switch (worst) {
  case harm::none: return {};
  case harm::device: return s.device();
  case harm::delayed:
    return say("we waited for the processor %.0f %% of the time: stop other processes, or bind to "
               "a free processor with taskset",
               100 * amount);
  case harm::foreign:
    return say("other processes used %.0f %% of the machine's processors: stop them, or run again "
               "later",
               100 * amount);
  case harm::slow:
    return say("the processor was %.0f %% slower than at its best: let it cool, set the governor "
               "to performance, or run again when its neighbours are quiet",
               100 * amount);
  case harm::crowded:
    return say(
        "something else ran on the same cores, which began instructions %.1f times as slowly: run "
        "again when the neighbours are quiet, or on a machine with cores of its own",
        1 + amount);
  case harm::memory:
    return say(
        "memory took %.1f times as long as at its best: others on the host use it; run again "
        "when they are quiet",
        1 + amount);
  case harm::apart: break;
  }
  return say("a hand-off between threads took %.1f times as long as at its best: their cores "
             "shared no cache; run again later, or pin the virtual machine's processors",
             1 + amount);
}

/// What a machine could do when it was looked at before; 0: not known.
struct known_best {
  double hand_off_ns = 0; ///< of a word between two threads of the team
  double begin_ratio = 0; ///< of crowd_probe.hpp, on cores of one's own
  double clock_ns = 0;    ///< of the loop that tells the clock
};

/// Gives the time, and sees what else the machine does.
class witness {
public:
  virtual ~witness() = default;

  /// From now on `team` threads pass data to each other.
  virtual void expect(int /*team*/, const known_best&) {}
  /// Time that only goes forward.
  virtual double now_ns() = 0;
  /// Directly after a sample: the clock that it ran at, as what a chain on registers takes; 0: not
  /// told.
  virtual double clock_after_sample_ns() { return 0; }
  /// A visit of a case begins.
  virtual void begin_visit() = 0;
  /// What was seen in the visit that began last. `foreign` and `memory` are left to `end_stretch`.
  virtual noise end_visit() = 0;
  /// Between samples, and between the parts of long ones: looks at the cores if the last look was
  /// a while ago, or if it `must`. False if somebody else was on them, by the last look.
  virtual bool glance(bool /*must*/ = false) { return true; }
  /// What looks have seen since this was asked last, or since the visit began; nothing: there were
  /// none.
  virtual std::optional<noise> glanced() { return {}; }
  /// Waits until nobody is beside us, for at most so long; false if somebody still is. What was
  /// seen before is forgotten.
  virtual bool wait_alone(double /*most_ns*/) { return true; }

  /// True once enough time has passed since the last stretch for the load of others to be told.
  virtual bool stretch_is_over() = 0;
  /// The load of others (`noise::foreign`) since the last stretch, or a little longer where that
  /// was too short to tell, and how slow memory was; the next stretch begins.
  virtual noise end_stretch() = 0;
};

} // namespace benanza::measure
