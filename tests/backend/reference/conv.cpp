// SPDX-License-Identifier: Apache-2.0
// Is a convolution what it is by hand, and by what it must equal?
#include "by_hand.hpp"

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::backend::reference;

TEST_CASE("small convolutions, by hand") {
  CHECK(computed("Conv/1x1x3x3-1x2x2-s1", {counted(9), {1, 0, 0, 1}}) ==
        std::vector<double>{6, 8, 12, 14});
  CHECK(computed("Conv/1x1x3x3-1x2x2-s1-b", {counted(9), {1, 0, 0, 1}, {100}}) ==
        std::vector<double>{106, 108, 112, 114});
  CHECK(computed("Conv/1x1x4-1x2-s1-p1x0-d2", {counted(4), {1, 10}}) ==
        std::vector<double>{20, 31, 42});
  CHECK(computed("Conv/1x1x4-1x3-s2-p1", {counted(4), {1, 1, 1}}) == std::vector<double>{3, 9});
  // Two groups: each output channel sees its own input channel.
  CHECK(computed("Conv/1x2x2-4x1-s1-g2", {{1, 2, 3, 4}, {1, 10, 100, 1000}}) ==
        std::vector<double>{1, 2, 10, 20, 300, 400, 3000, 4000});
}

TEST_CASE("small transposed convolutions, by hand") {
  CHECK(computed("ConvTranspose/1x1x2-1x3-s2", {{1, 10}, {1, 2, 3}}) ==
        std::vector<double>{1, 2, 13, 20, 30});
  CHECK(computed("ConvTranspose/1x1x2-1x3-s2-p1x0-op1", {{1, 10}, {1, 2, 3}}) ==
        std::vector<double>{2, 13, 20, 30, 0});
  CHECK(computed("ConvTranspose/1x2x1-2x1-s1-g2-b", {{3, 5}, {10, 100}, {1, 2}}) ==
        std::vector<double>{31, 502});
}

TEST_CASE("small gradients by weights, by hand") {
  CHECK(computed("ConvWeightGradient/1x1x3x3-1x2x2-s1", {counted(9), {1, 0, 0, 10}}) ==
        std::vector<double>{51, 62, 84, 95});
  CHECK(computed("ConvWeightGradient/2x1x4-1x2-s2-p1x0-d2", {counted(8), {1, 10, 100, 1000}}) ==
        std::vector<double>{6020, 8642});
  // Two groups: each weight sees its own input channel.
  CHECK(computed("ConvWeightGradient/1x2x2-4x1-s1-g2", {counted(4), {1, 0, 0, 1, 1, 0, 0, 1}}) ==
        std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("the gradient by weights is that of its convolution") {
  // <dy, conv(x, w)> == <gradient(x, dy), w> for any dy.
  const auto conv = op::parse("Conv/2x6x7x6-4x3x2-s2x1-p1x0x1x1-d1x2-g2"),
             by = op::parse("ConvWeightGradient/2x6x7x6-4x3x2-s2x1-p1x0x1x1-d1x2-g2");
  const operands o = make_operands(conv, numeric::f32);
  operands other = make_operands(by, numeric::f32);
  other.inputs[0].bytes = o.inputs[0].bytes;
  const auto forward = outputs(conv, o), gradient = outputs(by, other);
  double left = 0, right = 0;
  for (std::size_t i = 0; i < forward.size(); ++i)
    left += forward[i] * static_cast<double>(other.inputs[1].as<float>()[i]);
  for (std::size_t i = 0; i < gradient.size(); ++i)
    right += gradient[i] * static_cast<double>(o.inputs[1].as<float>()[i]);
  CHECK(left == doctest::Approx(right));
}

TEST_CASE("a convolution of one tap is a matrix product") {
  const auto conv = op::parse("Conv/1x5x3x4-6x1x1-s1"), product = op::parse("MatMul/6x5-5x12");
  const operands o = make_operands(conv, numeric::f32);
  operands swapped;
  swapped.inputs = {o.inputs[1], o.inputs[0]};
  const auto a = outputs(conv, o), b = outputs(product, swapped);
  for (std::size_t i = 0; i < a.size(); ++i)
    CHECK(a[i] == doctest::Approx(b[i]));
}

TEST_CASE("a depthwise convolution works channel by channel") {
  const auto depthwise = op::parse("Conv/1x4x5x5-4x3x3-s1-p1-g4");
  const auto one = op::parse("Conv/1x1x5x5-1x3x3-s1-p1");
  const operands o = make_operands(depthwise, numeric::f32);
  const auto all = outputs(depthwise, o);
  for (std::size_t c = 0; c < 4; ++c) {
    operands single;
    for (const tensor& t : o.inputs) {
      tensor part = t;
      const std::size_t bytes = t.bytes.size() / 4;
      part.bytes.assign(t.bytes.begin() + static_cast<std::ptrdiff_t>(c * bytes),
                        t.bytes.begin() + static_cast<std::ptrdiff_t>((c + 1) * bytes));
      single.inputs.push_back(part);
    }
    const auto channel = outputs(one, single);
    for (std::size_t i = 0; i < 25; ++i)
      CHECK(all[c * 25 + i] == channel[i]);
  }
}

TEST_CASE("a transposed convolution is the transpose of its convolution") {
  // <y, conv(x)> == <transposed(y), x> for the same weights.
  const auto conv = op::parse("Conv/1x3x7x6-4x3x2-s2x1-p1x0x1x1-d1x2");
  const operands o = make_operands(conv, numeric::f32);
  const auto forward = outputs(conv, o);
  const shape out = op::output(conv);
  op::conv_transpose back{.input = out,
                          .outputs = 3,
                          .kernel = {3, 2},
                          .strides = {2, 1},
                          .pads = {1, 0, 1, 1},
                          .dilations = {1, 2}};
  REQUIRE(back.output() == shape{1, 3, 7, 6});
  operands other = make_operands(op::layer(back), numeric::f32);
  other.inputs[1].bytes = o.inputs[1].bytes;
  const auto backward = outputs(op::layer(back), other);
  double left = 0, right = 0;
  for (std::size_t i = 0; i < forward.size(); ++i)
    left += forward[i] * static_cast<double>(other.inputs[0].as<float>()[i]);
  for (std::size_t i = 0; i < backward.size(); ++i)
    right += backward[i] * static_cast<double>(o.inputs[0].as<float>()[i]);
  CHECK(left == doctest::Approx(right));
}
