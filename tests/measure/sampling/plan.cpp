// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/sampling/plan.hpp>
#include <doctest/doctest.h>

using namespace benanza::measure;

TEST_CASE("efforts have names, and other words are none") {
  for (const auto& [text, e] : effort_names) {
    CHECK(parse_effort(text) == e);
    CHECK(name(e) == text);
  }
  CHECK_FALSE(parse_effort("lazy"));
  CHECK_FALSE(parse_effort(""));
}

TEST_CASE("efforts differ in time and patience; exhaustive stops no case") {
  CHECK(plan_of(effort::quick).seconds < plan_of(effort::normal).seconds);
  CHECK(plan_of(effort::normal).seconds == 0.1);
  CHECK(plan_of(effort::normal).seconds < plan_of(effort::thorough).seconds);
  CHECK(plan_of(effort::thorough).patience > plan_of(effort::normal).patience);
  const sampling_plan all = plan_of(effort::exhaustive);
  CHECK(all.seconds == 0.5);
  CHECK_FALSE(all.racing);
  CHECK(all.patience == 0);
  // Longer, but not otherwise: what is first after a change of case counts as much.
  CHECK(all.slice_ns == plan_of(effort::normal).slice_ns);
  CHECK(all.slice_samples == plan_of(effort::normal).slice_samples);
}

TEST_CASE("a time given by hand replaces the limit, and slices get no longer than it bears") {
  const sampling_plan p = plan_of(effort::normal, 0.002, 3);
  CHECK(p.seconds == 0.002);
  CHECK(p.passes == 3);
  CHECK(p.slice_ns == doctest::Approx(0.25e6));
  CHECK(plan_of(effort::normal, 10).slice_ns == plan_of(effort::normal).slice_ns);
}
