// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/softmax.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("softmax") {
  constexpr softmax s{.input = {1, 1000}, .axis = 1};
  CHECK_TWICE(s.output() == shape{1, 1000});
  CHECK_TWICE(s.cost().other == 5000);
  CHECK_TWICE(s.cost().bytes(numeric::f32) == 8000);
  CHECK_TWICE(s.cost().bytes(numeric::f16) == 4000);
  CHECK_TWICE(s.family() == "Softmax");
  CHECK_TWICE(write_key(s) == "1x1000-a1");
}

TEST_CASE("softmax: the axis is written even where it is 0") {
  constexpr softmax s{.input = {12, 384, 384}, .axis = 0, .log = true};
  CHECK_TWICE(write_key(s) == "12x384x384-a0");
  CHECK_TWICE(s.family() == "LogSoftmax");
  CHECK_TWICE(softmax::of("LogSoftmax")->log);
  CHECK_TWICE(!softmax::of("Softmax")->log);
  CHECK_TWICE(!softmax::of("softmax"));
}

TEST_CASE("softmax: what is refused") {
  CHECK_REFUSED(softmax{}.validate(), "axis");
  CHECK_REFUSED((softmax{.input = {1, 1000}, .axis = 2}.validate()), "axis");
  CHECK_REFUSED((softmax{.input = {1, 1000}, .axis = -1}.validate()), "axis");
  CHECK_REFUSED((softmax{.input = {1, -5}, .axis = 1}.validate()), "negative");
  CHECK_REFUSED((softmax{.input = {count_limit / 4}}.validate()), "2^40");
  CHECK_REFUSED((softmax{.input = {dim_limit, 1 << 15}}.validate()), "2^56"); // 5 flops each
}
