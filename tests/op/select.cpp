// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/cumulate.hpp>
#include <benanza/op/select.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("running sums: key and cost") {
  constexpr cumulate p{
      .input = {8, 512}, .axis = 1, .exclusive = true, .reverse = true, .element = dtype::s32};
  CHECK_TWICE(write_key(p) == "8x512-a1-exclusive-reverse-s32");
  CHECK_TWICE(p.cost().fixed_bytes == 2 * 4 * 8 * 512);
  CHECK_TWICE(p.cost().other == 8 * 512);
  CHECK(cumulate::of("CumProd")->family() == "CumProd");
  CHECK(!cumulate{.input = {1, 5}, .reverse = true}.canonical_form().reverse);
  CHECK_REFUSED((cumulate{.input = {8}, .axis = 1}.validate()), "axis");
}

TEST_CASE("ArgMax and TopK: keys, results and cost") {
  constexpr arg p{.input = {8, 1000}, .axis = 1, .last = true};
  CHECK_TWICE(write_key(p) == "8x1000-a1-last");
  CHECK_TWICE(p.output() == shape{8, 1});
  CHECK_TWICE(p.results()[0].element == dtype::s64);
  CHECK_TWICE(p.cost().sources == 8000);
  CHECK_TWICE(p.cost().results == 0);
  CHECK_TWICE(p.cost().fixed_bytes == 64);
  CHECK(arg::of("ArgMin")->smallest);
  CHECK(!arg{.input = {8, 1}, .axis = 1, .last = true}.canonical_form().last);
  CHECK_REFUSED((arg{.input = {8, 0}, .axis = 1}.validate()), "empty axis");

  constexpr top_k t{.input = {1, 8400}, .axis = 1, .k = 100, .smallest = true, .unsorted = true};
  CHECK_TWICE(write_key(t) == "1x8400-a1-k100-smallest-unsorted");
  CHECK_TWICE(t.results().size == 2);
  CHECK_TWICE(t.results()[1].dims == shape{1, 100});
  CHECK_TWICE(t.cost().results == 100);
  CHECK_TWICE(t.cost().fixed_bytes == 800);
  CHECK_REFUSED((top_k{.input = {4}, .k = 5}.validate()), "more than its axis");
}

TEST_CASE("what values decide: as much as there can be") {
  constexpr non_zero n{.input = {3, 4}, .element = dtype::boolean};
  CHECK_TWICE(write_key(n) == "3x4-bool");
  CHECK_TWICE(n.output() == shape{2, 12});
  CHECK_TWICE(n.cost().fixed_bytes == 12 + 24 * 8);
  CHECK_REFUSED(non_zero{}.validate(), "one dim");

  constexpr compress c{.input = {20, 4}, .length = 19, .kept = 7, .axis = 0};
  CHECK_TWICE(write_key(c) == "20x4-n19-k7-a0");
  CHECK_TWICE(c.output() == shape{7, 4});
  CHECK_TWICE(c.cost().sources == 28);
  CHECK_TWICE(c.cost().fixed_bytes == 19);
  CHECK(write_key(compress{.input = {5}, .length = 5, .kept = 2, .axis = 0}.canonical_form()) ==
        "5-n5-k2");
  CHECK_REFUSED((compress{.input = {5}, .length = 3, .kept = 4}.validate()), "keeps more");

  constexpr unique u{.input = {6, 2}, .axis = 0, .wanted = 4, .unsorted = true};
  CHECK_TWICE(write_key(u) == "6x2-a0-n4-unsorted");
  CHECK_TWICE(u.results().size == 4);
  CHECK_TWICE(u.results()[2].dims == shape{6});
  CHECK_TWICE(u.cost().other == 12 * 3);
  CHECK_TWICE(unique{.input = {6, 2}}.output() == shape{12});
  CHECK_REFUSED((unique{.input = {6}, .wanted = 5}.validate()), "four results");
}
