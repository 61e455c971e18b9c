// SPDX-License-Identifier: Apache-2.0
// What machine is this? The facts that decide whether two results may be compared: processor,
// caches, memory, kernel; and those that explain a figure: governor, load. What the system does not
// report is written down as "unknown", never guessed.
//
//   facts f = machine_facts(environment);   f["cpu"] == "AMD EPYC 9354 32-Core Processor"
#pragma once

#include "../core/text.hpp"
#include "environment.hpp"
#include "own_program.hpp"
#include "processor_kinds.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <istream>
#include <map>
#include <string>
#include <sys/utsname.h>
#include <utility>
#include <vector>

namespace benanza::machine {

using facts = std::map<std::string, std::string>;

namespace detail {
inline std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  return std::getline(in, line) && !line.empty() ? line : "unknown";
}

/// Value of the first `name : value` line of /proc/cpuinfo, or of such a text.
inline std::string cpuinfo(const std::string& name,
                           std::istream&& in = std::ifstream("/proc/cpuinfo")) {
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, name.size(), name) != 0) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

/// The name of the processor, or, where it has none (Arm), the makers and kinds of its cores:
/// `0x41.0xd40 r1p1` are Neoverse V1 of the second variant.
inline std::string processor_name(std::istream&& in = std::ifstream("/proc/cpuinfo")) {
  std::vector<std::string> kinds;
  std::map<std::string, std::string> core;
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    core[name] = line.substr(colon + 2);
    if (name == "model name") return core[name];
    if (name != "CPU revision") continue; // the last line of a core
    const std::string variant = core["CPU variant"];
    std::string kind = core["CPU implementer"] + '.' + core["CPU part"] + " r" +
                       std::to_string(std::strtol(variant.c_str(), nullptr, 0)) + 'p' + core[name];
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
      kinds.push_back(std::move(kind));
  }
  return kinds.empty() ? "unknown" : join(kinds, ", ");
}

/// Bytes of the data (or unified) cache of that level, of the run's first processor; 0: not
/// reported.
inline std::int64_t cache_bytes(int level) {
  const std::vector<int> here = numbers(entered().processor_list);
  const std::string caches =
      "/sys/devices/system/cpu/cpu" + std::to_string(here.empty() ? 0 : here[0]) + "/cache/index";
  for (int i = 0; i < 8; ++i) {
    const std::string at = caches + std::to_string(i) + "/";
    if (first_line(at + "level") != std::to_string(level)) continue;
    if (first_line(at + "type") == "Instruction") continue;
    const std::string size = first_line(at + "size");
    std::int64_t bytes = std::atoll(size.c_str());
    if (size.back() == 'K') bytes <<= 10;
    if (size.back() == 'M') bytes <<= 20;
    return bytes;
  }
  const std::array<int, 3> names{_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                 _SC_LEVEL3_CACHE_SIZE};
  const long reported = sysconf(names[static_cast<std::size_t>(level - 1)]);
  return reported > 0 ? reported : 0;
}

/// Whether the clock may rise above its nominal rate: "on", "off" or "unknown".
inline std::string turbo() {
  const std::string at = "/sys/devices/system/cpu/";
  if (const std::string boost = first_line(at + "cpufreq/boost"); boost != "unknown")
    return boost == "1" ? "on" : "off";
  const std::string off = first_line(at + "intel_pstate/no_turbo");
  return off == "unknown" ? off : off == "0" ? "on" : "off";
}
} // namespace detail

/// Bytes of the last cache before memory; 32 MiB where the system does not report it.
inline std::int64_t last_level_cache_bytes() {
  for (int level = 3; level > 0; --level)
    if (const std::int64_t bytes = detail::cache_bytes(level)) return bytes;
  return std::int64_t{32} << 20;
}

/// Facts that two results must share to be merged.
inline facts machine_facts(const environment& e) {
  facts f;
  f["cpu"] = is_emulated() ? "emulated: times mean nothing" : detail::processor_name();
  f["cpu_family"] = detail::cpuinfo("cpu family") + "." + detail::cpuinfo("model\t");
  f["cores"] = std::to_string(e.processors);
  f["processors_online"] = std::to_string(sysconf(_SC_NPROCESSORS_ONLN));
  f["l1d_bytes"] = std::to_string(detail::cache_bytes(1));
  f["l2_bytes"] = std::to_string(detail::cache_bytes(2));
  f["llc_bytes"] = std::to_string(last_level_cache_bytes());
  f["memory_bytes"] = std::to_string(std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE));
  const std::string flags = detail::cpuinfo("flags");
  f["hypervisor"] = flags == "unknown"                               ? flags
                    : flags.find(" hypervisor") != std::string::npos ? "yes"
                                                                     : "no";
  f["governor"] = detail::first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  f["turbo"] = detail::turbo();
  return f;
}

/// The revision of the processor's microcode.
inline std::string microcode() {
  return detail::cpuinfo("microcode");
}

/// The name and release of the running kernel.
inline std::string kernel() {
  utsname system{};
  uname(&system);
  return std::string(system.sysname) + " " + system.release;
}

/// The system's load average of the last minute.
inline std::string load_average() {
  const std::string line = detail::first_line("/proc/loadavg");
  return line.substr(0, line.find(' '));
}

} // namespace benanza::machine
