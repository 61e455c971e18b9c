// SPDX-License-Identifier: Apache-2.0
// The loops that find the ceilings, held to what they say they compute.
#include <benanza/measure/ceilings/compiled.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::measure::ceilings {
const kernel_table& kernels() {
  return compiled_kernels;
}
} // namespace benanza::measure::ceilings

using namespace benanza;
using namespace benanza::measure::ceilings;

namespace {
/// Floats on a 64-byte boundary, and sixteen more behind them that no sweep may touch.
struct array {
  explicit array(std::int64_t floats)
      : held(static_cast<std::size_t>(floats + 32), -1.0f) {
    while (reinterpret_cast<std::uintptr_t>(held.data() + first) % 64 != 0)
      ++first;
  }
  float* data() { return held.data() + first; }
  std::vector<float> held;
  std::size_t first = 0;
};
} // namespace

TEST_CASE("sweeps touch all of their arrays, once each, and nothing else") {
  for (const sweep& s : kernels().sweeps)
    for (std::int64_t n : {16, 32, 128, 144, 1024, 4080}) {
      CAPTURE(std::string(s.kind));
      CAPTURE(n);
      array to(n), a(n), b(n);
      std::uint64_t all = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        a.data()[i] = source_value(i);
        b.data()[i] = source_value(i + 77);
      }
      for (std::int64_t i = 0; i < n; i += 2) {
        std::uint64_t word = 0;
        std::memcpy(&word, a.data() + i, sizeof word);
        all ^= word;
      }
      float* const written[] = {to.data()};
      const float* const read[] = {a.data(), b.data()};
      const std::uint64_t got = s.run(written, read, n * 4, 3);
      CHECK(got == (s.kind == "read" ? all : 0));
      for (std::int64_t i = 0; i < n; ++i) {
        const float x = a.data()[i], y = b.data()[i], z = to.data()[i];
        REQUIRE(x == source_value(i));
        REQUIRE(y == source_value(i + 77));
        if (s.kind == "read") REQUIRE(z == -1);
        if (s.kind == "write") REQUIRE(z == written_value(i));
        if (s.kind == "copy" || s.kind == "stream_copy" || s.kind == "memcpy") REQUIRE(z == x);
        if (s.kind == "triad") REQUIRE(z == x + triad_factor * y);
      }
      for (std::int64_t i = n; i < n + 16; ++i)
        REQUIRE(to.data()[i] == -1);
    }
}

TEST_CASE("sweeps are not far behind the C library") {
  // In the first cache, where every instruction counts: the best of many, side by side.
  constexpr std::int64_t n = 4096;
  array to(n), from(n);
  float* const written[] = {to.data()};
  const float* const read[] = {from.data()};
  const auto best_ns = [](auto&& run) {
    double best = 1e300;
    for (int i = 0; i < 300; ++i) {
      const auto start = std::chrono::steady_clock::now();
      run();
      const std::chrono::duration<double, std::nano> took =
          std::chrono::steady_clock::now() - start;
      best = std::min(best, took.count());
    }
    return best;
  };
  constexpr int times = 20;
  for (const sweep& s : kernels().sweeps) {
    if (s.kind != "write" && s.kind != "copy") continue;
    const double own_ns = best_ns([&] { s.run(written, read, n * 4, times); });
    const double library_ns = best_ns([&] {
      for (int i = 0; i < times; ++i) {
        if (s.kind == "write")
          std::memset(to.data(), i, n * 4);
        else
          std::memcpy(to.data(), from.data(), n * 4);
        asm volatile("" : : "r"(to.data()) : "memory");
      }
    });
    CAPTURE(s.kind);
    CHECK(own_ns < 2.5 * library_ns);
  }
}

TEST_CASE("every kind of sweep is there, and once for each place that is read") {
  std::set<std::string> kinds;
  std::set<std::pair<std::string_view, bool>> ways;
  for (const sweep& s : kernels().sweeps) {
    kinds.insert(std::string(s.kind));
    CHECK(ways.insert({s.kind, s.for_memory}).second);
    CHECK(s.arrays() >= 1);
  }
  for (const char* kind : {"read", "write", "copy", "triad", "memcpy"})
    CHECK(kinds.count(kind) == 1);
}

TEST_CASE("chains of multiply-adds end with the sums that they must have") {
  for (const loop& l : kernels().loops)
    for (std::int64_t rounds : {0, 1, 2, 1000, 30000}) {
      CAPTURE(std::string(l.way));
      CAPTURE(rounds);
      REQUIRE(l.lanes <= static_cast<int>(lane_sums{}.size()));
      lane_sums sums{};
      l.run(rounds, sums);
      for (int lane = 0; lane < l.lanes; ++lane)
        REQUIRE(sums[static_cast<std::size_t>(lane)] == l.expected(rounds, lane));
      CHECK(l.flops_a_round >= 2 * l.lanes);
    }
}

TEST_CASE("each type has one loop, and f32 always has one") {
  std::set<numeric> types;
  for (const loop& l : kernels().loops)
    CHECK(types.insert(l.type).second);
  CHECK(types.count(numeric::f32) == 1);
}
