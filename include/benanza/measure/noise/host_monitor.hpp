// SPDX-License-Identifier: Apache-2.0
// What does the host do besides measuring? The monitor of real runs: the kernel's account of how
// long our thread waited for a processor (/proc/thread-self/schedstat, ns), the processor time of
// the whole system less our own and our children's (/proc/stat, in ticks of 10 ms), and probes of
// the clock, of SMT siblings, of the memory and of the hand-off between threads. What the kernel
// does not report counts as quiet. Costs about 60 us a slice.
//
//   host_monitor m;   m.begin_slice();  ...  noise n = m.end_slice();
#pragma once

#include "../sampling/noise_monitor.hpp"
#include "clock_probe.hpp"
#include "hand_off_probe.hpp"
#include "memory_probe.hpp"
#include "smt_probe.hpp"

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

/// Where the kernel reports what a thread and the system did.
struct kernel_files {
  const char* schedstat = "/proc/thread-self/schedstat";
  const char* stat = "/proc/stat";
};

/// Sees the machine that it runs on. Belongs to the thread that measures.
class host_monitor final : public noise_monitor {
public:
  /// Probes memory too if it knows how large the last cache is.
  explicit host_monitor(std::int64_t last_level_cache_bytes = 0,
                        const parameters& p = usual_parameters, const kernel_files& files = {})
      : parameters_(p)
      , schedstat_(files.schedstat)
      , stat_(files.stat)
      , memory_(last_level_cache_bytes) {
    loads_.push_back(load());
    expected(1);
  }

  void expect(int team, const known_best& known) override {
    expected(team);
    best_->clock.know(known.clock_ns);
    best_->smt.know(known.nop_ratio);
    if (best_->calibrated == 0) {
      best_->smt.know(calibrated_nop_ratio(team, parameters_.calibration_ns, parameters_));
      best_->calibrated = best_->smt.best();
    }
    if (team > 1) {
      best_->hand_offs.compare(known.hand_off_ns);
      if (all_share_last_cache()) best_->hand_offs.compare(parameters_.shared_cache_hand_off_ns);
    }
    probe();
    memory_.probe(); // makes its buffer
  }

  /// The loop of clock_probe.hpp, at its best with a team of so many; 0: not known.
  double best_clock_ns(int team) const {
    const auto best = by_team_.find(team);
    return best == by_team_.end() ? 0 : best->second.clock.best_ns();
  }

  /// The ratio of smt_probe.hpp for a team of so many: as it was calibrated, and the best that was
  /// seen since; infinite: not known.
  std::pair<double, double> nop_ratios(int team) const {
    const auto best = by_team_.find(team);
    constexpr double unknown = std::numeric_limits<double>::infinity();
    if (best == by_team_.end()) return {unknown, unknown};
    return {best->second.calibrated, best->second.smt.best()};
  }

  double now_ns() override {
    return std::chrono::duration<double, std::nano>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  double clock_after_sample_ns() override { return clock_after_.ns(); }

  void begin_slice() override {
    slice_ns_ = now_ns();
    waited_ns_ = waited();
    smt_ = smt_average(parameters_);
  }

  bool quick_probe(bool must = false) override {
    if (must || now_ns() - quick_probe_ns_ >= parameters_.quick_probe_every_ns)
      note_smt(best_->smt.compare(quick_nop_ratio(team_), false));
    return last_smt_loss_ == 0;
  }

  std::optional<noise> probed() override {
    if (smt_.count() == 0) return {};
    return noise{.smt_loss = std::exchange(smt_, smt_average(parameters_)).mean()};
  }

  bool wait_for_quiet(double most_ns) override {
    const double start_ns = now_ns();
    bool quiet = quick_probe(false);
    while (!quiet && now_ns() - start_ns < most_ns)
      quiet = quick_probe(true);
    smt_ = smt_average(parameters_);
    return quiet;
  }

  noise end_slice() override {
    const double wall = now_ns() - slice_ns_, waited_now = waited();
    // A probe costs 50 us: not worth it between slices that are hardly longer.
    if (slice_ns_ + wall - probe_ns_ > parameters_.probe_every_ns) {
      probe();
      memory_.probe();
    }
    noise n = seen_;
    n.smt_loss = smt_.count() > 0 ? smt_.mean() : last_smt_loss_;
    n.waiting = wall > 0 ? std::max(0.0, waited_now - waited_ns_) / wall : 0;
    return n;
  }

  bool window_is_over() override {
    return now_ns() - loads_.back().wall_ns >= parameters_.window_ns;
  }

  noise end_window() override {
    loads_.push_back(load());
    // Over at least a window's length: the kernel's ticks are coarse.
    const auto old_enough = [this](const reading& r) {
      return loads_.back().wall_ns - r.wall_ns >= parameters_.window_ns;
    };
    while (loads_.size() > 2 && old_enough(loads_[1]))
      loads_.pop_front();
    const reading &start = loads_.front(), &end = loads_.back();
    const double memory_loss = memory_.end_window();
    if (!old_enough(start)) return {.memory_loss = memory_loss};
    const double others_ns = (end.busy_ns - start.busy_ns) - (end.own_ns - start.own_ns);
    return {.other_load = std::max(0.0, others_ns / (end.wall_ns - start.wall_ns) / processors_),
            .memory_loss = memory_loss};
  }

private:
  struct reading {
    double wall_ns = 0, busy_ns = 0, own_ns = 0;
  };

  /// The best probes of a team: a core on which its threads are two is never as fast as one's own.
  struct best_probes {
    explicit best_probes(const parameters& p)
        : smt(p) {}
    clock_probe clock{};
    smt_probe smt;
    double calibrated = 0; ///< its best ratio before anything was timed
    hand_off_probe hand_offs{};
  };

  void expected(int team) {
    team_ = team;
    best_ = &by_team_.try_emplace(team, parameters_).first->second;
  }

  /// How fast the cores of all threads are at once, and how near to each other.
  void probe() {
    const core_speed cores = probe_cores(team_);
    const double loss = best_->clock.compare(cores.chain_ns);
    seen_ = {.clock_loss = loss, .hand_off_loss = team_ > 1 ? best_->hand_offs.probe(team_) : 0};
    note_smt(best_->smt.compare(cores.nop_ratio, loss < parameters_.clean_chain_within));
    probe_ns_ = quick_probe_ns_;
  }

  void note_smt(double slower_by) {
    smt_.add(slower_by);
    last_smt_loss_ = beyond_turbo(slower_by, parameters_);
    quick_probe_ns_ = now_ns();
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
    const auto ns = [](const timeval& t) {
      return 1e9 * static_cast<double>(t.tv_sec) + 1e3 * static_cast<double>(t.tv_usec);
    };
    for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) { // that have ended
      rusage own{};
      getrusage(who, &own);
      r.own_ns += ns(own.ru_utime) + ns(own.ru_stime);
    }
    return r;
  }

  const parameters parameters_;
  detail::kernel_file schedstat_, stat_;
  double processors_ = static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  std::map<int, best_probes> by_team_{};
  best_probes* best_ = nullptr;
  clock_after_samples clock_after_;
  memory_probe memory_;
  int team_ = 1;
  noise seen_{};                 ///< by the last probe, but for SMT siblings
  smt_average smt_{parameters_}; ///< of this slice, since it was asked for
  double last_smt_loss_ = 0;     ///< by the last probe, quick or not
  double slice_ns_ = 0, waited_ns_ = 0, probe_ns_ = 0, quick_probe_ns_ = 0;
  std::deque<reading> loads_{};
};

} // namespace benanza::measure
