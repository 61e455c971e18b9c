// SPDX-License-Identifier: Apache-2.0
#include <benanza/result/effort.hpp>

#include <doctest/doctest.h>

using namespace benanza::result;

TEST_CASE("less time is less effort, and more time no more") {
  for (const auto& [text, e] : effort_names) {
    CHECK(parse_effort(text) == e);
    CHECK(reached(e, seconds_of(e)) == e);
    CHECK(reached(e, 100) == e);
    CHECK(reached(e, 0.001) == effort::quick);
  }
  CHECK(reached(effort::exhaustive, 0.3) == effort::thorough);
  CHECK(reached(effort::thorough, 0.1) == effort::normal);
  CHECK(reached(effort::normal, 0.09) == effort::quick);
}

TEST_CASE("a run says its effort; of several in one the lowest counts, of none the usual one") {
  run r;
  CHECK(effort_of(r) == effort::normal);
  auto& facts = r.provenance["measuring"];
  CHECK(effort_of(r) == effort::normal);
  facts["effort"] = "thorough";
  CHECK(effort_of(r) == effort::thorough);
  facts["min_time_s"] = "0.300000";
  CHECK(effort_of(r) == effort::thorough);
  facts["min_time_s"] = "0.100000; 0.300000";
  CHECK(effort_of(r) == effort::normal);
  facts["effort"] = "quick; thorough";
  CHECK(effort_of(r) == effort::quick);
  facts["effort"] = "no such";
  CHECK(effort_of(r) == effort::normal);
}
