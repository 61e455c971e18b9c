// SPDX-License-Identifier: Apache-2.0
// What came of the bytes that a plan or a kernel saw last? Copies of the operands hold the same, so
// that need not be computed again.
//
//   last_results now;   now.see(bytes, count);   if (last.of_the_same(now)) use(last.made);
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fake {

struct last_results {
  std::uint64_t first = 0, second = 0; ///< of the operands; 0: nothing yet
  std::vector<std::vector<std::byte>> made{};

  void see(const std::byte* from, std::int64_t bytes) {
    for (std::int64_t at = 0; at < bytes; at += 8) {
      std::uint64_t bits = static_cast<std::uint64_t>(at == 0);
      std::memcpy(&bits, from + at,
                  static_cast<std::size_t>(std::min<std::int64_t>(8, bytes - at)));
      first = (std::rotl(first, 5) ^ bits) * 0x9e3779b97f4a7c15u;
      second = (std::rotl(second, 23) + bits) * 0xc2b2ae3d27d4eb4fu;
    }
  }
  bool of_the_same(const last_results& other) const {
    return !made.empty() && first == other.first && second == other.second;
  }
};

} // namespace fake
