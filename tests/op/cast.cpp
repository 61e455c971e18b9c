// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/cast.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("cast: key, results and cost") {
  constexpr cast c{.input = {1, 128}, .from = dtype::s64, .to = dtype::real};
  CHECK_TWICE(write_key(c) == "1x128-s64-real");
  CHECK_TWICE(read_key(cast{}, "1x128-s64-real") == c);
  CHECK_TWICE(c.results()[0].element == dtype::real);
  CHECK_TWICE(c.cost().fixed_bytes == 128 * 8);
  CHECK_TWICE(c.cost().results == 128);
  CHECK_TWICE(c.cost().bytes(numeric::bf16) == 128 * 10);
  constexpr cast back{.input = {}, .from = dtype::real, .to = dtype::boolean};
  CHECK_TWICE(write_key(back) == "scalar-real-bool");
  CHECK_TWICE(back.cost().sources == 1);
  CHECK_TWICE(back.cost().fixed_bytes == 1);
  CHECK(read_key(cast{}, "scalar-real-bool") == back);
  constexpr cast packed{.input = {5}, .from = dtype::s4, .to = dtype::e2m1};
  CHECK_TWICE(write_key(packed) == "5-s4-e2m1");
  CHECK_TWICE(packed.cost().fixed_bytes == 6);
}

TEST_CASE("cast: what is refused") {
  CHECK_REFUSED((cast{.input = {3}}.validate()), "already");
  CHECK_REFUSED(read_key(cast{}, "3-s64").validate(), "two types");
  CHECK_REFUSED(read_key(cast{}, "3").validate(), "two types");
  CHECK_REFUSED((cast{.input = {-3}, .to = dtype::s8}.validate()), "negative");
}
