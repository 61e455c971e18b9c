// SPDX-License-Identifier: Apache-2.0
// Which GPUs can be asked for without having one? Descriptions with what cuDNN's choice of engines
// depends on: compute capability, multiprocessors, shared memory, caches, clocks. Memory sizes and
// clocks are nominal; a real GPU's own description is written by benanza_bench --describe-device.
//
//   device_facts d = *find_device("h200");   device_json(d) is what cuDNN takes
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::backend::cudnn {

/// What cuDNN wants to know of a GPU. Sizes are bytes, clocks kHz.
struct device_facts {
  std::string_view name;
  int compute_capability; ///< 900: 9.0
  int multiprocessors;
  int shared_memory_opt_in; ///< a block may ask for so much
  int blocks_per_multiprocessor, threads_per_multiprocessor;
  int memory_gib;
  int clock_khz, memory_clock_khz;
  int l2_kib;
  std::string_view source; ///< where the figures come from
};

namespace detail {
inline constexpr std::string_view data_sheet =
    "NVIDIA's data sheet and the CUDA programming guide's table of compute capabilities";
}

// clang-format off
inline constexpr std::array<device_facts, 10> known_devices{{
    {"v100", 700, 80, 98304, 32, 2048, 16, 1530000, 877000, 6144, detail::data_sheet},
    {"t4", 750, 40, 65536, 16, 1024, 16, 1590000, 5001000, 4096, detail::data_sheet},
    {"a10", 860, 72, 101376, 16, 1536, 24, 1695000, 6251000, 6144, detail::data_sheet},
    {"a100", 800, 108, 166912, 32, 2048, 80, 1410000, 1593000, 40960, detail::data_sheet},
    {"l4", 890, 58, 101376, 24, 1536, 24, 2040000, 6251000, 49152, detail::data_sheet},
    {"l40s", 890, 142, 101376, 24, 1536, 48, 2520000, 9001000, 98304, detail::data_sheet},
    {"h100", 900, 132, 232448, 32, 2048, 80, 1980000, 2619000, 51200, detail::data_sheet},
    {"h200", 900, 132, 232448, 32, 2048, 141, 1980000, 3201000, 61440, detail::data_sheet},
    {"b200", 1000, 148, 232448, 32, 2048, 180, 1965000, 3996000, 129536, detail::data_sheet},
    {"rtx5090", 1200, 170, 101376, 24, 1536, 32, 2407000, 14001000, 98304, detail::data_sheet},
}};
// clang-format on

/// The GPU of that name, if it is in the table.
inline std::optional<device_facts> find_device(std::string_view name) {
  for (const device_facts& d : known_devices)
    if (d.name == name) return d;
  return std::nullopt;
}

/// All names, for messages: "v100, t4, ...".
inline std::string device_names() {
  std::string all;
  for (const device_facts& d : known_devices)
    all.append(all.empty() ? "" : ", ").append(d.name);
  return all;
}

/// The description in the form that cuDNN reads.
inline std::string device_json(const device_facts& d) {
  const auto number = [](std::string_view key, std::int64_t value) {
    return '"' + std::string(key) + "\":" + std::to_string(value) + ',';
  };
  return '{' + number("deviceVer", d.compute_capability) +
         number("multiProcessorCount", d.multiprocessors) + number("warpSize", 32) +
         number("maxSharedMemoryPerBlock", 49152) +
         number("maxSharedMemoryPerBlockOptin", d.shared_memory_opt_in) +
         number("reservedSharedMemoryPerBlock", d.compute_capability >= 800 ? 1024 : 0) +
         number("maxRegistersPerSM", 65536) + number("maxCtasPerSM", d.blocks_per_multiprocessor) +
         number("maxThreadsPerBlock", 1024) +
         number("maxThreadsPerSM", d.threads_per_multiprocessor) + number("regsPerBlock", 65536) +
         number("totalGlobalMem", std::int64_t{d.memory_gib} << 30) +
         number("smClockRateKHz", d.clock_khz) +
         number("l2CacheSize", std::int64_t{d.l2_kib} << 10) + "\"maxBlockSize\":[1024,1024,64]," +
         number("memClockRateKHz", d.memory_clock_khz) +
         "\"maxGridSize\":[2147483647,65535,65535]," + number("supportCoopLaunch", 1) +
         number("pciDeviceId", 0) + number("isTccDriver", 0) + number("cudaDeviceId", 0) +
         number("driverVer", 13000) + "\"deviceName\":\"" + std::string(d.name) + "\"}";
}

} // namespace benanza::backend::cudnn
