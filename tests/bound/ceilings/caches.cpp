// SPDX-License-Identifier: Apache-2.0
#include "result/synthetic.hpp"
#include <benanza/bound/ceilings/caches.hpp>

#include <doctest/doctest.h>

using namespace benanza::bound;

namespace {
benanza::result::run machine(const char* l1, const char* l2, const char* l3) {
  auto r = synthetic::empty_run();
  auto& m = r.provenance["machine"];
  m["l1d_bytes"] = l1;
  m["l2_bytes"] = l2;
  m["llc_bytes"] = l3;
  return r;
}
} // namespace

TEST_CASE("a working set is in a level, or near an edge in none") {
  const cache_levels c(machine("32768", "1048576", "33554432"), 1);
  REQUIRE(c.caches().size() == 3);
  CHECK(c.name(1) == "L2");
  CHECK(c.name(3) == "memory");
  CHECK(c.level_of(4096) == 0);
  CHECK(c.level_of(24576) == 0);
  CHECK(c.level_of(32768) == std::nullopt);
  CHECK(c.level_of(65536) == 1);
  CHECK(c.level_of(1 << 20) == std::nullopt);
  CHECK(c.level_of(2 << 20) == 2);
  CHECK(c.level_of(48e6) == std::nullopt);
  CHECK(c.level_of(64 << 20) == 3);
  CHECK(c.level_of(1e12) == 3);
}

TEST_CASE("threads have their private levels together, and share the last") {
  const cache_levels c(machine("32768", "1048576", "33554432"), 2);
  CHECK(c.caches()[0].bytes == 65536);
  CHECK(c.caches()[1].bytes == 2097152);
  CHECK(c.caches()[2].bytes == 33554432);
}

TEST_CASE("what is unknown, is nonsense or repeats a level makes none") {
  CHECK(cache_levels(machine("0", "unknown", "-4"), 1).caches().empty());
  const cache_levels c(machine("32768", "1048576", "1048576"), 1);
  CHECK(c.caches().size() == 2);
  CHECK(c.level_of(4e6) == 2);
  CHECK(c.name(2) == "memory");
}

TEST_CASE("knees are where a rate falls for good") {
  const std::vector<rate_at> stairs{{4, 100},  {8, 102},  {16, 99},  {32, 70},  {64, 41},
                                    {128, 40}, {256, 40}, {512, 11}, {1024, 10}};
  CHECK(knees(stairs) == std::vector<double>{16, 256});
  CHECK(knees({}).empty());
  CHECK(knees({{4, 100}}).empty());
  CHECK(knees({{4, 100}, {8, 60}, {16, 100}}).empty()); // a dip is no knee
  CHECK(knees({{4, 50}, {8, 100}, {16, 101}}).empty()); // nor is a rise
}
