// SPDX-License-Identifier: Apache-2.0
#include "../fake_library.hpp"

#include <benanza/measure/ceilings/library_subject.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::measure::ceilings;

TEST_CASE("a layer represents the machine under another name, and is checked like a layer") {
  library_list libraries;
  libraries.push_back(std::make_unique<test::fake_library>(std::vector<test::script>{
      {.algorithm = {.id = "good"}, .ns = 500}, {.algorithm = {.id = "bad"}, .wrong = true}}));
  const op::layer l = op::parse("MatMul/4x8-8x5-w");
  library_subject what({"matmul", 0}, l, numeric::f32, 1, libraries, 0.5);
  CHECK(what.title() == "machine/matmul");
  CHECK(what.flops == 2 * 4 * 8 * 5);
  CHECK(what.bytes == op::cost(l).bytes(numeric::f32));
  what.begin();
  const auto listed = libraries[0]->enumerate(l, numeric::f32, {});
  const bench_case good = machine_case(what, "fake", listed[0]);
  CHECK(good.name == "machine/matmul/f32/fake/good/hot/t1");
  CHECK(what.ready(good).run->time(2) == 1000);
  CHECK_THROWS_WITH_AS(what.ready(machine_case(what, "fake", listed[1])),
                       doctest::Contains("wrong result"), error);
  what.end();
}
