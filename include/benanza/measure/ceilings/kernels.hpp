// SPDX-License-Identifier: Apache-2.0
// Which loops find the machine's ceilings? Sweeps over memory and chains of multiply-adds in
// registers, compiled for the processor in a translation unit of their own (compiled.hpp); the rest
// of the program calls them through this table.
//
//   for (const sweep& s : kernels().sweeps) s.run(arrays, bytes, 1);   // "read", "copy" ...
//   for (const loop& l : kernels().loops) l.run(1000, sums);           // l.flops_a_round * 1000
#pragma once

#include "../../core/dtype.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace benanza::measure::ceilings {

/// The content of memory that sweeps read: whole numbers of 0 to 255 in no simple order.
constexpr float source_value(std::int64_t i) {
  return static_cast<float>((static_cast<std::uint32_t>(i) * 2654435761u) >> 24);
}
/// What a writing sweep leaves in the float at place `i`.
constexpr float written_value(std::int64_t i) {
  return 2.25f + static_cast<float>(i % 4); // 4: the same in each register, however wide
}
/// What a triad multiplies its third array by.
inline constexpr float triad_factor = 3;

/// A way of going through memory. Arrays are 64-byte aligned; what is written comes first.
struct sweep {
  std::string_view kind; ///< read, write, copy, triad, stream_copy, memcpy
  std::string_view way;  ///< the instructions used
  int written = 0, read = 0;
  /// Goes `times` times through `bytes` (a multiple of 64) of each array; returns the exclusive or
  /// of all 64-bit words read in the last sweep, if it reads only.
  std::uint64_t (*run)(float* const* written, const float* const* read, std::int64_t bytes,
                       std::int64_t times) = nullptr;
  bool for_memory = false; ///< it is of no use in a working set that fits a core's own caches
  int arrays() const { return written + read; }
};

/// Sums that a loop's chains end with, one a lane: 16 chains of up to 64.
using lane_sums = std::array<double, 1024>;

/// Independent chains of multiply-adds that never leave the registers.
struct loop {
  numeric type = numeric::f32;
  std::string_view way; ///< the instruction used
  int lanes = 0;        ///< sums: chains times lanes of a register
  std::int64_t flops_a_round = 0;
  void (*run)(std::int64_t rounds, lane_sums& sums) = nullptr;
  /// The sum that a lane has after `rounds`, computed one by one. Exact up to 30000 rounds.
  double (*expected)(std::int64_t rounds, int lane) = nullptr;
};

/// All loops that the program was compiled with.
struct kernel_table {
  std::span<const sweep> sweeps;
  std::span<const loop> loops;
};

/// The loops of this program.
const kernel_table& kernels();

} // namespace benanza::measure::ceilings
