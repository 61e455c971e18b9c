// SPDX-License-Identifier: Apache-2.0
// Is what a profiler adds to operators taken off, between two values that hold the truth?
#include "benanza/advice/profiler.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

using namespace benanza;
using namespace benanza::advice;

namespace test_of_profiler {
trace::profile of_times(const std::vector<double>& ns, double latency, double profiled) {
  trace::profile p{.latency_ns = {latency, latency}, .profiled_ns = {profiled, profiled}};
  for (const double one : ns)
    p.operators.push_back({.ns = {one, one}});
  return p;
}

TEST_CASE("profiler cost: LeNet in ONNX Runtime, where shares made its convolution impossible") {
  // Whole microseconds. Timed alone, the second convolution takes 14 to 16 us.
  trace::profile p = of_times({8e3, 4e3, 18e3, 5e3, 3e3, 4e3, 3e3, 4e3}, 29.3e3, 88e3);
  p.step_ns = 1000;
  p.empty_operator = trace::empty_operator_times{.profiled_ns = 2340, .ns = 234};
  const profiler_cost c = cost_of(p, 29.3e3);
  CHECK(c.pace == 1);
  CHECK(c.least_ns == doctest::Approx((53e3 - 29.3e3) / 8)); // all operators fit into the run
  CHECK(c.most_ns == doctest::Approx(3340));
  CHECK(c.taken(18e3, 1, 0) > 14e3);
  CHECK(c.taken(18e3, 0, 1) < 16.1e3);
  CHECK(c.blur_ns() == doctest::Approx(1000 + 3340 - (53e3 - 29.3e3) / 8));
}

TEST_CASE("profiler cost: what was not measured is between what must and what can be") {
  const std::vector<double> told{103e3, 53e3, 13e3, 5e3}; // 3 us of each are the profiler's
  CHECK(cost_of(of_times(told, 175e3, 175e3), 175e3) == profiler_cost{}); // nothing was added
  const profiler_cost some = cost_of(of_times(told, 165e3, 185e3), 165e3);
  CHECK(some.least_ns == doctest::Approx(9e3 / 4)); // else they are more than the run
  CHECK(some.most_ns == doctest::Approx(5e3));      // all that was added to the run; the shortest
  CHECK(some.pace == 1);
  CHECK(cost_of(of_times(told, 165e3, 177e3), 165e3).most_ns == doctest::Approx(3e3));
  CHECK(cost_of(of_times(told, 165e3, 185e3), 0) == profiler_cost{}); // no run without it is known
  trace::profile beside = of_times(told, 100e3, 185e3);
  beside.overlapping = true; // their sum says nothing
  CHECK(cost_of(beside, 100e3) == profiler_cost{});
}

TEST_CASE("profiler cost: runs that were slower throughout keep their shares") {
  const trace::profile p = of_times({600e3, 300e3, 200e3}, 1000e3, 1200e3);
  const profiler_cost c = cost_of(p, 1000e3); // 20 us an operator are no profiler's
  CHECK(c.most_ns == most_event_ns);
  CHECK(c.least_ns == most_event_ns);
  CHECK(c.pace == doctest::Approx(1000.0 / 1140));
  CHECK(c.taken(600e3) == doctest::Approx(580e3 * 1000 / 1140));
}

TEST_CASE("profiler cost: an operator that did not run took no time, and none less than none") {
  const profiler_cost c{.least_ns = 2000, .most_ns = 3000, .step_ns = 1000};
  CHECK(c.taken(0) == 0);
  CHECK(c.taken(1000) == 0);
  CHECK(c.taken(3000) == 1000);
  CHECK(profiler_cost{}.taken(123) == 123);
}

TEST_CASE("profiler cost: true times are between the two, whatever a profiler adds") {
  std::mt19937 random(5);
  const auto up_to = [&random](double n) { return std::uniform_real_distribution<>(0, n)(random); };
  for (int i = 0; i < 500; ++i) {
    CAPTURE(i);
    const double inside = up_to(4000), outside = up_to(4000), between = up_to(2000), step = 1000;
    const bool measured = i % 2 == 0;
    std::vector<double> truth, told;
    double run = 0, profiled = 0;
    for (int n = 1 + i % 30; n > 0; --n) {
      truth.push_back(std::exp(up_to(14)));
      told.push_back(std::floor((truth.back() + inside) / step) * step);
      run += truth.back() + between;
      profiled += truth.back() + between + inside + outside;
    }
    trace::profile p = of_times(told, run, profiled);
    p.step_ns = step;
    if (measured)
      p.empty_operator = trace::empty_operator_times{
          .profiled_ns = std::floor(inside / step) * step, .ns = between};
    const profiler_cost c = cost_of(p, run);
    CHECK(c.pace > 0.999); // cut steps may add up to more than the run
    for (std::size_t o = 0; o < truth.size(); ++o) {
      if (told[o] <= 0) continue;
      CHECK(c.taken(told[o], 1, 0) <= truth[o] * 1.001 + 1);
      if (measured) CHECK(c.taken(told[o], 0, 1) >= truth[o] * 0.999 - step);
    }
  }
}
} // namespace test_of_profiler
