// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/sampling/noise_monitor.hpp>
#include <doctest/doctest.h>

using namespace benanza::measure;

TEST_CASE("a little noise does no harm; more does, and its kind is known") {
  CHECK(judge({}) == interference::none);
  CHECK(judge({.waiting = 0.005, .other_load = 0.1, .clock_loss = 0.2}) == interference::none);
  CHECK(judge({.waiting = 0.02}) == interference::waiting);
  CHECK(judge({.other_load = 0.3}) == interference::other_load);
  CHECK(judge({.clock_loss = 0.3}) == interference::clock);
  CHECK(judge({.smt_loss = 0.02}) == interference::none);
  CHECK(judge({.smt_loss = 0.05}) == interference::smt);
  CHECK(judge({.hand_off_loss = 0.8}) == interference::none);
  CHECK(judge({.hand_off_loss = 3}) == interference::hand_off);
}

TEST_CASE("the remedy names what disturbed most, how much, and a remedy") {
  noise_sum s;
  CHECK(remedy(s).empty());
  s.add({.waiting = 0.04});
  s.add({.clock_loss = 0.3});
  s.add({.clock_loss = 0.4});
  CHECK(remedy(s).find("35 % slower than at its best") != std::string::npos);
  CHECK(remedy(s).find("governor") != std::string::npos);
  for (int i = 0; i < 5; ++i)
    s.add({.other_load = 0.95});
  CHECK(remedy(s) ==
        "other processes used 95 % of the machine's processors: stop them, or run again later");
  noise_sum waited;
  waited.add({.waiting = 0.12});
  CHECK(remedy(waited).find("waited for the processor 12 %") != std::string::npos);
  CHECK(remedy(waited).find("taskset") != std::string::npos);
}

TEST_CASE("threads whose cores share no cache are reported, with the loss") {
  noise_sum s;
  s.add({.clock_loss = 0.4});
  s.add({.hand_off_loss = 3});
  s.add({.hand_off_loss = 5});
  CHECK(remedy(s).find("took 5.0 times as long") != std::string::npos);
}
