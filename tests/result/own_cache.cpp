// SPDX-License-Identifier: Apache-2.0
#include <benanza/result/own_cache.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using benanza::result::own_cache;

TEST_CASE("the more is read, and the longer it takes, the more is gone") {
  for (const own_cache c :
       {own_cache{.bytes = 32e6}, own_cache{.ns = 11e6}, own_cache{.bytes = 32e6, .ns = 11e6}}) {
    double before = 0;
    for (double times = 0; times <= 4; times += 0.125) {
      const double gone = c.gone(times * 32e6, times * 11e6);
      CHECK(gone >= before);
      CHECK(gone <= 1);
      before = gone;
    }
    CHECK(c.gone(0, 0) == 0);
    CHECK(before == 1);
  }
  CHECK(own_cache{.bytes = 32e6}.gone(32e6, 1e12) == doctest::Approx(0.5));
  CHECK(own_cache{.ns = 11e6}.gone(1e12, 11e6) == doctest::Approx(0.5));
  const own_cache both{.bytes = 32e6, .ns = 11e6};
  CHECK(both.gone(16e6, 5.5e6) == doctest::Approx(0.5));
  CHECK(both.gone(20e6, 6e6) >=
        std::max(own_cache{.bytes = 32e6}.gone(20e6, 6e6), own_cache{.ns = 11e6}.gone(20e6, 6e6)));
}

TEST_CASE("what is read fast takes more to outlast a cache that time empties") {
  CHECK(own_cache{}.bytes_until_gone(40) == 0);
  for (const double rate : {3.0, 40.0})
    for (const own_cache c :
         {own_cache{.bytes = 32e6}, own_cache{.ns = 11e6}, own_cache{.bytes = 32e6, .ns = 11e6}}) {
      const double bytes = c.bytes_until_gone(rate);
      CHECK(c.gone(1.01 * bytes, 1.01 * bytes / rate) == 1);
      CHECK(c.gone(0.99 * bytes, 0.99 * bytes / rate) < 1);
    }
  CHECK(own_cache{.ns = 11e6}.bytes_until_gone(40) >
        10 * own_cache{.ns = 11e6}.bytes_until_gone(3));
}

TEST_CASE("of several looks one that differs does not count") {
  using benanza::result::typical;
  CHECK(typical({}) == 0);
  CHECK(typical({8}) == 8);
  CHECK(typical({2, 7, 8}) == doctest::Approx(7));
  CHECK(typical({7, 0, 100}) == doctest::Approx(100)); // 0: as if it were endless
  CHECK(typical({0, 7, 0}) == 0);
  CHECK(typical({4, 12}) == doctest::Approx(6));
}

TEST_CASE("shares that do not matter are none or all, and all is gone where nothing is known") {
  const own_cache c{.bytes = 100};
  CHECK(c.gone(70, 0) == 0);
  CHECK(c.gone(75, 0) > 0);
  CHECK(c.gone(135, 0) < 1);
  CHECK(c.gone(140, 0) == 1);
  CHECK_FALSE(own_cache{}.known());
  CHECK(own_cache{}.gone(0, 0) == 1);
}
