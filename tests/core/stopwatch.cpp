// SPDX-License-Identifier: Apache-2.0
#include <benanza/core/stopwatch.hpp>
#include <doctest/doctest.h>

#include <thread>

TEST_CASE("a stopwatch runs from when it is made") {
  const benanza::stopwatch watch;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const double ns = watch.ns();
  CHECK(ns >= 2e6);
  CHECK(watch.seconds() >= ns / 1e9);
}
