// SPDX-License-Identifier: Apache-2.0
// Where does a run take place? Threads are bound to cores and spin while they wait: OpenMP reads
// that from its environment before main, so the program sets it and starts itself again, once. The
// processors that the run may use are taken from the affinity mask it was started with.
//
//   const environment e = enter_environment(argv, 2);   // returns in the process that will measure
#pragma once

#include "../core/error.hpp"
#include "own_program.hpp"
#include "processor_kinds.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <string>
#include <sys/personality.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace benanza::machine {

/// The processors of a run.
struct environment {
  int processors = 1;         ///< how many the affinity mask allows
  std::string processor_list; ///< which: "0,1"
  std::string bound;          ///< to which the measuring thread is bound
};

namespace detail {
inline std::pair<int, std::string> affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {1, "unknown"};
  std::string list;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) list += (list.empty() ? "" : ",") + std::to_string(cpu);
  return {CPU_COUNT(&set), list};
}

/// Leaves the slower ones of two kinds of cores: a time would be of the one or of the other.
inline void keep_fastest() {
  const std::string list = affinity().second;
  const std::vector<int> all = numbers(list), fast = fastest_of(all);
  if (fast.size() == all.size()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int p : fast)
    CPU_SET(static_cast<std::size_t>(p), &set);
  if (sched_setaffinity(0, sizeof set, &set) == 0)
    std::fprintf(stderr,
                 "benanza: of the processors %s only %s are used, which are the faster kind; "
                 "taskset -c takes others\n",
                 list.c_str(), affinity().second.c_str());
}

/// What OpenMP must find: bound threads that spin, so that a parallel region starts in under 1 us
/// (a passive wait takes 60).
inline constexpr std::pair<const char*, const char*> openmp_settings[] = {
    {"OMP_PROC_BIND", "true"},
    {"OMP_PLACES", "cores"},
    {"OMP_WAIT_POLICY", "active"},
    {"OMP_DYNAMIC", "false"},
};
inline constexpr const char* processors_variable = "BENANZA_PROCESSORS";

/// What the program finds when it starts itself again: the variable and its value.
inline std::string processors_text(const environment& e) {
  return std::string(processors_variable) + "=" + std::to_string(e.processors) + ":" +
         e.processor_list;
}

/// What glibc's allocator must find: large pages, for large blocks too, which are then kept. With
/// small ones, a time depends on where a buffer's pages happen to be, and cold weights wait for
/// their addresses as long as for their data.
inline constexpr const char* allocator_variable = "GLIBC_TUNABLES";
inline constexpr const char* allocator_settings =
    "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=4294967296:"
    "glibc.malloc.trim_threshold=4294967296";

/// Gives the program that is started next the same addresses every time, where the system permits
/// it: which data meet in a cache is then the same in every process.
inline void fix_addresses() {
  const int now = personality(0xffffffff);
  if (now != -1) personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE);
}
/// Whether addresses are the same in every process, as provenance says it.
inline const char* addresses() {
  const int now = personality(0xffffffff);
  return now != -1 && (now & ADDR_NO_RANDOMIZE) != 0 ? "fixed" : "random";
}

/// Sets what malloc has to find, behind what the user says of it.
inline void set_allocator() {
  const char* given = std::getenv(allocator_variable);
  std::string all = given == nullptr ? "" : given;
  if (all.ends_with(allocator_settings)) return;
  if (!all.empty()) all += ':';
  setenv(allocator_variable, (all + allocator_settings).c_str(), 1);
}
} // namespace detail

/// The environment that this process entered; of a program that enters none, the processors that
/// its thread may use when it is first asked.
inline environment& entered() {
  static environment e = [] {
    const auto [count, list] = detail::affinity();
    return environment{count, list, list};
  }();
  return e;
}

/// Lets the calling thread run on all processors that the run was started with. Binding threads
/// made the mask narrow, and processes and threads inherit it. Allocates nothing.
inline void widen(const environment& e) {
  cpu_set_t set;
  CPU_ZERO(&set);
  const char* at = e.processor_list.c_str();
  for (char* end = nullptr;; at = end + 1) {
    const long cpu = std::strtol(at, &end, 10);
    if (end == at || cpu < 0 || cpu >= CPU_SETSIZE) return;
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    if (*end != ',') break;
  }
  sched_setaffinity(0, sizeof set, &set);
}

/// Sets the threading environment, starting the program again if it must, and refuses more threads
/// than there are processors.
inline environment enter_environment(char** argv, int threads) {
  environment e;
  const char* marker = std::getenv(detail::processors_variable);
  if (marker == nullptr) {
    detail::keep_fastest();
    const auto [count, list] = detail::affinity();
    if (threads > count)
      throw error(std::to_string(threads) + " threads were asked for, and " +
                      std::to_string(count) +
                      (count == 1 ? " processor is allowed" : " processors are allowed"),
                  "processors " + list, "ask for fewer, or start with a wider affinity mask");
    setenv(detail::processors_variable, (std::to_string(count) + ":" + list).c_str(), 1);
    setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
    unsetenv("GOMP_SPINCOUNT");
    unsetenv("GOMP_CPU_AFFINITY");
    unsetenv("DNNL_VERBOSE"); // its printing would be part of every time
    for (const auto& [name, value] : detail::openmp_settings)
      setenv(name, value, 1);
    detail::set_allocator();
    detail::fix_addresses();
    execv(own_program(), argv);
    throw error(std::string("the program could not start itself again: ") + std::strerror(errno),
                own_program());
  }
  const std::string text(marker);
  unsetenv(detail::processors_variable);
  const std::size_t colon = text.find(':');
  e.processors = std::max(1, std::atoi(text.c_str()));
  e.processor_list = colon == std::string::npos ? "" : text.substr(colon + 1);
  e.bound = detail::affinity().second;
  return entered() = e;
}

} // namespace benanza::machine
