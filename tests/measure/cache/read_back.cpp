// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/cache/read_back.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <thread>
#include <vector>

using namespace benanza::measure;

TEST_CASE("a result that is read about as fast as one just written costs nothing") {
  CHECK(read_back::beyond_noise_ns(1000, 900) == 0);
  CHECK(read_back::beyond_noise_ns(1000, 1090) == 0);
  CHECK(read_back::beyond_noise_ns(1000, 3100) == doctest::Approx(2000));
  CHECK(read_back::beyond_noise_ns(0, 0) == 0);
}

TEST_CASE("every line is read once, in tiles and straight on, of any number and from any on") {
  const std::int64_t most = 1000;
  std::vector<std::byte> memory(static_cast<std::size_t>(most * line_bytes));
  for (std::int64_t i = 0; i < most; ++i) // another one in each line of a tile
    memory[static_cast<std::size_t>(i * line_bytes)] = static_cast<std::byte>(i * i % 251);
  for (const std::int64_t first : {0, 1, 500})
    for (const std::int64_t end : {0, 1, 191, 192, 193, 500, 999, 1000}) {
      CAPTURE(first);
      CAPTURE(end);
      std::int64_t sum = 0;
      for (std::int64_t i = first; i < end; ++i)
        sum += i * i % 251;
      CHECK(read_tiles(memory, first, end) == sum);
      CHECK(read_straight(memory, first, end) == sum);
    }
}

TEST_CASE("a result that left the caches is waited for, one that is still there is not" *
          doctest::skip(!machine::flushes)) {
  std::vector<std::byte> result(256 << 10, std::byte{7}), before = result;
  for (const int threads : {1, 2}) {
    CAPTURE(threads);
    double gone_ns = 0, kept_ns = 0;
    // Where another process has one of the processors, the slower thread says nothing about caches.
    for (int tries = 0; tries < 10 && !(gone_ns > 0 && gone_ns > 3 * kept_ns); ++tries) {
      read_back gone(result, threads), kept(result, threads);
      for (int i = 0; i < 31; ++i) { // in turns, so that what else goes on meets both
        gone.write();
        flush(result);
        gone_ns = gone.longer_ns();
        kept.write();
        kept_ns = kept.longer_ns();
      }
    }
    CHECK(gone_ns > 0);
    CHECK(gone_ns > 3 * kept_ns);
  }
  CHECK(result == before);
}

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

TEST_CASE("a case without a result in memory of the host costs nothing") {
  read_back next({}, 1);
  for (int i = 0; i < 20; ++i) {
    next.write();
    CHECK(next.longer_ns() == 0);
  }
}
