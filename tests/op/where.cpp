// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/where.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("where: key, dims and cost") {
  constexpr where w{.condition = {9, 9}, .x = {2, 9, 9}, .y = {1}};
  CHECK_TWICE(write_key(w) == "9x9-2x9x9-1");
  CHECK_TWICE(read_key(where{}, "9x9-2x9x9-1") == w);
  CHECK_TWICE(w.output() == shape{2, 9, 9});
  CHECK_TWICE(w.cost().bytes(numeric::f32) == 81 + 4 * (2 * 81 + 1 + 2 * 81));
  constexpr where same{.condition = {4}, .x = {4}, .y = {4}, .element = dtype::s64};
  CHECK_TWICE(write_key(same) == "4-4-s64");
  CHECK_TWICE(read_key(where{}, "4-4-s64") == same);
  CHECK_TWICE(write_key(where{.condition = {4}}.canonical_form()) == "4-1");
}

TEST_CASE("where: what is refused") {
  CHECK_REFUSED((where{.condition = {2}, .x = {3}, .y = {1}}.validate()), "broadcast");
  CHECK_REFUSED((where{.condition = {-2}, .x = {1}, .y = {1}}.validate()), "negative");
}
