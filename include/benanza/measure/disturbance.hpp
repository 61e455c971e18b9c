// SPDX-License-Identifier: Apache-2.0
// Did somebody else use the machine while we measured? Compares, over a stretch of time, the
// processor time that the whole system spent with our own, and counts how often we were put off the
// processor.
//
//   disturbance_watch watch;  ...  std::string what = watch.seen(threads);   // "" or what
//   disturbed
#pragma once

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace benanza::measure {

/// Watches from its construction on.
class disturbance_watch {
public:
  disturbance_watch()
      : start_(now()) {}

  /// What disturbed us since the start; empty if nothing worth a word. Foreign load counts wherever
  /// it runs: it shares caches and the clock with us.
  std::string seen() const {
    const reading end = now();
    const double wall = end.wall_s - start_.wall_s;
    if (wall < 0.05) return {}; // the kernel's clock ticks are 10 ms
    const double foreign = (end.busy_s - start_.busy_s) - (end.own_s - start_.own_s);
    const double switches = static_cast<double>(end.involuntary - start_.involuntary) / wall;
    std::string text;
    char part[96];
    if (foreign > 0.1 * wall) {
      std::snprintf(part, sizeof part, "other processes used %.0f %% of a processor",
                    100 * foreign / wall);
      text = part;
    }
    if (switches > 100) {
      std::snprintf(part, sizeof part, "%sput off the processor %.0f times a second",
                    text.empty() ? "" : ", ", switches);
      text += part;
    }
    return text;
  }

private:
  struct reading {
    double wall_s = 0, busy_s = 0, own_s = 0;
    long involuntary = 0;
  };

  static reading now() {
    reading r;
    r.wall_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    std::ifstream in("/proc/stat");
    std::string cpu;
    // user nice system idle iowait irq softirq steal
    double ticks[8] = {};
    in >> cpu;
    for (double& t : ticks)
      in >> t;
    const double busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6];
    r.busy_s = busy / static_cast<double>(sysconf(_SC_CLK_TCK));
    rusage own{};
    getrusage(RUSAGE_SELF, &own);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    r.own_s = seconds(own.ru_utime) + seconds(own.ru_stime);
    r.involuntary = own.ru_nivcsw;
    return r;
  }

  reading start_;
};

} // namespace benanza::measure
