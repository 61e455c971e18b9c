// SPDX-License-Identifier: Apache-2.0
#include "../page_reading.hpp"

#include <benanza/machine/facts.hpp>
#include <benanza/measure/cache/states.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

using namespace benanza::measure;

namespace {
/// Nanoseconds of a read of all lines of `data`, in an order that no prefetcher foresees, each
/// after the one before. Their number is a power of two.
double read_ns(const std::vector<std::uint64_t>& data) {
  static const volatile std::uint64_t zero = 0;
  const std::uint64_t nothing = zero, lines = data.size() / 8;
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t sum = 0;
  for (std::uint64_t k = 0; k < lines; ++k)
    sum += data[k * 2897 % lines * 8 + (sum & nothing)];
  static volatile std::uint64_t keep;
  keep = sum;
  (void)keep;
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}
} // namespace

TEST_CASE("a sweep reads twice the cache, and can be made shorter") {
  CHECK(cache_sweeper(1 << 20).bytes() == 2 << 20);
  CHECK(cache_sweeper(0).bytes() >= 64);
  cache_sweeper s(1 << 16);
  for (const std::int64_t bytes : {0, 1, 64, 100, 1 << 16, 1 << 20})
    s.displace(bytes, 2);
  s.displace(2);
  s.displace(3);
  s.sweep(1);
  s.sweep(2);
  CHECK(s.bytes() == 2 << 16);
  for (const std::int64_t bytes : {0, 8, 64, 100, 300, 1000}) {
    cache_sweeper small(bytes); // smaller than what is read at once
    small.displace(1);
    small.sweep(3);
    CHECK(small.bytes() >= 2 * std::max<std::int64_t>(bytes / 8 * 8, 64));
  }
}

TEST_CASE("what is written over keeps its values, to its last byte, on any number of threads") {
  std::vector<std::byte> a(1000), b(64), none;
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<std::byte>(i * 7);
  const std::vector<std::byte> before = a;
  for (const int threads : {1, 2, 3})
    rewrite({a, b, none}, threads);
  CHECK(a == before);
}

TEST_CASE("after a sweep, what was in the caches has to come from memory") {
  const std::vector<std::uint64_t> data(32 * 1024, 1); // 256 KiB
  cache_sweeper s(benanza::machine::last_level_cache_bytes());
  for (const bool all : {true, false}) {
    CAPTURE(all);
    // Least times: interference makes both reads of a turn as slow as each other.
    double cold_ns = 1e18, warm_ns = 1e18;
    for (int i = 0; i < 15; ++i) {
      all ? s.sweep(1) : s.displace(1);
      cold_ns = std::min(cold_ns, read_ns(data));
      warm_ns = std::min(warm_ns, read_ns(data));
    }
    CAPTURE(cold_ns);
    CAPTURE(warm_ns);
    CHECK(cold_ns > 1.3 * warm_ns);
  }
}

TEST_CASE("of memory that half is flushed of, every second page has to come from memory") {
  constexpr std::int64_t page = 4096, pages = 64, bytes = pages * page + 100;
  benanza::machine::page_memory memory(bytes);
  const std::span<std::byte> all{memory.data(), bytes};
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<std::byte>(i * 7);
  // How many times as long the second pages take as the first ones, with caches of so many bytes.
  const auto further = [&](std::int64_t own_bytes) {
    benanza::test::page_times times;
    for (int i = 0; i < 75; ++i) {
      rewrite({all}, 1);
      flush_half(all, own_bytes);
      times.look(all);
    }
    return times.odd_longer();
  };
  if (machine::flushes) CHECK(further(bytes - 1) > 1.3);
  CHECK(further(bytes) < 1.3);
  bool kept = true;
  for (std::size_t i = 0; i < all.size(); ++i)
    kept = kept && all[i] == static_cast<std::byte>(i * 7);
  CHECK(kept);
  flush_half({}, 0);
}
