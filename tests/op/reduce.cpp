// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/reduce.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("reduce") {
  constexpr reduce r{.input = {1, 64, 56, 56}, .axes = {2, 3}};
  CHECK_TWICE(r.output() == shape{1, 64, 1, 1});
  CHECK_TWICE(r.cost().other == 200704);
  CHECK_TWICE(r.cost().results == 64);
  CHECK_TWICE(r.cost().bytes(numeric::f32) == (200704 + 64) * 4);
  CHECK_TWICE(r.reduces(2));
  CHECK_TWICE(!r.reduces(1));
  CHECK_TWICE(r.family() == "ReduceMean");
  CHECK_TWICE(write_key(r) == "1x64x56x56-a2x3");
}

TEST_CASE("reduce: one axis, all axes, none") {
  constexpr reduce first{.function = reduction::max, .input = {7, 5}, .axes = {0}};
  CHECK_TWICE(first.output() == shape{1, 5});
  CHECK_TWICE(write_key(first) == "7x5-a0");
  constexpr reduce all{.function = reduction::sum, .input = {7, 5, 3}, .axes = {0, 1, 2}};
  CHECK_TWICE(all.output() == shape{1, 1, 1});
  CHECK_TWICE(all.cost().results == 1);
  // Axes of equal numbers are no list to be shortened.
  CHECK_TWICE(write_key(all) == "7x5x3-a0x1x2");
  constexpr reduce none{.input = {7, 5}};
  CHECK_TWICE(none.output() == shape{7, 5});
  CHECK_TWICE(write_key(none) == "7x5");
  constexpr reduce scalar{};
  CHECK_TWICE(scalar.output().empty());
  CHECK_TWICE(write_key(scalar) == "scalar");
}

TEST_CASE("reduce: whole numbers") {
  constexpr reduce r{
      .function = reduction::product, .input = {10, 4}, .axes = {1}, .element = dtype::s64};
  CHECK_TWICE(r.cost().bytes(numeric::u8s8u8) == (40 + 10) * 8);
  CHECK_TWICE(write_key(r) == "10x4-a1-s64");
}

TEST_CASE("reduce: families") {
  static_assert(std::size(reduction_families) ==
                static_cast<std::size_t>(reduction::log_sum_exp) + 1);
  for (std::string_view family : reduction_families) {
    REQUIRE(reduce::of(family));
    CHECK(reduce::of(family)->family() == family);
  }
  CHECK(reduce::of("ReduceL2")->function == reduction::l2);
  CHECK(reduce::of("ReduceLogSumExp")->function == reduction::log_sum_exp);
  CHECK(!reduce::of("ReduceMedian"));
}

TEST_CASE("reduce: what is refused") {
  const auto of = [](shape input, shape axes) { return reduce{.input = input, .axes = axes}; };
  CHECK_REFUSED(of({2, 3}, {2}).validate(), "ascend");
  CHECK_REFUSED(of({2, 3}, {-1}).validate(), "ascend");
  CHECK_REFUSED(of({2, 3}, {1, 0}).validate(), "ascend");
  CHECK_REFUSED(of({2, 3}, {1, 1}).validate(), "ascend");
  CHECK_REFUSED(of({}, {0}).validate(), "ascend");
  CHECK_REFUSED(of({2, -3}, {0}).validate(), "negative");
  CHECK_REFUSED(of({dim_limit, dim_limit}, {0}).validate(), "2^56");
}
