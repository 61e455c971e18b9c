// SPDX-License-Identifier: Apache-2.0
// Do functions of elements read in C as their formulas say, in each type that kernels compute with?
#include <benanza/backend/cuda/source/function.hpp>
#include <doctest/doctest.h>

namespace test_of_functions_in_c {
using namespace benanza;
using namespace benanza::backend::cuda::source;
using op::binary_function, op::unary_function;

TEST_CASE("a function of elements in C: literals are of its type, operations in their order") {
  const arithmetic f32 = *arithmetic_of(dtype::f32), f64 = *arithmetic_of(dtype::f64),
                   s32 = *arithmetic_of(dtype::s32);
  CHECK(expression_of(unary_function::hard_swish, "v", f32) ==
        "(v * fminf(fmaxf(((v / 6.0f) + 0.5f), 0.0f), 1.0f))");
  CHECK(expression_of(unary_function::relu, "v", f64) == "((v < 0.0) ? 0.0 : v)");
  CHECK(expression_of(unary_function::sign, "v", s32) == "((v > 0) - (v < 0))");
  CHECK(expression_of(binary_function::prelu, "a", "b", f32) == "((a < 0.0f) ? (a * b) : a)");
  CHECK(expression_of(binary_function::mod, "a", "b", f32) == "(a - (b * floorf((a / b))))");
  CHECK(expression_of(binary_function::pow, "a", "b", s32) == "whole_power(a, b)");
}

TEST_CASE("whole numbers have functions of their own, and lack those of real ones") {
  const arithmetic f32 = *arithmetic_of(dtype::f32), s64 = *arithmetic_of(dtype::s64);
  for (std::size_t i = 0; i < std::size(op::unary_families); ++i) {
    const auto f = static_cast<unary_function>(i);
    CAPTURE(op::unary_families[i]);
    CHECK(expression_of(f, "v", f32).has_value() == (f != unary_function::bitwise_not));
  }
  CHECK(!expression_of(unary_function::exp, "v", s64));
  CHECK(expression_of(unary_function::bitwise_not, "v", s64) == "(~v)");
  CHECK(expression_of(unary_function::floor, "v", s64) == "v");
}
} // namespace test_of_functions_in_c
