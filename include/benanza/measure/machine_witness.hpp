// SPDX-License-Identifier: Apache-2.0
// What does the machine do besides measuring? The witness of real runs: the kernel's account of how
// long our thread waited for a processor (/proc/thread-self/schedstat, ns), the processor time of
// the whole system less our own (/proc/stat, in ticks of 10 ms), and looks at the clock, at who
// else is on our cores, at the memory and at the hand-off between threads. What the kernel does not
// tell counts as quiet. Costs about 60 us a visit.
//
//   machine_witness w;   w.begin_visit();  ...  noise n = w.end_visit();
#pragma once

#include "clock_probe.hpp"
#include "crowd_probe.hpp"
#include "hand_off_probe.hpp"
#include "memory_probe.hpp"
#include "witness.hpp"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <fcntl.h>
#include <limits>
#include <map>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <utility>

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
  /// Looks at memory too if it knows how large the last cache is.
  explicit machine_witness(std::int64_t last_level_cache_bytes = 0)
      : memory_(last_level_cache_bytes) {
    loads_.push_back(load());
  }

  void expect(int team, const known_best& known) override {
    team_ = team;
    best_ = &by_team_[team];
    best_->clock.know(known.clock_ns);
    best_->crowd.know(known.begin_ratio);
    if (best_->calibrated == 0) {
      best_->crowd.know(best_ratio(team, calibration_ns));
      best_->calibrated = best_->crowd.best();
    }
    if (team > 1) {
      best_->hand_offs.compare(known.hand_off_ns);
      if (all_share_last_cache()) best_->hand_offs.compare(within_a_cache_ns);
    }
    look();
    memory_.look(); // makes its buffer
  }

  /// The loop that tells the clock, at its best with a team of so many; 0: not known.
  double best_clock_ns(int team) const {
    const auto best = by_team_.find(team);
    return best == by_team_.end() ? 0 : best->second.clock.best_ns();
  }

  /// The ratio of crowd_probe.hpp for a team of so many: as it was calibrated, and the best that
  /// was seen since; infinite: not known.
  std::pair<double, double> begin_ratios(int team) const {
    const auto best = by_team_.find(team);
    constexpr double unknown = std::numeric_limits<double>::infinity();
    if (best == by_team_.end()) return {unknown, unknown};
    return {best->second.calibrated, best->second.crowd.best()};
  }

  double now_ns() override {
    return std::chrono::duration<double, std::nano>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  double clock_after_sample_ns() override { return clock_after_.ns(); }

  void begin_visit() override {
    visit_ns_ = now_ns();
    waited_ns_ = waited();
    crowd_ = {};
  }

  bool glance(bool must = false) override {
    if (must || now_ns() - glanced_ns_ >= glance_ns)
      note_crowd(best_->crowd.compare(glance_at_cores(team_), false));
    return last_crowded_ == 0;
  }

  std::optional<noise> glanced() override {
    if (crowd_.looks() == 0) return {};
    return noise{.crowded = std::exchange(crowd_, {}).mean()};
  }

  bool wait_alone(double most_ns) override {
    const double start_ns = now_ns();
    bool alone = glance(false);
    while (!alone && now_ns() - start_ns < most_ns)
      alone = glance(true);
    crowd_ = {};
    return alone;
  }

  noise end_visit() override {
    const double wall = now_ns() - visit_ns_, waited_now = waited();
    // A look costs 50 us: not worth it between visits that are hardly longer.
    if (visit_ns_ + wall - looked_ns_ > 2e6) {
      look();
      memory_.look();
    }
    noise n = seen_;
    n.crowded = crowd_.looks() > 0 ? crowd_.mean() : last_crowded_;
    n.delayed = wall > 0 ? std::max(0.0, waited_now - waited_ns_) / wall : 0;
    return n;
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
    const double memory = memory_.end_stretch();
    if (!old_enough(start)) return {.memory = memory};
    const double foreign = (end.busy_ns - start.busy_ns) - (end.own_ns - start.own_ns);
    return {.foreign = std::max(0.0, foreign / (end.wall_ns - start.wall_ns) / processors_),
            .memory = memory};
  }

private:
  static constexpr double stretch_ns = 150e6;
  static constexpr double glance_ns = 0.5e6;    ///< neighbours come and go within a millisecond
  static constexpr double calibration_ns = 1e8; ///< of looks at the cores before anything is timed
  struct reading {
    double wall_ns = 0, busy_ns = 0, own_ns = 0;
  };

  /// The best looks of a team: a core on which its threads are two is never as fast as one's own.
  struct best_looks {
    clock_probe clock;
    crowd_probe crowd;
    double calibrated = 0; ///< its best ratio before anything was timed
    hand_off_probe hand_offs;
  };

  /// How fast the cores of all threads are at once, and how near to each other.
  void look() {
    const core_look cores = look_at_cores(team_);
    const double slowdown = best_->clock.compare(cores.chained_ns);
    seen_ = {.slowdown = slowdown, .apart = team_ > 1 ? best_->hand_offs.look(team_) : 0};
    note_crowd(best_->crowd.compare(cores.ratio, slowdown < surely_undisturbed));
    looked_ns_ = glanced_ns_;
  }

  void note_crowd(double slower_by) {
    crowd_.add(slower_by);
    last_crowded_ = crowd_account::neighbours(slower_by);
    glanced_ns_ = now_ns();
  }

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
  std::map<int, best_looks> by_team_{};
  best_looks* best_ = &by_team_[1];
  clock_after_samples clock_after_;
  memory_probe memory_;
  int team_ = 1;
  noise seen_{};            ///< by the last look, but for crowding
  crowd_account crowd_{};   ///< of this visit, since it was asked for
  double last_crowded_ = 0; ///< by the last look or glance
  double visit_ns_ = 0, waited_ns_ = 0, looked_ns_ = 0, glanced_ns_ = 0;
  std::deque<reading> loads_{};
};

} // namespace benanza::measure
