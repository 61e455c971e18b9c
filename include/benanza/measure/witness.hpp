// SPDX-License-Identifier: Apache-2.0
// What goes on around us while we measure? A witness is asked before and after each visit of a
// case, and gives its clock. What it saw is a `noise`; `judge` says whether samples taken meanwhile
// may be kept, and `advice` what disturbed them and what a person can do about it. Times in ns.
//
//   w.begin_visit();  ...  const noise n = w.end_visit();   if (judge(n) != harm::none) ...
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>

namespace benanza::measure {

/// What a witness saw in one visit of a case, or in one stretch of visits.
struct noise {
  double delayed = 0;  ///< share of the time in which we waited for our processor
  double foreign = 0;  ///< share of all the machine's processors that others used
  double slowdown = 0; ///< by how much the clock probe was slower than its best, as a share
  double apart = 0;    ///< by how much a hand-off between threads took longer, as a share
  /// What slowed a case's own device down, and what to do about it; empty: nothing, or no device.
  std::string device{};
};

/// What a noise did to the samples; the first that applies.
enum class harm { none, device, delayed, foreign, slow, apart };

/// Above these a visit is thrown away. The clock's is above what it varies by itself on a quiet
/// machine; a hand-off's, above what it varies by between cores that share a cache. Load elsewhere
/// shares the last cache, the memory and the clock with us: the more processors there are, the less
/// of it is felt.
inline constexpr double most_delayed = 0.01, most_foreign = 0.12, most_slowdown = 0.05,
                        most_apart = 1.5;

/// Whether samples taken in such noise may be kept.
inline harm judge(const noise& n) {
  if (!n.device.empty()) return harm::device;
  if (n.delayed > most_delayed) return harm::delayed;
  if (n.foreign > most_foreign) return harm::foreign;
  if (n.slowdown > most_slowdown) return harm::slow;
  return n.apart > most_apart ? harm::apart : harm::none;
}

/// The same harms, added up over what was thrown away.
struct noise_sum {
  int device = 0, delayed = 0, foreign = 0, slow = 0, apart = 0; ///< visits
  noise total; ///< of the device: what was said last

  void add(const noise& n) {
    const harm h = judge(n);
    delayed += h == harm::delayed, foreign += h == harm::foreign, slow += h == harm::slow;
    apart += h == harm::apart, device += h == harm::device;
    if (h == harm::device) total.device = n.device;
    total.delayed += h == harm::delayed ? n.delayed : 0;
    total.foreign += h == harm::foreign ? n.foreign : 0;
    total.slowdown += h == harm::slow ? n.slowdown : 0;
    total.apart += h == harm::apart ? n.apart : 0;
  }
};

/// What disturbed most of the visits, how much, and what to do about it; empty if nothing did.
inline std::string advice(const noise_sum& s) {
  char text[200] = "";
  if (s.device > 0 && s.device >= std::max({s.apart, s.foreign, s.delayed, s.slow}))
    return s.total.device;
  if (s.apart > 0 && s.apart >= s.foreign && s.apart >= s.delayed && s.apart >= s.slow) {
    std::snprintf(text, sizeof text,
                  "a hand-off between threads took %.1f times as long as at its best: their cores "
                  "shared no cache; run again later, or pin the virtual machine's processors",
                  1 + s.total.apart / s.apart);
    return text;
  }
  if (s.foreign > 0 && s.foreign >= s.delayed && s.foreign >= s.slow)
    std::snprintf(
        text, sizeof text,
        "other processes used %.0f %% of the machine's processors: stop them, or run again "
        "later",
        100 * s.total.foreign / s.foreign);
  else if (s.delayed > 0 && s.delayed >= s.slow)
    std::snprintf(text, sizeof text,
                  "we waited for the processor %.0f %% of the time: stop other processes, or bind "
                  "to a free processor with taskset",
                  100 * s.total.delayed / s.delayed);
  else if (s.slow > 0)
    std::snprintf(
        text, sizeof text,
        "the processor was %.0f %% slower than at its best: let it cool, set the governor "
        "to performance, or run again when its neighbours are quiet",
        100 * s.total.slowdown / s.slow);
  return text;
}

/// Gives the time, and sees what else the machine does.
class witness {
public:
  virtual ~witness() = default;

  /// From now on `team` threads pass data to each other, with hand-offs that took `hand_off_ns`
  /// before (0: not known).
  virtual void expect(int /*team*/, double /*hand_off_ns*/) {}
  /// Time that only goes forward.
  virtual double now_ns() = 0;
  /// A visit of a case begins.
  virtual void begin_visit() = 0;
  /// What was seen in the visit that began last. `foreign` is left to `end_stretch`.
  virtual noise end_visit() = 0;

  /// True once enough time has passed since the last stretch for the load of others to be told.
  virtual bool stretch_is_over() = 0;
  /// The load of others (`noise::foreign`) since the last stretch, or a little longer where that
  /// was too short to tell; the next stretch begins.
  virtual noise end_stretch() = 0;
};

} // namespace benanza::measure
