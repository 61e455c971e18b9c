// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/eltwise.hpp>

#include "checks.hpp"

#include <limits>

using namespace benanza;
using namespace benanza::op;

TEST_CASE("unary") {
  constexpr unary u{.input = {1, 64, 56, 56}};
  CHECK_TWICE(u.output() == shape{1, 64, 56, 56});
  CHECK_TWICE(u.cost().other == 200704);
  CHECK_TWICE(u.cost().bytes(numeric::f32) == 1605632);
  CHECK_TWICE(u.cost().bytes(numeric::bf16) == 802816);
  CHECK_TWICE(u.cost().bytes(numeric::u8s8u8) == 401408);
  CHECK_TWICE(u.family() == "Relu");
  CHECK_TWICE(write_key(u) == "1x64x56x56");
  constexpr unary scalar{.function = unary_function::exp};
  CHECK_TWICE(write_key(scalar) == "scalar");
  CHECK_TWICE(scalar.cost().bytes(numeric::f32) == 8);
}

TEST_CASE("unary: operands that are not of the case's type") {
  constexpr unary u{.function = unary_function::neg, .input = {10, 10}, .element = dtype::s64};
  CHECK_TWICE(u.cost().bytes(numeric::f32) == 1600);
  CHECK_TWICE(u.cost().bytes(numeric::u8s8u8) == 1600); // whatever the case's type is
  CHECK_TWICE(u.cost().sources == 0);
  CHECK_TWICE(write_key(u) == "10x10-s64");
  constexpr unary n{
      .function = unary_function::logical_not, .input = {10, 10}, .element = dtype::boolean};
  CHECK_TWICE(n.cost().bytes(numeric::f32) == 200);
  CHECK_TWICE(write_key(n) == "10x10-bool");
}

TEST_CASE("unary and binary: the tables of functions and of families have the same length") {
  static_assert(std::size(unary_families) == static_cast<std::size_t>(unary_function::shrink) + 1);
  static_assert(std::size(binary_families) ==
                static_cast<std::size_t>(binary_function::shift_right) + 1);
  for (std::string_view family : unary_families) {
    REQUIRE(unary::of(family));
    CHECK(unary::of(family)->family() == family);
    CHECK(!binary::of(family));
  }
  for (std::string_view family : binary_families) {
    REQUIRE(binary::of(family));
    CHECK(binary::of(family)->family() == family);
    CHECK(!unary::of(family));
  }
  CHECK(unary::of("Not")->function == unary_function::logical_not);
  CHECK(unary::of("Gelu")->function == unary_function::gelu);
  CHECK(unary::of("FastGelu")->function == unary_function::fast_gelu);
  CHECK(unary::of("Erf")->function == unary_function::erf);
  CHECK(binary::of("PRelu")->function == binary_function::prelu);
  CHECK(binary::of("Xor")->function == binary_function::logical_xor);
  CHECK(binary::of("LessOrEqual")->function == binary_function::less_or_equal);
}

TEST_CASE("unary: IsNaN and IsInf give truth values") {
  constexpr unary u{.function = unary_function::is_nan, .input = {10}};
  CHECK_TWICE(u.results()[0].element == dtype::boolean);
  CHECK_TWICE(u.cost().bytes(numeric::f32) == 50);
  CHECK(!of_reals(unary_function::is_inf));
  CHECK(!of_reals(unary_function::bitwise_not));
  CHECK(of_reals(unary_function::shrink));
}

TEST_CASE("binary: functions of bits keep the type") {
  constexpr binary b{
      .function = binary_function::shift_left, .a = {10}, .b = {1}, .element = dtype::u16};
  CHECK_TWICE(!b.truth());
  CHECK_TWICE(b.results()[0].element == dtype::u16);
  CHECK_TWICE(b.cost().bytes(numeric::f32) == 42);
  CHECK(of_bits(b.function));
  CHECK(!of_bits(binary_function::fmod));
  CHECK(binary{.function = binary_function::logical_and}.truth());
}

TEST_CASE("unary: what is refused") {
  CHECK_REFUSED((unary{.input = {2, -3}}.validate()), "negative");
  CHECK_REFUSED((unary{.input = {dim_limit + 1}}.validate()), "2^40");
  CHECK_REFUSED((unary{.input = {dim_limit, dim_limit}}.validate()), "2^56");
}

TEST_CASE("binary: equal operands") {
  constexpr binary b{.a = {1, 256, 56, 56}, .b = {1, 256, 56, 56}};
  CHECK_TWICE(b.output() == shape{1, 256, 56, 56});
  CHECK_TWICE(b.cost().other == 802816);
  CHECK_TWICE(b.cost().bytes(numeric::f32) == 3 * 3211264);
  CHECK_TWICE(write_key(b) == "1x256x56x56");
  CHECK_TWICE(b.family() == "Add");
}

