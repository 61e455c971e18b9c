// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/expand.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("expand: key and cost of both families") {
  constexpr expand e{.input = {8, 1, 64}, .sizes = {2, 8, 4, 64}};
  CHECK_TWICE(write_key(e) == "8x1x64-2x8x4x64");
  CHECK_TWICE(e.family() == "Expand");
  CHECK_TWICE(read_key(expand{}, "8x1x64-2x8x4x64") == e);
  CHECK_TWICE(e.cost().sources == 512);
  CHECK_TWICE(e.cost().results == 4096);
  constexpr expand t{.input = {2, 3}, .sizes = {4, 9}, .element = dtype::s64, .tile = true};
  CHECK_TWICE(write_key(t) == "2x3-4x9-s64");
  CHECK_TWICE(t.family() == "Tile");
  CHECK_TWICE(t.cost().bytes(numeric::f32) == 8 * (6 + 36));
  CHECK(expand::of("Tile")->tile);
  CHECK_TWICE(expand{.input = {3}, .sizes = {0}, .tile = true}.cost().sources == 0);
}

TEST_CASE("expand: what is refused") {
  CHECK_REFUSED((expand{.input = {2, 3}, .sizes = {4, 3}}.validate()), "broadcast");
  CHECK_REFUSED((expand{.input = {2, 3}, .sizes = {3}}.validate()), "broadcast");
  CHECK_REFUSED((expand{.input = {2}, .sizes = {3}, .tile = true}.validate()), "multiple");
  CHECK_REFUSED((expand{.input = {0}, .sizes = {3}, .tile = true}.validate()), "multiple");
  CHECK_REFUSED((expand{.input = {2}, .sizes = {2, 2}, .tile = true}.validate()), "number of dims");
  CHECK_REFUSED((expand{.input = {1}, .sizes = {-2}}.validate()), "negative");
}
