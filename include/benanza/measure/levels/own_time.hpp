// SPDX-License-Identifier: Apache-2.0
// How long did something run, without the time in which its thread was ready and others had the
// processor? A run of many milliseconds hardly ever passes without such a pause on a machine with
// other work, and would look like a slower one. Only for what one thread does: it cannot see for
// what several wait.
//
//   const own_time t;   work();   t.now().own_ns()
#pragma once

#include "../../core/stopwatch.hpp"

#include <ctime>

namespace benanza::measure {

class own_time {
public:
  /// Pauses that are shorter are noise of the two clocks.
  static constexpr double shortest_pause_ns = 20e3;

  explicit own_time(bool one_thread = true)
      : one_thread_(one_thread) {}

  /// Since it was made, and how much of that others had the processor; both at once.
  struct figures {
    double ns = 0, waited_ns = 0;
    double own_ns() const { return ns - waited_ns; }
  };
  figures now() const {
    figures f{.ns = wall_.ns()};
    if (!one_thread_) return f;
    const double paused = f.ns - (processor_ns() - began_ns_);
    if (paused > shortest_pause_ns && paused < f.ns) f.waited_ns = paused;
    return f;
  }

private:
  static double processor_ns() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
  }
  bool one_thread_;
  double began_ns_ = processor_ns();
  stopwatch wall_{};
};

} // namespace benanza::measure
