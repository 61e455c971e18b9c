// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/ceilings/hand_off.hpp>
#include <benanza/measure/ceilings/numa.hpp>
#include <benanza/measure/environment.hpp>
#include <doctest/doctest.h>

#include <thread>

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

TEST_CASE("another processor is one of those allowed, and not the one we are on") {
  const std::vector<int> processors = numbers(measure::detail::affinity().second);
  REQUIRE(!processors.empty());
  std::thread([&] {
    const int here = processors.front();
    CHECK(bind_to(here)); // or it may be another one the next moment
    CHECK(other_processor({}) == -1);
    CHECK(other_processor({here}) == -1);
    CHECK(other_processor({here, here + 1}) == here + 1);
  }).join();
}

TEST_CASE("hand-offs arrive, each once") {
  const std::vector<int> processors = numbers(measure::detail::affinity().second);
  REQUIRE(!processors.empty());
  hand_off_run r(processors.back());
  CHECK(r.bound());
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

TEST_CASE("a processor that does not exist cannot be had") {
  const hand_off_run r(CPU_SETSIZE - 1);
  CHECK_FALSE(r.bound());
}
