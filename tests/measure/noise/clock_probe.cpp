// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/noise/clock_probe.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace benanza::measure;

#ifdef __OPTIMIZE__
TEST_CASE("the chain after a sample is short, and stays in registers too") {
  double best_short = 1e9, best_long = 1e9; // each apart: an interrupt may meet one of the two
  for (int i = 0; i < 300; ++i) {
    best_short = std::min(best_short, short_clock_loop_ns());
    best_long = std::min(best_long, clock_loop_ns());
  }
  // 1200 multiplications of three or four cycles, to 4000 times two operations of at least as many;
  // through memory each would take four or five more.
  CHECK(best_short / best_long < 0.25);
  CHECK(best_short / best_long > 0.03);
}
#endif

TEST_CASE("the clock is compared with its best, and one lucky probe is not the best") {
  clock_probe p;
  CHECK(p.best_ns() == 0);
  CHECK(p.compare(1000) == 0);
  for (int i = 0; i < 99; ++i)
    p.compare(1000);
  CHECK(p.compare(800) == 0);
  CHECK(p.best_ns() == 1000);
  CHECK(p.compare(1100) == doctest::Approx(0.1));
  for (int i = 0; i < 100; ++i)
    p.compare(800);
  CHECK(p.compare(1000) == doctest::Approx(0.25));

  clock_probe told;
  told.know(0);
  CHECK(told.compare(1000) == 0);
  told.know(900); // when a plan's layers were measured, say
  CHECK(told.best_ns() == 900);
  CHECK(told.compare(990) == doctest::Approx(0.1));
  told.know(2000);
  CHECK(told.compare(990) == 0);
}

TEST_CASE("real probes are compared with the best of them") {
  clock_probe p;
  double slowest = 0;
  for (int i = 0; i < 5; ++i)
    slowest = std::max(slowest, p.probe());
  CHECK(std::isfinite(slowest));
  CHECK(p.best_ns() > 0);
  CHECK(p.compare(2 * p.best_ns()) == doctest::Approx(1)); // twice as long
  CHECK(p.compare(p.best_ns()) == 0);
}
