// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/ceilings/loop_subject.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::measure::ceilings;

TEST_CASE("loops are ready on any number of threads, and count the arithmetic of all of them") {
  for (const loop& l : kernels().loops)
    for (int threads : {1, 2}) {
      loop_subject what(l, threads);
      CHECK(what.key == "fma");
      CHECK(what.type == l.type);
      CHECK(what.flops == threads * l.flops_a_round * loop_run::rounds);
      const bench_case c = own_case(what, l.way);
      CHECK(c.algorithm.flops == what.flops);
      CHECK(what.ready(c).run->time(1) > 0);
    }
}

TEST_CASE("a loop whose sums are wrong is refused") {
  loop wrong = kernels().loops[0];
  wrong.run = [](std::int64_t, lane_sums& sums) { sums.fill(1); };
  loop_subject what(wrong, 1);
  CHECK_THROWS_WITH_AS(what.ready(own_case(what, wrong.way)), doctest::Contains("wrong sum"),
                       error);
}