TEST_CASE("binary: broadcasting") {
  constexpr binary per_channel{
      .function = binary_function::mul, .a = {1, 64, 56, 56}, .b = {1, 64, 1, 1}};
  CHECK_TWICE(per_channel.output() == shape{1, 64, 56, 56});
  CHECK_TWICE(per_channel.cost().other == 200704);
  CHECK_TWICE(per_channel.cost().bytes(numeric::f32) == (200704 + 64 + 200704) * 4);
  CHECK_TWICE(write_key(per_channel) == "1x64x56x56-1x64x1x1");

  constexpr binary both{.a = {3, 1}, .b = {1, 4}};
  CHECK_TWICE(both.output() == shape{3, 4});
  CHECK_TWICE(both.cost().other == 12);
  CHECK_TWICE(both.cost().bytes(numeric::f32) == (3 + 4 + 12) * 4);
  CHECK_TWICE(write_key(both) == "3x1-1x4");

  // The first operand may have fewer dims.
  constexpr binary short_a{.function = binary_function::sub, .a = {4}, .b = {2, 3, 4}};
  CHECK_TWICE(short_a.output() == shape{2, 3, 4});
  CHECK_TWICE(short_a.cost().sources == 28);
  CHECK_TWICE(write_key(short_a) == "4-2x3x4");
}

TEST_CASE("binary: scalars") {
  constexpr binary b = binary{.function = binary_function::div, .a = {2, 3}}.canonical_form();
  CHECK_TWICE(b.b == shape{1});
  CHECK_TWICE(b.output() == shape{2, 3});
  CHECK_TWICE(b.cost().sources == 7);
  CHECK_TWICE(write_key(b) == "2x3-1");
  constexpr binary both = binary{}.canonical_form();
  CHECK_TWICE(write_key(both) == "1");
  CHECK_TWICE(both.cost().bytes(numeric::f32) == 12);
}

TEST_CASE("binary: Sum, Max, Min and Mean of other numbers of operands") {
  constexpr binary b{.function = binary_function::sum, .a = {2, 8}, .b = {2, 8}, .operands = 4};
  CHECK_TWICE(b.cost().sources == 64);
  CHECK_TWICE(b.cost().other == 48); // three additions an element
  CHECK_TWICE(b.cost().results == 16);
  CHECK_TWICE(write_key(b) == "2x8-n4");

  constexpr binary rows{.function = binary_function::max, .a = {2, 8}, .b = {1, 8}, .operands = 3};
  CHECK_TWICE(rows.cost().sources == 32);
  CHECK_TWICE(write_key(rows) == "2x8-1x8-n3");

  constexpr binary one{
      .function = binary_function::mean, .a = {2, 8}, .b = {5, 5, 5}, .operands = 1};
  CHECK_TWICE(one.output() == shape{2, 8});
  CHECK_TWICE(one.cost().sources == 16);
  CHECK_TWICE(one.cost().other == 16);
  CHECK_TWICE(write_key(one.canonical_form()) == "2x8-n1"); // an operand that is not there
}

TEST_CASE("binary: comparisons write truth values of one byte") {
  constexpr binary reals{.function = binary_function::greater, .a = {10}, .b = {10}};
  CHECK_TWICE(reals.comparison());
  CHECK_TWICE(reals.cost().bytes(numeric::f32) == 90);
  CHECK_TWICE(reals.cost().bytes(numeric::f16) == 50);
  CHECK_TWICE(reals.cost().results == 0);
  constexpr binary whole{
      .function = binary_function::equal, .a = {10}, .b = {10}, .element = dtype::s64};
  CHECK_TWICE(whole.cost().bytes(numeric::f32) == 170);
  CHECK_TWICE(write_key(whole) == "10-s64");
  constexpr binary logic{
      .function = binary_function::logical_and, .a = {10}, .b = {10}, .element = dtype::boolean};
  CHECK_TWICE(!logic.comparison());
  CHECK_TWICE(logic.cost().bytes(numeric::f32) == 30);
  CHECK(!binary{.function = binary_function::prelu}.comparison());
  CHECK(binary{.function = binary_function::less_or_equal}.comparison());
}

TEST_CASE("binary: what is refused") {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const auto of = [](binary_function f, shape a, shape b, std::int64_t operands) {
    return binary{.function = f, .a = a, .b = b, .operands = operands};
  };
  using enum binary_function;
  of(sum, {2}, {2}, 1).validate();
  of(mean, {2}, {2}, 100).validate();
  CHECK_REFUSED(of(add, {2, 3}, {2, 4}, 2).validate(), "broadcast");
  CHECK_REFUSED(of(sum, {2}, {2}, 0).validate(), "1 to 2^40");
  CHECK_REFUSED(of(sum, {2}, {2}, -3).validate(), "1 to 2^40");
  CHECK_REFUSED(of(sum, {2}, {2}, std::numeric_limits<std::int64_t>::min()).validate(), "1 to");
  CHECK_REFUSED(of(sum, {2}, {2}, largest).validate(), "1 to 2^40");
  CHECK_REFUSED(of(sum, {1 << 20}, {1 << 20}, dim_limit).validate(), "2^56");
  CHECK_REFUSED(of(add, {2}, {2}, 3).validate(), "two operands");
  CHECK_REFUSED(of(prelu, {2}, {2}, 1).validate(), "two operands");
  CHECK_REFUSED(of(add, {-2}, {-2}, 2).validate(), "negative");
  CHECK_REFUSED(of(add, {1}, {-2}, 2).validate(), "negative");
  CHECK_REFUSED(of(add, {dim_limit, 1}, {1, dim_limit}, 2).validate(), "2^56");
  for (binary_function f : {min, max, sum, mean})
    CHECK(binary{.function = f}.variadic());
  for (binary_function f : {add, sub, mul, div, pow, prelu, equal, logical_xor})
    CHECK(!binary{.function = f}.variadic());
}
