// SPDX-License-Identifier: Apache-2.0
// Where do the pages of some memory stand? What is flushed takes longer to be read.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

namespace benanza::test {

/// Times of reading the pages at even and at odd places.
struct page_times {
  std::vector<double> even_ns{}, odd_ns{};

  void look(std::span<const std::byte> memory) {
    even_ns.push_back(read_ns(memory, 0));
    odd_ns.push_back(read_ns(memory, 1));
  }
  /// How many times as long the odd pages take, by the least times: interference only adds.
  double odd_longer() const { return std::ranges::min(odd_ns) / std::ranges::min(even_ns); }

private:
  static double read_ns(std::span<const std::byte> memory, std::size_t first) {
    constexpr std::size_t page = 4096, line = 64;
    const auto start = std::chrono::steady_clock::now();
    int sum = 0;
    for (std::size_t p = first * page; p + page <= memory.size(); p += 2 * page)
      for (std::size_t i = 0; i < page; i += line)
        sum += std::to_integer<int>(memory[p + i]);
    static volatile int keep;
    keep = sum;
    (void)keep;
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
        .count();
  }
};

} // namespace benanza::test
