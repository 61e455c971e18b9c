// SPDX-License-Identifier: Apache-2.0
// Does <benanza/benanza.hpp> have what it says, together with all other headers?
#include "result/synthetic.hpp"

#include <benanza/benanza.hpp>
#include <doctest/doctest.h>

TEST_CASE("one header has layers, results and bounds") {
  using namespace benanza;
  CHECK(op::cost(op::parse("Conv/1x64x56x56-64x3x3-s1-p1")).macs == 115605504);
  const result::run r = synthetic::small_run();
  const bound::source measured(r);
  const bound::model_bound b = bound::analyse(measured, r.graphs[0], {numeric::f32, 1});
  CHECK(b.graph == &r.graphs[0]);
  CHECK_FALSE(b.layers.empty());
}
