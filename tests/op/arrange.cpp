// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/arrange.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("Trilu reads what stays") {
  constexpr trilu p{.input = {2, 4, 5}, .k = 1};
  CHECK_TWICE(write_key(p) == "2x4x5-k1");
  CHECK_TWICE(p.cost().sources == 2 * (4 + 3 + 2 + 1));
  CHECK_TWICE(p.cost().results == 40);
  for (std::int64_t rows = 1; rows < 6; ++rows)
    for (std::int64_t columns = 1; columns < 6; ++columns)
      for (std::int64_t k = -8; k < 8; ++k)
        for (bool lower : {false, true}) {
          std::int64_t stays = 0;
          for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j)
              stays += lower ? j - i <= k : j - i >= k;
          const trilu t{.input = {rows, columns}, .lower = lower, .k = k};
          REQUIRE(t.cost().sources == stays);
          REQUIRE(t.canonical_form().cost().sources == stays);
        }
  CHECK(write_key(trilu{.input = {4, 5}, .lower = true, .k = -99}.canonical_form()) ==
        "4x5-lower-km4");
  CHECK(trilu{.input = {0, 5}}.cost().fixed_bytes == 0);
  CHECK_REFUSED((trilu{.input = {4}}.validate()), "two dims");
}

TEST_CASE("ReverseSequence and OneHot: keys, dims and cost") {
  constexpr reverse_sequence r{.input = {2, 7, 3}, .batch_first = true};
  CHECK_TWICE(write_key(r) == "2x7x3-bt");
  CHECK_TWICE(r.batch() == 2);
  CHECK_TWICE(r.cost().fixed_bytes == 16);
  CHECK_REFUSED((reverse_sequence{.input = {4}}.validate()), "two dims");

  constexpr one_hot h{.indices = {8, 3}, .depth = 50, .axis = 1, .index = one_hot_index::narrow};
  CHECK_TWICE(write_key(h) == "8x3-k50-a1-i32");
  CHECK_TWICE(h.output() == shape{8, 50, 3});
  CHECK_TWICE(h.cost().results == 1200);
  CHECK_TWICE(h.cost().fixed_bytes == 96);
  CHECK_REFUSED((one_hot{.indices = {4}, .axis = 2}.validate()), "axis");
  CHECK_REFUSED((one_hot{.indices = {4}, .depth = -1}.validate()), "depth");
}
