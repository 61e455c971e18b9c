// SPDX-License-Identifier: Apache-2.0
#include <benanza/machine/ping_pong.hpp>
#include <doctest/doctest.h>

#include <thread>

using namespace benanza::machine;

TEST_CASE("a word of one thread goes nowhere") {
  CHECK(pass_word_round(1, 10).hand_offs == 0);
  CHECK(pass_word_round(1, 10).hand_off_ns() == 0);
}

TEST_CASE("a word goes round all threads, each once a round" *
          doctest::skip(!has_teams || std::thread::hardware_concurrency() < 2)) {
  const word_passed p = pass_word_round(2, 10);
  CHECK(p.hand_offs == 20);
  CHECK(p.hand_off_ns() > 0);
}
