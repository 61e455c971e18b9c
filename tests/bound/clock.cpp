// SPDX-License-Identifier: Apache-2.0
// At which clock do the samples lie that a bound rests on?
#include "../result/synthetic.hpp"

#include "benanza/bound/clock.hpp"
#include "benanza/bound/model.hpp"

#include <doctest/doctest.h>

namespace {

using benanza::bound::analyse;
using benanza::bound::source;
using benanza::result::measurement;
using benanza::result::run;

double clock_of(const run& r) {
  return analyse(source(r, benanza::bound::limits{}), r.graphs[0], {benanza::numeric::f32, 1})
      .clock_ns;
}

} // namespace

TEST_CASE("the clock of a bound is that of its least samples, by how long the layers take") {
  run r = synthetic::small_run();
  CHECK(clock_of(r) == 0);
  for (measurement& m : r.measurements) {
    m.clock_ns = 5000; // the median sample's says nothing of the bound
    m.min_clock_ns = m.state == "hot" ? 1200 : 9000;
  }
  CHECK(clock_of(r) == doctest::Approx(1200));
  const auto model =
      analyse(source(r, benanza::bound::limits{}), r.graphs[0], {benanza::numeric::f32, 1});
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
    if (m.family + '/' + m.key == l.name) m.min_clock_ns = 0; // not told: the others speak for it
  CHECK(clock_of(r) == doctest::Approx(1200));
}
