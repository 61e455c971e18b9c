// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/hand_over.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <thread>
#include <vector>

using namespace benanza::measure;

TEST_CASE("a result that is read about as fast as one just written keeps nobody waiting") {
  CHECK(hand_over::longer_ns(1000, 900) == 0);
  CHECK(hand_over::longer_ns(1000, 1090) == 0);
  CHECK(hand_over::longer_ns(1000, 3100) == doctest::Approx(2000));
  CHECK(hand_over::longer_ns(0, 0) == 0);
}

#if defined(__x86_64__) // others cannot be told to drive a result out of all caches
TEST_CASE("a result that left the caches is waited for, one that stands there is not") {
  std::vector<std::byte> result(256 << 10, std::byte{7}), before = result;
  for (const int threads : {1, 2})
    for (const bool flushed : {true, false}) {
      CAPTURE(threads);
      CAPTURE(flushed);
      // Others may keep us waiting, but hardly all the time.
      bool as_expected = false;
      for (int attempt = 0; attempt < 60 && !as_expected; ++attempt) {
        hand_over next(result, threads);
        double waited = 0;
        for (int i = 0; i < 15; ++i) {
          next.write();
          if (flushed) flush(result);
          waited = next.waited_ns();
        }
        as_expected = (waited > 0) == flushed;
      }
      CHECK(as_expected);
    }
  CHECK(result == before);
}
#endif

TEST_CASE("to wake threads is no part of reading a result") {
  // Threads that sleep between two readings, as they do where there are more than processors, take
  // tens of microseconds to begin; a small result takes none of these to be read.
  const std::vector<std::byte> result(4 << 10, std::byte{7});
  std::vector<double> reading, whole;
  for (int i = 0; i < 50; ++i) {
    const auto start = std::chrono::steady_clock::now();
    reading.push_back(read_lines_ns(result, 2));
    const auto end = std::chrono::steady_clock::now();
    whole.push_back(std::chrono::duration<double, std::nano>(end - start).count());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  CHECK(benanza::result::median(reading) > 0);
  CHECK(benanza::result::median(reading) < benanza::result::median(whole) / 2);
}

TEST_CASE("a case without a result in memory of the host keeps nobody waiting") {
  hand_over next({}, 1);
  for (int i = 0; i < 20; ++i) {
    next.write();
    CHECK(next.waited_ns() == 0);
  }
}
