// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/levels/own_time.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <thread>

using namespace benanza::measure;

TEST_CASE("time in which the thread does not run is not its own") {
  const own_time t, of_several(false);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const own_time::figures f = t.now();
  CHECK(f.ns >= 5e6);
  CHECK(f.waited_ns > 4e6);
  CHECK(f.own_ns() > 0);
  CHECK(of_several.now().waited_ns == 0);
}

TEST_CASE("what runs all the time waits for nothing that matters") {
  double least = 1e9;
  for (int i = 0; i < 50; ++i) { // others may have the processor now and then
    const own_time t;
    volatile int n = 0;
    while (n < 20'000)
      n = n + 1;
    least = std::min(least, t.now().waited_ns);
  }
  CHECK(least == 0);
}
