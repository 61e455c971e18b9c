// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/sampling/stopping.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;

namespace {
/// A case of so many equal slices of `per_slice` samples.
sampled_case sampled(std::vector<double> figures, int per_slice = 3, double spread = 0.1) {
  sampled_case c;
  for (double f : figures) {
    for (int i = 0; i < per_slice; ++i) {
      c.samples.push_back({f * (1 + spread * i), true});
      c.spent_ns += c.samples.back().ns;
    }
    c.figures.push_back({f, static_cast<int>(c.samples.size())});
    ++c.slices;
  }
  c.refresh();
  return c;
}
const sampling_plan plan = plan_of(effort::normal);
} // namespace

TEST_CASE("a figure has settled after as many rounds without a change as the plan waits") {
  CHECK(enough(sampled({100, 90, 90, 90, 90}), plan, false).empty());
  CHECK(enough(sampled({100, 90, 90, 90, 90, 90}), plan, false) == result::minimum_settled);
  CHECK(enough(sampled({100, 90.2, 90.1, 90, 90, 90}), plan, false) == result::minimum_settled);
  CHECK(enough(sampled({100, 90, 90, 90, 90, 89}), plan, false).empty());
  sampled_case cold = sampled({100, 90, 90, 90, 90, 90});
  cold.by_median = true;
  CHECK(enough(cold, plan, false) == result::median_settled);
}

TEST_CASE("a least sample must stay unbeaten by some more, however few a visit brings") {
  // Visits of one sample, the least of them the first.
  const auto unbeaten_by = [](int others) {
    sampled_case c = sampled({100}, 1);
    for (int i = 0; i < others; ++i) {
      c.samples.push_back({110.0 + 10 * (i % 2), true});
      c.figures.push_back({100, static_cast<int>(c.samples.size())});
      ++c.slices;
    }
    c.refresh();
    return c;
  };
  const int unbeaten = usual_parameters.unbeaten_samples;
  CHECK(enough(unbeaten_by(unbeaten - 1), plan, false).empty());
  CHECK(enough(unbeaten_by(unbeaten), plan, false) == result::minimum_settled);
  sampled_case beaten = unbeaten_by(unbeaten);
  beaten.figures.push_back({98, unbeaten + 2});
  CHECK(enough(beaten, plan, false).empty());
  // A median has the middle of all.
  for (const int others : {unbeaten - 2, unbeaten - 1}) {
    sampled_case cold = unbeaten_by(others);
    cold.by_median = true;
    CHECK(enough(cold, plan, false).empty() == (others + 1 < unbeaten));
  }
}

TEST_CASE("the least sample of the case that leads must stay unchanged for longer") {
  std::vector<double> still(1 + static_cast<std::size_t>(plan.patience), 90);
  CHECK(enough(sampled(still), plan, false) == result::minimum_settled);
  CHECK(enough(sampled(still), plan, true).empty());
  sampled_case cold = sampled(still); // no bound will rest on it
  cold.by_median = true;
  CHECK(enough(cold, plan, true) == result::median_settled);
  still.resize(1 + static_cast<std::size_t>(plan.leaders_patience), 90);
  CHECK(enough(sampled(still), plan, true) == result::minimum_settled);
}

TEST_CASE("the case that leads gets more time while its least sample still falls") {
  const sampled_case falls = sampled({9e6, 8e6, 7e6, 6e6, 5e6});
  CHECK(enough(falls, plan, false) == result::time_limit);
  CHECK(enough(falls, plan, true).empty());
  sampled_case long_enough = falls;
  long_enough.spent_ns = usual_parameters.leader_time * plan.seconds * 1e9;
  CHECK(enough(long_enough, plan, true) == result::time_limit);
  sampled_case cold = falls; // a median moves little, and sweeps take their time
  cold.by_median = true;
  CHECK(enough(cold, plan, true) == result::time_limit);
}

TEST_CASE("samples that hardly differ are enough, but not from one slice alone") {
  CHECK(enough(sampled({100, 101, 100.5, 100}, 3, 0), plan, false) == result::small_spread);
  CHECK(enough(sampled({100, 104, 102, 100}, 3, 0), plan, false).empty());
  CHECK(enough(sampled({100, 100}, 10, 0), plan, false).empty());
}

TEST_CASE("the time limit holds, but for the fewest samples of slow cases") {
  CHECK(enough(sampled({9e6, 8e6, 7e6, 6e6, 5e6}), plan, false) == result::time_limit);
  CHECK(enough(sampled({9e7, 8e7, 7e7}, 1), plan, false).empty());
  CHECK(enough(sampled({9e7, 8e7, 7e7, 6e7}, 1), plan, false) == result::fewest_samples);
  CHECK(enough(sampled({4e9}, 1), plan, false).empty());
  CHECK(enough(sampled({4e9, 3e9}, 1), plan, false) == result::fewest_samples);
}

TEST_CASE("without patience only the time ends a case") {
  const sampling_plan all = plan_of(effort::exhaustive);
  CHECK(enough(sampled({100, 90, 90, 90, 90, 90, 90, 90, 90, 90}, 3, 0), all, false).empty());
  CHECK(enough(sampled({9e8}, 8), all, false) == result::time_limit);
}

TEST_CASE("disturbed slices end a case when they have cost too much") {
  sampled_case c;
  c.lost_slices = 3, c.lost_ns = 1e9;
  CHECK(enough(c, plan, false).empty());
  c.lost_slices = 4;
  CHECK(enough(c, plan, false) == result::disturbed_too_long);
  c.lost_ns = 0.049e9;
  CHECK(enough(c, plan, false).empty());
}
