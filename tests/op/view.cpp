// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/view.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("a view costs nothing and keeps its elements") {
  constexpr view v{
      .function = view_function::flatten, .input = {1, 2048, 1, 1}, .result = {1, 2048}};
  CHECK_TWICE(v.output() == shape{1, 2048});
  CHECK_TWICE(v.cost() == work{});
  CHECK_TWICE(v.cost().bytes(numeric::f32) == 0);
  CHECK_TWICE(v.family() == "Flatten");
  CHECK_TWICE(write_key(v) == "1x2048x1x1-1x2048");
}

TEST_CASE("a view's result is left out where it is the input") {
  constexpr view v{.function = view_function::identity, .input = {2, 3}, .result = {2, 3}};
  CHECK_TWICE(write_key(v) == "2x3");
  constexpr view w{
      .function = view_function::dropout, .input = {4}, .result = {4}, .element = dtype::s64};
  CHECK_TWICE(write_key(w) == "4-s64");
}

TEST_CASE("views to and from a scalar") {
  constexpr view to{.function = view_function::squeeze, .input = {1, 1}, .result = {}};
  constexpr view from{.function = view_function::unsqueeze, .input = {}, .result = {1}};
  constexpr view none{};
  to.validate();
  from.validate();
  none.validate();
  CHECK_TWICE(write_key(to) == "1x1-scalar");
  CHECK_TWICE(write_key(from) == "scalar-1");
  CHECK_TWICE(write_key(none) == "scalar");
}

TEST_CASE("a BitCast looks at its elements as others of the same width") {
  constexpr view v{.function = view_function::bit_cast,
                   .input = {2, 3},
                   .result = {2, 3},
                   .element = dtype::f32,
                   .to = dtype::s32};
  v.validate();
  CHECK_TWICE(write_key(v) == "2x3-f32-s32");
  CHECK_TWICE(v.results()[0].element == dtype::s32);
  CHECK_TWICE(v.cost() == work{});
  CHECK(name(parse("BitCast/2x3-f32-s32")) == "BitCast/2x3-f32-s32");
  CHECK(name(parse("BitCast/5-s4-e2m1")) == "BitCast/5-s4-e2m1");
  CHECK_REFUSED(parse("BitCast/2x3-f32-s64"), "same width");
  CHECK_REFUSED(parse("BitCast/2x3-real-s32"), "two types");
  CHECK_REFUSED(parse("BitCast/2x3-s32"), "two types");
  CHECK_REFUSED(parse("BitCast/2x3-6-f32-s32"), "keep its dims");
}

TEST_CASE("view: families") {
  static_assert(std::size(view_families) == static_cast<std::size_t>(view_function::bit_cast) + 1);
  for (std::string_view family : view_families) {
    REQUIRE(view::of(family));
    CHECK(view::of(family)->family() == family);
  }
}

TEST_CASE("view: what is refused") {
  CHECK_REFUSED((view{.input = {2, 3}, .result = {5}}.validate()), "number of elements");
  CHECK_REFUSED((view{.input = {2, 3}, .result = {}}.validate()), "number of elements");
  CHECK_REFUSED((view{.input = {-2, 3}, .result = {2, -3}}.validate()), "negative");
  CHECK_REFUSED((view{.input = {dim_limit, dim_limit}, .result = {1}}.validate()), "2^56");
  const view swapped{.function = view_function::identity, .input = {2, 3}, .result = {3, 2}};
  CHECK_REFUSED(swapped.validate(), "keep its dims");
  const view dropped{.function = view_function::dropout, .input = {2, 3}, .result = {6}};
  CHECK_REFUSED(dropped.validate(), "keep its dims");
  view{.input = {0, 3}, .result = {7, 0}}.validate();
}
