// SPDX-License-Identifier: Apache-2.0
#include <benanza/result/stop_reason.hpp>
#include <doctest/doctest.h>

using namespace benanza::result;

TEST_CASE("a case that was raced out says how far it was behind") {
  CHECK(raced_out(1.6) == "raced out: 1.6 times the best");
  CHECK(raced_out(1.12) == "raced out: 1.1 times the best");
  CHECK(raced_out(31.4) == "raced out: 31 times the best");
  CHECK(was_raced_out(raced_out(2)));
}

TEST_CASE("no other reason is taken for a lost race") {
  for (std::string_view reason : {minimum_settled, median_settled, small_spread, time_limit,
                                  fewest_samples, disturbed_too_long, stopped})
    CHECK_FALSE(was_raced_out(reason));
  CHECK_FALSE(was_raced_out(""));
}
