// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/indexing.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("indexing: keys, dims and cost") {
  using enum indexing_function;
  constexpr indexing some{.data = {4, 9}, .indices = {4, 3}, .axis = 1};
  CHECK_TWICE(write_key(some) == "4x9-4x3-a1");
  CHECK_TWICE(some.output() == shape{4, 3});
  CHECK_TWICE(some.cost().sources == 12);
  CHECK_TWICE(some.cost().results == 12);
  CHECK_TWICE(some.cost().fixed_bytes == 12 * 8);
  CHECK_TWICE(some.index_bounds() == shape{9});

  constexpr indexing rows{
      .function = gather_nd, .data = {2, 5, 6, 7}, .indices = {2, 3, 2}, .batch_dims = 1};
  CHECK_TWICE(write_key(rows) == "2x5x6x7-2x3x2-b1");
  CHECK_TWICE(rows.output() == shape{2, 3, 7});
  CHECK_TWICE(rows.index_bounds() == shape{5, 6});
  CHECK_TWICE(rows.run() == 7);

  constexpr indexing added{.function = scatter_nd,
                           .data = {10, 7},
                           .indices = {3, 1},
                           .reduction = scatter_reduction::add,
                           .element = dtype::s64,
                           .index = dtype::s32};
  CHECK_TWICE(write_key(added) == "10x7-3x1-add-i32-s64");
  CHECK(read_key(*indexing::of("ScatterND"), "10x7-3x1-add-i32-s64") == added);
  CHECK_TWICE(added.output() == shape{10, 7});
  CHECK_TWICE(added.taken() == shape{3, 7});
  CHECK_TWICE(added.cost().fixed_bytes == (70 + 70 + 21) * 8 + 3 * 4);
  CHECK_TWICE(added.cost().other == 21);
}

TEST_CASE("indexing: what makes no sense is refused") {
  using enum indexing_function;
  const auto refused = [](const indexing& p) { return test::refusal_of([&] { p.validate(); }); };
  const auto says = [&](const indexing& p, std::string_view why) {
    return refused(p).find(why) != std::string::npos;
  };
  CHECK(says({.data = {4, 9}, .indices = {3}}, "lack dims"));
  CHECK(says({.data = {4, 9}, .indices = {4, 10}}, "outside their data"));
  CHECK(says({.data = {4, 9}, .indices = {4, 9}, .axis = 2}, "axis"));
  CHECK(says({.data = {0, 9}, .indices = {4, 9}}, "empty axis"));
  CHECK(says({.function = gather_nd, .data = {4}, .indices = {3, 2}}, "more numbers"));
  CHECK(says({.function = gather_nd, .data = {4}, .indices = {3, 0}}, "more numbers"));
  CHECK(says({.function = scatter_nd, .data = {}, .indices = {1}}, "scalar"));
  CHECK(
      says({.function = gather_nd, .data = {4, 2}, .indices = {3, 1}, .batch_dims = 1}, "differ"));
  CHECK(says({.data = {4}, .indices = {4}, .index = dtype::u8}, "s32 or s64"));
}

TEST_CASE("a TensorScatter copies its cache") {
  constexpr tensor_scatter p{.cache = {2, 8, 512, 64}, .axis = 2, .length = 4, .offsets = true};
  CHECK_TWICE(write_key(p) == "2x8x512x64-a2-n4-at");
  CHECK_TWICE(p.updates() == shape{2, 8, 4, 64});
  CHECK_TWICE(p.index_bounds() == shape{509});
  CHECK_TWICE(p.cost().sources == elements(p.cache));
  CHECK_TWICE(p.cost().fixed_bytes == 16);
  // Where all begin with the first place nothing goes round.
  CHECK(!tensor_scatter{.cache = {2, 8}, .axis = 1, .length = 2, .circular = true}
             .canonical_form()
             .circular);
  CHECK_REFUSED((tensor_scatter{.cache = {2, 8}, .axis = 0, .length = 1}.validate()), "batch");
  CHECK_REFUSED((tensor_scatter{.cache = {2, 8}, .axis = 1, .length = 9}.validate()), "no place");
}
