// SPDX-License-Identifier: Apache-2.0
// What did the processor count while something ran? Instructions, cycles and misses of the last
// cache, of the thread that asks, as Linux counts them (perf_event_open). Virtual machines often
// have no such counters, and systems may forbid them: then it says why. Reading costs microseconds,
// so nothing is timed meanwhile.
//
//   processor_counters c;   if (c.refused().empty()) { c.begin(); work(); c.end(); }  // one each
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <linux/perf_event.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace benanza::machine {

/// A counter, as Linux calls it.
struct counter_kind {
  std::string_view name;
  std::uint32_t type;
  std::uint64_t config;
};
inline constexpr std::array<counter_kind, 3> hardware_counters{{
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"llc_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
}};

/// Counters that count together.
class processor_counters {
public:
  explicit processor_counters(std::span<const counter_kind> kinds = hardware_counters) {
    for (const counter_kind& k : kinds) {
      const int made = open(k, files_.empty() ? -1 : files_.front());
      if (made >= 0) {
        files_.push_back(made);
        names_.emplace_back(k.name);
      } else if (refused_.empty()) {
        refused_ = reason(errno);
      }
    }
    if (!files_.empty()) refused_.clear();
  }
  processor_counters(const processor_counters&) = delete;
  processor_counters& operator=(const processor_counters&) = delete;
  ~processor_counters() {
    for (const int f : files_)
      close(f);
  }

  /// Why nothing is counted; empty: something is.
  const std::string& refused() const { return refused_; }
  /// What is counted.
  const std::vector<std::string>& names() const { return names_; }

  void begin() {
    ioctl(files_.front(), PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
    ioctl(files_.front(), PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
  }
  /// What was counted since then, in the order of the names; empty: others had the counters.
  std::vector<double> end() {
    ioctl(files_.front(), PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
    std::vector<std::uint64_t> told(3 + files_.size()); // how many, enabled, running, values
    const auto bytes = static_cast<ssize_t>(told.size() * sizeof told[0]);
    if (read(files_.front(), told.data(), static_cast<std::size_t>(bytes)) != bytes ||
        told[0] != files_.size() || told[2] < told[1])
      return {};
    return {told.begin() + 3, told.end()};
  }

private:
  static int open(const counter_kind& k, int group) {
    perf_event_attr a;
    std::memset(&a, 0, sizeof a);
    a.size = sizeof a;
    a.type = k.type;
    a.config = k.config;
    if (group < 0) a.disabled = 1;
    a.exclude_kernel = 1;
    a.exclude_hv = 1;
    a.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return static_cast<int>(syscall(SYS_perf_event_open, &a, 0, -1, group, PERF_FLAG_FD_CLOEXEC));
  }

  static std::string reason(int number) {
    if (number == EACCES || number == EPERM) {
      std::string level;
      std::ifstream("/proc/sys/kernel/perf_event_paranoid") >> level;
      return "the system forbids counters of the processor (kernel.perf_event_paranoid is " +
             (level.empty() ? "not known" : level) + ")";
    }
    if (number == ENOENT || number == EOPNOTSUPP || number == ENODEV)
      return "the processor's counters are not offered here, as on many virtual machines";
    return std::string("the processor's counters cannot be read: ") + std::strerror(number);
  }

  std::vector<int> files_{};
  std::vector<std::string> names_{};
  std::string refused_{};
};

} // namespace benanza::machine
