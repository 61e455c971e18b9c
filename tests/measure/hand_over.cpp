// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/hand_over.hpp>
#include <benanza/measure/machine.hpp>
#include <doctest/doctest.h>

#include <vector>

using namespace benanza::measure;

TEST_CASE("a result that is read about as fast as one just written keeps nobody waiting") {
  CHECK(hand_over::longer_ns(1000, 900) == 0);
  CHECK(hand_over::longer_ns(1000, 1090) == 0);
  CHECK(hand_over::longer_ns(1000, 3100) == doctest::Approx(2000));
  CHECK(hand_over::longer_ns(0, 0) == 0);
}

TEST_CASE("a result that left the caches is waited for, one that stands there is not") {
  std::vector<std::byte> result(256 << 10, std::byte{7}), before = result;
  cache_sweeper sweeper(4 * benanza::measure::detail::cache_bytes(2) + (1 << 20));
  for (const int threads : {1, 2})
    for (const bool swept : {true, false}) {
      CAPTURE(threads);
      CAPTURE(swept);
      // Others may keep us waiting, but hardly all the time.
      bool as_expected = false;
      for (int attempt = 0; attempt < 60 && !as_expected; ++attempt) {
        hand_over next(result, threads);
        double waited = 0;
        for (int i = 0; i < 15; ++i) {
          next.write();
          if (swept) sweeper.sweep(threads);
          waited = next.waited_ns();
        }
        as_expected = (waited > 0) == swept;
      }
      CHECK(as_expected);
    }
  CHECK(result == before);
}

TEST_CASE("a case without a result in memory of the host keeps nobody waiting") {
  hand_over next({}, 1);
  for (int i = 0; i < 20; ++i) {
    next.write();
    CHECK(next.waited_ns() == 0);
  }
}
