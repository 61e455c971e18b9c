// SPDX-License-Identifier: Apache-2.0
// What is saved by choosing an algorithm for each layer?
#include "result/synthetic.hpp"

#include <benanza/advice/algorithm.hpp>
#include <benanza/advice/baseline.hpp>
#include <benanza/bound/model.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace test_of_algorithm {
using benanza::advice::algorithm_gain;
using benanza::advice::by_gain;
using benanza::advice::gain_ns;
using benanza::bound::figure;
using benanza::bound::layer_answer;
using benanza::bound::model_bound;
using benanza::result::measurement;
using benanza::result::run;

model_bound analyse(const run& r) {
  return benanza::bound::analyse(benanza::bound::source(r), r.graphs[0],
                                 {benanza::numeric::f32, 1});
}

TEST_CASE("what a model gains is the sum of what its layers gain, in an interval") {
  const run measured = synthetic::small_run();
  const model_bound b = analyse(measured);
  const figure gain = algorithm_gain(b);
  double sum = 0;
  for (const layer_answer& l : b.layers)
    sum += gain_ns(l);
  CHECK(gain.ns > 0);
  CHECK(gain.ns == doctest::Approx(sum));
  CHECK(gain.low_ns <= gain.ns);
  CHECK(gain.ns <= gain.high_ns);
  CHECK(gain.high_ns < 1.2 * gain.ns);
  run turned = synthetic::small_run();
  std::reverse(turned.measurements.begin(), turned.measurements.end());
  CHECK(algorithm_gain(analyse(turned)).ns == gain.ns);
}

TEST_CASE("layers are ranked by what they gain; those that gain nothing are left out") {
  const run measured = synthetic::fused_run();
  const model_bound b = analyse(measured);
  const std::vector<const layer_answer*> rows = by_gain(b);
  REQUIRE(rows.size() > 1);
  CHECK(std::is_sorted(rows.begin(), rows.end(),
                       [](const auto* x, const auto* y) { return gain_ns(*x) > gain_ns(*y); }));
  CHECK(gain_ns(*rows.back()) > 0);

  run first = synthetic::fused_run();
  std::erase_if(first.measurements, [](const measurement& m) { return m.algorithm_index != 0; });
  CHECK(by_gain(analyse(first)).empty());
  CHECK(algorithm_gain(analyse(first)).ns == 0);
}

TEST_CASE("first choices are counted where they are near the best, and the rest are not") {
  const run measured = synthetic::fused_run();
  const model_bound b = analyse(measured);
  const benanza::advice::first_choices all = benanza::advice::first_choices_of(b);
  CHECK(0 < all.within_2_percent);
  CHECK(all.within_2_percent <= all.within_5_percent);
  CHECK(all.within_5_percent < all.layers);

  run first = synthetic::fused_run();
  std::erase_if(first.measurements, [](const measurement& m) { return m.algorithm_index != 0; });
  const benanza::advice::first_choices alone = benanza::advice::first_choices_of(analyse(first));
  CHECK(alone.within_2_percent == alone.layers);

  run host = synthetic::fused_run();
  for (measurement& m : host.measurements)
    m.backend = "host";
  CHECK(benanza::advice::first_choices_of(analyse(host)).layers == 0);
}
} // namespace test_of_algorithm
