// SPDX-License-Identifier: Apache-2.0
// Do a model's layers add up to its totals, unfused and fused, on which paths and at which clock?
#include "analysed.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace test_of_form_totals {
using namespace analysed;

double clock_of(const run& r) {
  return analyse(r, benanza::bound::limits{}).clock_ns;
}

TEST_CASE("the fused form: faster where its layers are, and counted") {
  const run measured = synthetic::fused_run();
  const model_bound b = analyse(measured);
  REQUIRE(b.fused);
  CHECK(b.bound.sequential.ns == 700e3 + 9e3 + 105e3 + 15e3 + 9e3 + 400e3);
  CHECK(b.fused->bound.sequential.ns == 704e3 + 105e3 + 15e3 + 9e3 + 400e3);
  CHECK(b.fused->fused_nodes == 2);
  CHECK(b.fused->faster_fused == 1);
  CHECK(b.fused->not_measured == 0);
  CHECK(b.fused->as_one == std::vector<char>{1, 0, 0});
  CHECK(b.fused->prediction.sequential.ns <= b.prediction.sequential.ns);
  CHECK(b.layers.size() == 7);
  CHECK(b.layers.back().uses == 0);
  CHECK(b.layers.back().fused_uses == 1);
  CHECK(&b.fastest_form() == &*b.fused);

  run holed = synthetic::fused_run();
  drop(holed, "Add");
  drop(holed, "Conv+Relu");
  const model_bound h = analyse(holed);
  CHECK(h.partial());
  // The join as one has a time, its parts have not.
  CHECK(h.fused->bound.sequential.ns == 700e3 + 9e3 + 140e3 + 400e3);
  CHECK(h.fused->not_measured == 1);
}

TEST_CASE("what a less exact Winograd would save is a figure next to the bound, in both forms") {
  run r = synthetic::fused_run();
  const model_bound before = analyse(r);
  CHECK(before.winograd_ns == 0);
  CHECK(before.fused->winograd_ns == 0);
  const auto add_winograd = [&](double ns) {
    synthetic::add(r, synthetic::conv, "winograd", 9, ns);
    for (benanza::result::measurement& m : r.measurements)
      if (m.algorithm == "winograd") m.equivalence = "f32-winograd";
  };
  add_winograd(900e3); // slower than the best of 700 us
  CHECK(analyse(r).winograd_ns == 0);
  add_winograd(500e3);
  const model_bound b = analyse(r);
  CHECK(b.bound.sequential.ns == before.bound.sequential.ns);
  CHECK(b.prediction.sequential.ns == before.prediction.sequential.ns);
  CHECK(b.winograd_ns == before.bound.sequential.ns - 200e3);
  // Fused it was one with the Relu behind it in 704 us; apart they are faster now.
  CHECK(b.fused->winograd_ns == before.fused->bound.sequential.ns - 704e3 + 500e3 + 9e3);
  CHECK(b.faults.empty());
}

TEST_CASE("two branches that are equally long win in turns, and that is said") {
  run r = synthetic::empty_run();
  const std::string other = "Conv/1x64x56x56-64x5x5-s1-p2";
  r.graphs.push_back(synthetic::make_graph(
      "g", {synthetic::relu, synthetic::conv, other, synthetic::sum}, {{}, {0}, {0}, {1, 2}}));
  synthetic::add(r, synthetic::relu, "a", 0, 10);
  synthetic::add(r, synthetic::conv, "a", 0, 1000);
  synthetic::add(r, other, "a", 0, 1000.1);
  synthetic::add(r, synthetic::sum, "a", 0, 10);
  const model_bound b = analyse(r);
  CHECK(b.prediction.paths == 2);
  CHECK(b.prediction.path_share > 0);
  CHECK(b.prediction.path_share < 1);
  CHECK(analyse(synthetic::small_run()).bound.paths == 1);
  CHECK(analyse(synthetic::small_run()).bound.path_share == 1);
}

TEST_CASE("the clock of a bound is that of its least samples, by how long the layers take") {
  run r = synthetic::small_run();
  CHECK(clock_of(r) == 0);
  for (measurement& m : r.measurements) {
    m.clock_ns = 5000; // the median sample's says nothing about the bound
    m.min_clock_ns = m.state == "hot" ? 1200 : 9000;
  }
  CHECK(clock_of(r) == doctest::Approx(1200));
  const auto model = analyse(r, benanza::bound::limits{});
  // One layer at another clock moves it by its share of the bound.
  const benanza::bound::layer_answer& l = model.layers[0];
  REQUIRE(l.timed());
  const double share =
      static_cast<double>(l.uses) * l.algorithms.bound.ns / model.bound.sequential.ns;
  REQUIRE(share > 0);
  REQUIRE(share < 1);
  for (measurement& m : r.measurements)
    if (m.family + '/' + m.key == l.name) m.min_clock_ns = 2400;
  CHECK(clock_of(r) == doctest::Approx(1200 * (1 + share)));
  for (measurement& m : r.measurements)
    if (m.family + '/' + m.key == l.name) m.min_clock_ns = 0; // unknown: the others speak for it
  CHECK(clock_of(r) == doctest::Approx(1200));
}
} // namespace test_of_form_totals
