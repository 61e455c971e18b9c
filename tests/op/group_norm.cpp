// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/group_norm.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("group_norm: a diffusion model's") {
  constexpr group_norm g{.input = {1, 320, 64, 64}, .groups = 32};
  CHECK_TWICE(g.output() == shape{1, 320, 64, 64});
  CHECK_TWICE(g.row() == 40960); // ten channels
  CHECK_TWICE(g.cost().other == 7864320);
  CHECK_TWICE(g.cost().vectors == 640);
  CHECK_TWICE(g.cost().bytes(numeric::f32) == 2 * 5242880 + 2560);
  CHECK_TWICE(write_key(g) == "1x320x64x64-g32");
  constexpr group_norm one{.input = {2, 6}};
  CHECK_TWICE(one.row() == 6);
  CHECK_TWICE(write_key(one) == "2x6");
}

TEST_CASE("instance_norm") {
  constexpr instance_norm i{.input = {1, 32, 224, 224}};
  CHECK_TWICE(i.output() == shape{1, 32, 224, 224});
  CHECK_TWICE(i.row() == 50176);
  CHECK_TWICE(i.cost().other == 9633792);
  CHECK_TWICE(i.cost().vectors == 64);
  CHECK_TWICE(write_key(i) == "1x32x224x224");
}

TEST_CASE("group_norm and instance_norm: what is refused") {
  CHECK_REFUSED(group_norm{}.validate(), "two dims");
  CHECK_REFUSED((group_norm{.input = {4}}.validate()), "two dims");
  CHECK_REFUSED((group_norm{.input = {1, 320, 8}, .groups = 3}.validate()), "divide");
  CHECK_REFUSED((group_norm{.input = {1, 320, 8}, .groups = 0}.validate()), "divide");
  CHECK_REFUSED((group_norm{.input = {1, 320, 8}, .groups = -32}.validate()), "divide");
  CHECK_REFUSED((group_norm{.input = {1, -320, 8}, .groups = 32}.validate()), "negative");
  CHECK_REFUSED((group_norm{.input = {1, dim_limit, 1 << 14}}.validate()), "2^56");
  CHECK_REFUSED((instance_norm{.input = {1, 32}}.validate()), "three dims");
  CHECK_REFUSED((instance_norm{.input = {1, 32, -1}}.validate()), "negative");
}
