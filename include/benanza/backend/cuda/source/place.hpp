// SPDX-License-Identifier: Apache-2.0
// From where does an element of the result come, in the words of C? Statements that take `i`, the
// element's number, apart along loops whose counts are constants, and add up strides.
//
//   lines out;   write_place({{28, 1, 784}, ...}, counter, 0, out);   // "idx at = 0u; ..."
#pragma once

#include "../strided.hpp"
#include "text.hpp"

namespace benanza::backend::cuda::source {

/// Adds `c * stride` to the place named `at`.
inline void write_step(const counter& c, std::string_view at, std::string_view index,
                       std::int64_t stride, lines& out) {
  if (stride == 0) return;
  out("  ", at, stride < 0 ? " -= " : " += ", index,
      stride == 1 || stride == -1 ? "" : " * " + c(stride < 0 ? -stride : stride), ";");
}

/// Statements that declare `at`, the place in the operand of the result's element `i`, and change
/// `i`; the loops cover the whole result, whose elements are in their order.
inline void write_place(const std::vector<loop>& loops, const counter& c, std::int64_t first,
                        lines& out) {
  out("  idx at = ", c(first), ";");
  for (std::size_t k = loops.size(); k-- > 1;) {
    if (loops[k].from != 0) {
      out("  const idx c", static_cast<std::int64_t>(k), " = i % ", c(loops[k].count), ";");
      write_step(c, "at", "c" + std::to_string(k), loops[k].from, out);
    }
    out("  i /= ", c(loops[k].count), ";");
  }
  if (!loops.empty()) write_step(c, "at", "i", loops[0].from, out);
}

/// The largest number that divides both; of zero and another, the other.
constexpr std::int64_t common_divisor(std::int64_t a, std::int64_t b) {
  while (b != 0) {
    const std::int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

/// Each aligned group of so many elements of the result is contiguous, and aligned, in the operand.
inline std::int64_t together_in(const std::vector<loop>& loops, std::int64_t first) {
  if (loops.empty() || loops.back().from != 1) return 1;
  std::int64_t most = common_divisor(loops.back().count, first);
  for (std::size_t k = 0; k + 1 < loops.size(); ++k)
    most = common_divisor(most, loops[k].from);
  return most;
}

} // namespace benanza::backend::cuda::source
