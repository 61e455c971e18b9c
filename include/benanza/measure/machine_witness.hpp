// SPDX-License-Identifier: Apache-2.0
// What does the machine do besides measuring? The witness of real runs: the kernel's account of how
// long our thread waited for a processor (/proc/thread-self/schedstat, ns), the processor time of
// the whole system less our own (/proc/stat, in ticks of 10 ms), and looks at the clock and at the
// hand-off between threads. What the kernel does not tell counts as quiet. Costs about 50 us a
// visit.
//
//   machine_witness w;   w.begin_visit();  ...  noise n = w.end_visit();
#pragma once

#include "clock_probe.hpp"
#include "hand_off_probe.hpp"
#include "witness.hpp"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace benanza::measure {

namespace detail {
/// A small file of the kernel's, read again and again without opening it each time.
class kernel_file {
public:
  explicit kernel_file(const char* path)
      : fd_(open(path, O_RDONLY | O_CLOEXEC)) {}
  kernel_file(const kernel_file&) = delete;
  kernel_file& operator=(const kernel_file&) = delete;
  ~kernel_file() {
    if (fd_ >= 0) close(fd_);
  }
  /// Its beginning; empty if it cannot be read.
  const char* text() {
    const ssize_t n = fd_ < 0 ? -1 : pread(fd_, text_, sizeof text_ - 1, 0);
    text_[n < 0 ? 0 : n] = 0;
    return text_;
  }

private:
  int fd_;
  char text_[256] = {};
};
} // namespace detail

/// Sees the machine that it runs on. Belongs to the thread that measures.
class machine_witness final : public witness {
public:
  machine_witness() { loads_.push_back(load()); }

  void expect(int team, double hand_off_ns) override {
    team_ = team;
    apart_ = 0;
    if (team < 2) return;
    hand_offs_.compare(hand_off_ns);
    if (all_share_last_cache()) hand_offs_.compare(within_a_cache_ns);
  }

  double now_ns() override {
    return std::chrono::duration<double, std::nano>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  void begin_visit() override {
    visit_ns_ = now_ns();
    waited_ns_ = waited();
  }

  noise end_visit() override {
    const double wall = now_ns() - visit_ns_, waited_now = waited();
    // A look costs 35 us: not worth it between visits that are hardly longer.
    if (visit_ns_ + wall - looked_ns_ > 2e6) {
      slowdown_ = probe_.look();
      if (team_ > 1) apart_ = hand_offs_.look(team_);
      looked_ns_ = now_ns();
    }
    return {.delayed = wall > 0 ? std::max(0.0, waited_now - waited_ns_) / wall : 0,
            .slowdown = slowdown_,
            .apart = apart_};
  }

  bool stretch_is_over() override { return now_ns() - loads_.back().wall_ns >= stretch_ns; }

  noise end_stretch() override {
    loads_.push_back(load());
    // Told over at least a stretch's length: the kernel's ticks are coarse.
    const auto old_enough = [this](const reading& r) {
      return loads_.back().wall_ns - r.wall_ns >= stretch_ns;
    };
    while (loads_.size() > 2 && old_enough(loads_[1]))
      loads_.pop_front();
    const reading &start = loads_.front(), &end = loads_.back();
    if (!old_enough(start)) return {};
    const double foreign = (end.busy_ns - start.busy_ns) - (end.own_ns - start.own_ns);
    return {.foreign = std::max(0.0, foreign / (end.wall_ns - start.wall_ns) / processors_)};
  }

private:
  static constexpr double stretch_ns = 150e6;
  struct reading {
    double wall_ns = 0, busy_ns = 0, own_ns = 0;
  };

  /// Nanoseconds that this thread has waited for its processor since it began; the threads that
  /// help it wait at the end of each execution, so that what delays them is in its own time.
  double waited() {
    const char* text = schedstat_.text();
    const char* second = std::strchr(text, ' ');
    if (second != nullptr) return std::strtod(second, nullptr);
    // Without that account: the time that passed while this thread was not running.
    timespec ran{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
    return now_ns() - (1e9 * static_cast<double>(ran.tv_sec) + static_cast<double>(ran.tv_nsec));
  }

  reading load() {
    reading r;
    r.wall_ns = now_ns();
    // cpu user nice system idle iowait irq softirq steal
    const char* text = stat_.text();
    double ticks[8] = {};
    if (std::strncmp(text, "cpu ", 4) == 0) {
      char* at = nullptr;
      text += 4;
      for (double& t : ticks) {
        t = std::strtod(text, &at);
        text = at;
      }
    }
    const double busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7];
    r.busy_ns = 1e9 * busy / static_cast<double>(sysconf(_SC_CLK_TCK));
    rusage own{};
    getrusage(RUSAGE_SELF, &own);
    const auto ns = [](const timeval& t) {
      return 1e9 * static_cast<double>(t.tv_sec) + 1e3 * static_cast<double>(t.tv_usec);
    };
    r.own_ns = ns(own.ru_utime) + ns(own.ru_stime);
    return r;
  }

  detail::kernel_file schedstat_{"/proc/thread-self/schedstat"}, stat_{"/proc/stat"};
  double processors_ = static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  clock_probe probe_;
  hand_off_probe hand_offs_;
  int team_ = 1;
  double visit_ns_ = 0, waited_ns_ = 0, looked_ns_ = 0, slowdown_ = 0, apart_ = 0;
  std::deque<reading> loads_{};
};

} // namespace benanza::measure
