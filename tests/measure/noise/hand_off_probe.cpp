// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/noise/hand_off_probe.hpp>
#include <doctest/doctest.h>

#include <thread>

using namespace benanza::measure;

TEST_CASE("a hand-off is compared with the shortest one known") {
  hand_off_probe p;
  CHECK(p.best_ns() == 0);
  CHECK(p.compare(0) == 0); // not known
  CHECK(p.compare(40) == 0);
  CHECK(p.compare(160) == doctest::Approx(3));
  CHECK(p.compare(25) == 0);
  CHECK(p.compare(50) == doctest::Approx(1));
  CHECK(p.best_ns() == 25);
}

TEST_CASE("a real hand-off takes a time between two threads, and none with one" *
          doctest::skip(std::thread::hardware_concurrency() <
                        2)) { // they would wait for each other
  CHECK(hand_off_ns(1) == 0);
  hand_off_probe p;
  CHECK(p.probe(2) == 0); // the first is the best
  CHECK(p.best_ns() > 0);
}
