// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/chain/step_times.hpp>
#include <doctest/doctest.h>

using namespace benanza::measure;

TEST_CASE("the times of each move are those of the executions that are asked for") {
  step_times t(2);
  const auto execute = [&](double first_ns, double second_ns) {
    t.add(first_ns), t.add(second_ns);
    t.end(first_ns + second_ns);
  };
  CHECK(t.of({30}) == times_by_step{});
  execute(10, 20), execute(5, 6), execute(12, 21);
  CHECK(t.of({30, 33}) == times_by_step{{10, 12}, {20, 21}});
  CHECK(t.of({11}) == times_by_step{{5}, {6}});
  CHECK(t.of({1}) == times_by_step{});
  CHECK(sums(t.of({30, 33}), [](std::size_t k) { return k == 1; }) == std::vector<double>{20, 21});
  CHECK(step_times(0).of({1}) == times_by_step{});
}
