// SPDX-License-Identifier: Apache-2.0
// Is the form of a layer equal where the work is, and only there?
#include <benanza/trace/form.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace test_of_form {
using benanza::op::parse;
using benanza::trace::form;
using benanza::trace::form_of;

form of(std::string_view name) {
  return form_of(parse(name));
}
bool same(std::string_view a, std::string_view b) {
  return of(a).base == of(b).base;
}

TEST_CASE("convolutions: padding beforehand, bias, dims that do nothing") {
  CHECK(same("Conv/1x64x56x56-64x3x3-s1-p1", "Conv/1x64x56x56-64x3x3-s1-p1-b"));
  CHECK(same("Conv/1x64x56x56-64x3x3-s1-p1", "Conv/1x64x58x58-64x3x3-s1"));
  CHECK(same("Conv/1x3x224x224-64x3x3-s2-p0x0x1x1", "Conv/1x3x225x225-64x3x3-s2"));
  CHECK(same("Conv/1x8x100-16x5-s1-p2", "Conv/1x8x1x100-16x1x5-s1-p0x2x0x2"));
  CHECK(of("Conv/1x64x56x56-64x3x3-s1-p1-b").bias == true);
  CHECK(of("Conv/1x64x56x56-64x3x3-s1-p1").bias == false);
  for (const char* other : {"Conv/2x64x56x56-64x3x3-s1-p1", "Conv/1x32x56x56-64x3x3-s1-p1",
                            "Conv/1x64x56x56-32x3x3-s1-p1", "Conv/1x64x56x56-64x5x5-s1-p1",
                            "Conv/1x64x56x56-64x3x3-s2-p1", "Conv/1x64x56x56-64x3x3-s1",
                            "Conv/1x64x56x56-64x3x3-s1-p1-d2", "Conv/1x64x56x56-64x3x3-s1-p1-g64",
                            "ConvTranspose/1x64x56x56-64x3x3-s1-p1"}) {
    CAPTURE(other);
    CHECK_FALSE(same("Conv/1x64x56x56-64x3x3-s1-p1", other));
  }
  CHECK(same("ConvTranspose/1x64x28x28-32x4x4-s2-p1", "ConvTranspose/1x64x28x28-32x4x4-s2-p1-b"));
  CHECK_FALSE(
      same("ConvTranspose/1x64x28x28-32x4x4-s2-p1", "ConvTranspose/1x64x28x28-32x4x4-s2-p1-op1"));
}

TEST_CASE("products: rows of a batch are rows, transposes and third operands do not count") {
  CHECK(same("Gemm/128x3072x768-tb", "Gemm/128x3072x768-c1x3072-w"));
  CHECK(same("Gemm/128x3072x768", "MatMul/1x128x768-768x3072-w"));
  CHECK(same("Gemm/1024x3072x768", "MatMul/8x128x768-768x3072"));
  CHECK(same("MatMul/1x12x128x64-1x12x64x128", "MatMul/12x128x64-12x64x128"));
  CHECK_FALSE(same("MatMul/12x128x64-12x64x128", "MatMul/12x128x64-64x128"));
  CHECK_FALSE(same("Gemm/128x3072x768", "Gemm/3072x128x768"));
  CHECK(of("Gemm/128x3072x768-c1x3072").bias == true);
  CHECK_FALSE(of("Gemm/128x3072x768").bias);
  CHECK(of("MatMul/1x128x768-768x3072").bias == false);
}

TEST_CASE("poolings over everything are global ones") {
  CHECK(same("GlobalAveragePool/1x64x7x7", "AveragePool/1x64x7x7-7x7-s1"));
  CHECK(same("GlobalAveragePool/1x64x7x7", "AveragePool/1x64x7x7-7x7-s7"));
  CHECK_FALSE(same("GlobalAveragePool/1x64x7x7", "GlobalMaxPool/1x64x7x7"));
  CHECK_FALSE(same("AveragePool/1x64x7x7-3x3-s1-p1", "AveragePool/1x64x7x7-3x3-s1-p1-ip"));
  CHECK_FALSE(same("MaxPool/1x64x56x56-3x3-s2", "MaxPool/1x64x56x56-3x3-s2-ceil"));
}

TEST_CASE("softmax, normalizations and elementwise functions by what they go over") {
  CHECK(same("Softmax/1x1000-a1", "Softmax/1x1000x1x1-a1"));
  CHECK(same("Softmax/2x12x128x128-a3", "Softmax/3072x128-a1"));
  CHECK_FALSE(same("Softmax/2x21x32-a1", "Softmax/2x32x21-a1"));
  CHECK_FALSE(same("Softmax/1x1000-a1", "LogSoftmax/1x1000-a1"));
  CHECK(same("BatchNormalization/1x64x56x56", "BatchNormalization/1x64x3136"));
  CHECK_FALSE(same("BatchNormalization/1x64x56x56", "BatchNormalization/64x1x56x56"));
  CHECK(same("Relu/1x64x56x56", "Relu/200704"));
  CHECK_FALSE(same("Relu/1x64x56x56", "Tanh/1x64x56x56"));
  CHECK(same("Add/1x64x56x56-1x64x1x1", "Add/1x64x1x1-1x64x56x56"));
  CHECK(same("Add/1x64x56x56", "Sum/1x64x56x56"));
  CHECK_FALSE(same("Sub/1x64x56x56-1x64x1x1", "Sub/1x64x1x1-1x64x56x56"));
  CHECK_FALSE(same("Add/1x64x56x56", "Mul/1x64x56x56"));
  CHECK(same("Transpose/2x3x4-o1x0x2", "Transpose/2x3x4-o1x0x2"));
  CHECK_FALSE(same("Transpose/2x3x4-o1x0x2", "Transpose/2x3x4-o2x0x1"));
}

TEST_CASE("steps are separate from the work they are done on") {
  const form f = of("Conv+Add+Relu/1x64x56x56-64x3x3-s1-p1-b");
  CHECK(f.base == of("Conv/1x64x56x56-64x3x3-s1-p1").base);
  CHECK(f.bias == true);
  REQUIRE(f.steps.size() == 2);
  using benanza::trace::same_step;
  using s = benanza::op::step;
  using j = benanza::op::binary_function;
  CHECK(same_step(f.steps[0], s(j::sum, {1, 64, 1, 1})));
  CHECK_FALSE(same_step(f.steps[0], s(j::mul)));
  CHECK_FALSE(same_step(f.steps[0], f.steps[1]));
  CHECK(same_step(f.steps[1], s(benanza::op::unary_function::relu)));
  CHECK_FALSE(same_step(f.steps[1], s(benanza::op::unary_function::clip)));
}

} // namespace test_of_form
