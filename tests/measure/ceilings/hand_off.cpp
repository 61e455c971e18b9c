// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/ceilings/hand_off.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::measure::ceilings;

TEST_CASE("a launch has the threads that it was asked for") {
  for (int threads : {1, 2, 4}) {
    launch_run r(threads);
    r.run(3);
    CHECK(r.seen() == threads);
  }
  launch_subject what(2);
  CHECK(what.ready(own_case(what, "parallel_region")).run->time(1) > 0);
}

TEST_CASE("hand-offs arrive, each once") {
  hand_off_run r;
  r.run(4);
  CHECK(r.passed() == 4);
  r.run(6);
  CHECK(r.passed() == 10);
}

TEST_CASE("without a second processor there is no hand-off") {
  hand_off_subject what({});
  CHECK_THROWS_WITH_AS(what.ready(own_case(what, "spin")), doctest::Contains("second processor"),
                       error);
}
