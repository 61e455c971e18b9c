// SPDX-License-Identifier: Apache-2.0
// How much memory may this process still take? The least of what the system can give without
// swapping, what the control groups of the process leave it (both versions), and its own limits of
// addresses and data. Asked before much is taken: Linux finds that memory is short only when it is
// written, and then kills a process.
//
//   available_memory()                       // bytes, just now
//   bytes_text(4.4e12) == "4.4 TB"
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <sys/resource.h>

namespace benanza::machine {

namespace detail {
inline constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// The number that a file begins with; nothing where it says "max", or is not there.
inline std::optional<std::int64_t> number_in(const std::string& file) {
  std::ifstream in(file);
  std::int64_t n = 0;
  return in >> n ? std::optional(n) : std::nullopt;
}

/// The number behind a word of a file.
inline std::optional<std::int64_t> number_behind(std::string_view word, const std::string& file) {
  std::ifstream in(file);
  std::string read;
  while (in >> read)
    if (std::int64_t n = 0; read == word && in >> n) return n;
  return std::nullopt;
}

/// How one version of control groups writes down what a group may take and has taken.
struct group_files {
  const char *folder, *most, *taken, *given_back; ///< the last: memory of files, by need
};

/// What a group and those around it leave to take.
inline std::int64_t left_by(const group_files& f, const std::string& root, std::string group) {
  std::int64_t least = unlimited;
  for (;;) {
    const std::string folder = root + f.folder + group + '/';
    const auto most = number_in(folder + f.most), taken = number_in(folder + f.taken);
    if (most && taken) {
      const auto files = number_behind(f.given_back, folder + "memory.stat").value_or(0);
      least = std::min(
          least, std::max<std::int64_t>(0, *most - std::max<std::int64_t>(0, *taken - files)));
    }
    if (group.empty()) return least;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

inline std::int64_t left_by_groups(const std::string& root) {
  constexpr group_files first{"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                              "memory.usage_in_bytes", "total_inactive_file"};
  constexpr group_files second{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};
  std::int64_t least = unlimited;
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) { // number:controllers:group
    const std::size_t a = line.find(':'), b = line.find(':', a + 1);
    if (a == std::string::npos || b == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(a + 1, b - a - 1) + ',';
    std::string group = line.substr(b + 1);
    if (group == "/") group.clear();
    if (controllers == ",,") least = std::min(least, left_by(second, root, group));
    if (controllers.find(",memory,") != std::string::npos)
      least = std::min(least, left_by(first, root, group));
  }
  return least;
}

/// What a limit of the process leaves, of which it uses so many KiB.
inline std::int64_t left_by_limit(decltype(RLIMIT_AS) which, std::optional<std::int64_t> used_kib) {
  rlimit limit{};
  if (!used_kib || getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return unlimited;
  const auto most =
      static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, static_cast<rlim_t>(unlimited)));
  return std::max<std::int64_t>(0, most - *used_kib * 1024);
}
} // namespace detail

/// What the system says; `root` is put before the names of its files.
inline std::int64_t system_memory(const std::string& root = {}) {
  const std::string status = root + "/proc/self/status";
  std::int64_t least = detail::left_by_groups(root);
  if (const auto kib = detail::number_behind("MemAvailable:", root + "/proc/meminfo"))
    least = std::min(least, *kib * 1024);
  least =
      std::min(least, detail::left_by_limit(RLIMIT_AS, detail::number_behind("VmSize:", status)));
  return std::min(least,
                  detail::left_by_limit(RLIMIT_DATA, detail::number_behind("VmData:", status)));
}

/// Who is asked; tests put an answer of their own here.
inline std::function<std::int64_t()>& memory_source() {
  static std::function<std::int64_t()> source = [] { return system_memory(); };
  return source;
}

/// Bytes that this process may still take, a tenth left to others.
inline std::int64_t available_memory() {
  return memory_source()() / 10 * 9;
}

/// Bytes as people write them: three digits, powers of 1000.
inline std::string bytes_text(double bytes) {
  constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  for (; bytes >= 999.5 && unit + 1 < std::size(units); ++unit)
    bytes /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, bytes < 99.95 && unit > 0 ? "%.1f %s" : "%.0f %s", bytes,
                units[unit]);
  return text;
}

} // namespace benanza::machine
