// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/last_cache.hpp>
#include <benanza/measure/machine.hpp>
#include <doctest/doctest.h>

#include <cstdlib>
#include <vector>

using namespace benanza::measure;

namespace {
constexpr std::int64_t mib = 1 << 20;
} // namespace

TEST_CASE("what is ours of the last cache ends where data comes back half as fast") {
  // As on a machine that tells of 480 MiB and lets 64 to 180 be used.
  const std::vector<came_back> shared{{4 * mib, 8700},    {64 * mib, 9000},   {90 * mib, 11000},
                                      {128 * mib, 13000}, {181 * mib, 16000}, {256 * mib, 19000},
                                      {362 * mib, 20000}, {480 * mib, 20100}};
  const last_cache c = judge_last_cache(shared);
  CHECK(c.own_bytes > 128 * mib);
  CHECK(c.own_bytes < 181 * mib);
  CHECK(c.gone_bytes == 256 * mib);
}

TEST_CASE("a cache of one's own is there to its end") {
  const last_cache c =
      judge_last_cache({{1 * mib, 1000}, {8 * mib, 1000}, {16 * mib, 1010}, {32 * mib, 3000}});
  CHECK(c.own_bytes > 16 * mib);
  CHECK(c.own_bytes < 32 * mib);
  CHECK(c.gone_bytes == 32 * mib);
}

TEST_CASE("a last cache that is no faster than memory, or not there, holds nothing") {
  CHECK(judge_last_cache({}).own_bytes == 0);
  CHECK(judge_last_cache({{4 * mib, 1000}}).own_bytes == 0);
  const last_cache same = judge_last_cache({{4 * mib, 1000}, {8 * mib, 900}, {32 * mib, 1100}});
  CHECK(same.own_bytes == 0);
  CHECK(same.gone_bytes == 32 * mib);
  // A single slow try in between is no end.
  const last_cache bumpy = judge_last_cache(
      {{1 * mib, 1000}, {2 * mib, 1000}, {4 * mib, 2950}, {8 * mib, 2000}, {16 * mib, 3000}});
  CHECK(bumpy.gone_bytes == 16 * mib);
  CHECK(look_at_last_cache(32 * mib, 0).own_bytes == 0);
  CHECK(look_at_last_cache(2 * mib, 1 * mib).gone_bytes == 2 * mib);
}

TEST_CASE("this machine's last cache is looked for once, and told to the processes we start") {
  unsetenv("BENANZA_LAST_CACHE");
  const std::int64_t reported = last_level_cache_bytes();
  const last_cache c = own_last_cache(reported, detail::cache_bytes(2));
  CHECK(c.own_bytes >= 0);
  CHECK(c.own_bytes <= reported);
  CHECK(c.gone_bytes > 0);
  CHECK(c.gone_bytes <= reported);
  CHECK(own_last_cache(1, 1).own_bytes == c.own_bytes);
  CHECK(own_last_cache(1, 1).gone_bytes == c.gone_bytes);
  setenv("BENANZA_LAST_CACHE", "1000,2000", 1);
  CHECK(own_last_cache(reported, 1).own_bytes == 1000);
  setenv("BENANZA_LAST_CACHE", "nonsense", 1);
  CHECK(own_last_cache(8 * mib, 0).gone_bytes == 8 * mib);
  unsetenv("BENANZA_LAST_CACHE");
  const std::int64_t too_much = std::int64_t{1} << 50; // is not tried
  CHECK(own_last_cache(too_much, mib).gone_bytes == too_much);
  CHECK(own_last_cache(too_much, mib).own_bytes == 0);
  unsetenv("BENANZA_LAST_CACHE");
}
