// SPDX-License-Identifier: Apache-2.0
// What did a GPU's own counters count during one execution? The share of its tensor cores, the
// traffic of its memory, and how long its multiprocessors worked.
//
//   device_counters c{.tensor_pipe_percent = 71.5, .active_cycles = 30'000};   c.counted()
#pragma once

#include <cstdint>

namespace benanza {

struct device_counters {
  /// How much of the active cycles the tensor cores' pipes worked, on the average multiprocessor.
  double tensor_pipe_percent = 0;
  std::int64_t dram_read_bytes = 0, dram_written_bytes = 0; ///< 0 too where a GPU does not count it
  std::int64_t active_cycles = 0; ///< of the average multiprocessor; 0: nothing was counted

  bool counted() const { return active_cycles > 0; }
  bool operator==(const device_counters&) const = default;
};

} // namespace benanza
