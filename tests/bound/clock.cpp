// SPDX-License-Identifier: Apache-2.0
// What would a time be at another clock?
#include "../result/synthetic.hpp"

#include <benanza/bound/choice.hpp>
#include <benanza/bound/clock.hpp>
#include <doctest/doctest.h>

namespace test_of_clock {
using benanza::result::run;
using synthetic::conv;
using synthetic::timed;

benanza::bound::choice choose(const run& r, const char* state = "coldw") {
  return benanza::bound::choose(benanza::bound::case_table(r).of(conv, benanza::numeric::f32, 1),
                                benanza::bound::warmth::in(state));
}

TEST_CASE("a time at another clock: what it takes with hot caches follows, the rest does not") {
  using benanza::bound::by_clock;
  run r = synthetic::empty_run();
  r.measurements = {timed(conv, "a", 0, "hot", {100e3}), timed(conv, "a", 0, "coldw", {150e3})};
  CHECK(choose(r).prediction.clocked.at(500) == 150e3); // the clock is unknown
  CHECK(choose(r).prediction.clocked.per_clock == 0);
  r.measurements[0].clock_ns = 1000;
  CHECK(choose(r).prediction.clocked.at(2000) == 150e3);
  r.measurements[1].clock_ns = 1100; // the hot part of it took 110e3
  const by_clock c = choose(r).prediction.clocked;
  CHECK(c.at(1100) == doctest::Approx(150e3));
  CHECK(c.at(1000) == doctest::Approx(140e3));
  CHECK(c.at(2000) == doctest::Approx(240e3));
  CHECK(choose(r, "hot").prediction.clocked.at(1200) == doctest::Approx(120e3));
  // Nothing waits less than nothing for memory.
  CHECK(by_clock::of(90, 1000, 100, 1000).at(2000) == doctest::Approx(180));
  by_clock sum = c * 2;
  sum += {.still_ns = 5};
  CHECK(sum.at(1000) == doctest::Approx(280e3 + 5));
  CHECK(choose(r).bound.clocked.at(0) == 100e3); // that of the least sample is unknown
  r.measurements[0].min_clock_ns = 1000;
  CHECK(choose(r).bound.clocked.at(1050) == doctest::Approx(105e3));
}

TEST_CASE("a limit is less only at a higher clock") {
  using benanza::bound::at_higher_clock;
  CHECK(at_higher_clock(1000, 900) == doctest::Approx(0.9));
  CHECK(at_higher_clock(1000, 1100) == 1);
  CHECK(at_higher_clock(0, 900) == 1); // unknown
  CHECK(at_higher_clock(1000, 0) == 1);
}
} // namespace test_of_clock
