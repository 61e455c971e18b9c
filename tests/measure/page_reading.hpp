// SPDX-License-Identifier: Apache-2.0
// Where are the pages of some memory? What is flushed takes longer to be read.
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
  /// How many times as long the odd pages take, by the medians.
  double odd_longer() const { return median(odd_ns) / median(even_ns); }

private:
  static double median(std::vector<double> ns) {
    std::ranges::sort(ns);
    return ns.at(ns.size() / 2);
  }
  /// Some lines of each page, in an order that no prefetcher foresees; each waits for the one
  /// before.
  static double read_ns(std::span<const std::byte> memory, std::size_t first) {
    constexpr std::size_t page = 4096, line = 64, lines[] = {0, 26, 52, 12, 38, 6};
    static const volatile std::size_t zero = 0;
    const std::size_t nothing = zero, pages = (memory.size() / page + 1 - first) / 2;
    std::size_t at = 0;
    const auto start = std::chrono::steady_clock::now();
    for (const std::size_t of_page : lines)
      for (std::size_t k = 0; k < pages; ++k) {
        const std::size_t chosen = (k * 11 + of_page) % pages;
        at = (2 * chosen + first) * page + of_page * line + (at & nothing);
        at = std::to_integer<std::size_t>(memory[at]);
      }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    static volatile std::size_t keep;
    keep = at;
    (void)keep;
    return took.count();
  }
};

} // namespace benanza::test
