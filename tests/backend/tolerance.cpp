// SPDX-License-Identifier: Apache-2.0
// Does the comparison let through what rounding explains, and nothing else?
#include <benanza/backend/tolerance.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace benanza;
using namespace benanza::backend;

namespace {
std::vector<double> wave(std::size_t n) {
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i)
    v[i] = std::sin(static_cast<double>(i)) * 0.8;
  return v;
}
} // namespace

TEST_CASE("one wrong element is found, and where") {
  for (const char* name :
       {"Conv/1x64x10x10-10x3x3-s1-p1", "Gemm/10x100x4096", "Softmax/10x100-a1", "Relu/1000",
        "Gelu/1000", "FastGelu/1000", "Add/1000", "Transpose/10x100-o1x0",
        "AveragePool/1x10x20x20-2x2-s2", "ReduceMean/1000x50-a1", "LayerNormalization/10x100-a1-b",
        "RMSNormalization/10x100-a1", "GroupNormalization/10x4x25-g2",
        "InstanceNormalization/10x4x25", "Attention/1x10x10x10-k64"})
    for (numeric t : {numeric::f32, numeric::tf32, numeric::bf16, numeric::f16, numeric::e4m3}) {
      const op::layer l = op::parse(name);
      const auto expected = wave(1000);
      auto got = expected;
      CHECK(compare(l, t, expected, got).ok);
      CHECK(compare(l, t, expected, got).worst == 0);
      got[637] += 0.3;
      const verdict v = compare(l, t, expected, got);
      CHECK_MESSAGE(!v.ok, name << ' ' << std::string(benanza::name(t)));
      CHECK(v.where == 637);
      got = expected;
      got[3] = std::numeric_limits<double>::quiet_NaN();
      CHECK_FALSE(compare(l, t, expected, got).ok);
      got[3] = std::numeric_limits<double>::infinity();
      CHECK_FALSE(compare(l, t, expected, got).ok);
    }
}

TEST_CASE("what is interpolated may be off by the rounding of its place") {
  const auto expected = wave(900);
  auto got = expected;
  got[637] += 1.7e-6; // as a library placed columns of 32 in f32
  CHECK(compare(op::parse("Resize/1x1x32x32-1x1x30x30-linear"), numeric::f32, expected, got).ok);
  CHECK(compare(op::parse("GridSample/1x1x32x32-30x30-linear"), numeric::f32, expected, got).ok);
  got[637] += 1e-4;
  CHECK_FALSE(
      compare(op::parse("Resize/1x1x32x32-1x1x30x30-linear"), numeric::f32, expected, got).ok);
}

TEST_CASE("a softmax over millions of elements may round its sum, a short one may not") {
  const auto expected = wave(1000);
  auto got = expected;
  for (double& v : got)
    v *= 1 + 1.05e-4; // what a sum of 3,040,000 exponentials in f32 was seen to lose
  CHECK(compare(op::parse("Softmax/1x3040000-a1"), numeric::f32, expected, got).ok);
  CHECK_FALSE(compare(op::parse("Softmax/1x1000-a1"), numeric::f32, expected, got).ok);
}

TEST_CASE("a softmax of logits far apart may have zero below the normal numbers, and no other") {
  // As a model of random weights had them: the largest logit was not among the places looked at.
  const op::layer l = op::parse("Softmax/1x1000-a1");
  const std::vector<double> expected{1.26e-73, 7.54954346e-41, 4.9210857e-38, 2.4e-30};
  const auto with = [&](std::size_t at, double v) {
    std::vector<double> got{0, 0, 4.92108723e-38, 2.4e-30};
    got[at] = v;
    return compare(l, numeric::f32, expected, got).ok;
  };
  CHECK(with(0, 0));
  CHECK(with(1, 7.55e-41));
  for (const double wrong : {0., 2.2e-30, 2.4e-27, 1., 1. / 1000})
    CHECK_FALSE(with(3, wrong));
  const std::vector<double> normal{4.9210857e-38}, none{0};
  CHECK_FALSE(compare(l, numeric::f32, normal, none).ok);
  CHECK(what_differs(313, 0, 7.54954346e-41, {.ok = false, .worst = 861}) ==
        "output 313 is 0 and should be 7.54954346e-41 (861 times the tolerance)");
}

TEST_CASE("the noise of each type passes") {
  const auto expected = wave(1000);
  const auto noisy = [&](double relative) {
    auto got = expected;
    for (std::size_t i = 0; i < got.size(); ++i)
      got[i] += (i % 2 ? 1 : -1) * relative * 0.57;
    return got;
  };
  const op::layer conv = op::parse("Conv/1x64x10x10-10x3x3-s1-p1");
  CHECK(compare(conv, numeric::f32, expected, noisy(1e-5)).ok); // Winograd's worst of a thousand
  CHECK_FALSE(compare(conv, numeric::f32, expected, noisy(1e-3)).ok);
  auto rounded = expected;
  for (double& v : rounded)
    v = std::round(v * 256) / 256 * (1 + 0x1p-10);
  CHECK_FALSE(compare(conv, numeric::f32, expected, rounded).ok);
  const op::layer mover = op::parse("Transpose/10x100-o1x0");
  CHECK_FALSE(compare(mover, numeric::bf16, expected, noisy(1e-7)).ok);
}

TEST_CASE("quantised results may differ by one, moved ones not at all") {
  const std::vector<double> expected{3, 200, 0}, near{4, 199, 0}, far{5, 200, 0};
  const op::layer conv = op::parse("Conv/1x64x10x10-10x3x3-s1-p1");
  CHECK(compare(conv, numeric::u8s8u8, expected, near).ok);
  CHECK_FALSE(compare(conv, numeric::u8s8u8, expected, far).ok);
  CHECK_FALSE(compare(op::parse("Slice/5-3"), numeric::u8s8u8, expected, near).ok);
  CHECK_FALSE(compare(op::parse("MaxPool/1x3x8x8-2x2-s2"), numeric::u8s8u8, expected, near).ok);
  CHECK_FALSE(compare(op::parse("Add/3-s64"), numeric::u8s8u8, expected, near).ok);
}

TEST_CASE("limits are those that results are compared by") {
  const op::layer l = op::parse("MatMul/2x3-3x2-w");
  const std::vector<std::int64_t> places{0, 1, 3};
  const std::vector<double> expected{1, -2, 4};
  const std::vector<double> allowed = limits(l, numeric::f32, places, expected);
  std::vector<double> inside = expected, outside = expected;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    inside[i] += 0.99 * allowed[i];
    outside[i] += i == 1 ? 1.01 * allowed[i] : 0;
  }
  CHECK(compare(l, numeric::f32, places, expected, inside).ok);
  CHECK_FALSE(compare(l, numeric::f32, places, expected, outside).ok);
}

TEST_CASE("what cannot be compared is refused") {
  const std::vector<double> two{1, 2}, three{1, 2, 3}, none;
  const op::layer l = op::parse("Relu/3");
  CHECK_THROWS_AS(compare(l, numeric::f32, two, three), error);
  CHECK(compare(l, numeric::f32, none, none).ok);
  const std::vector<double> endless{std::numeric_limits<double>::infinity(), 1, 2};
  CHECK(compare(l, numeric::f32, endless, endless).ok);
  const std::vector<double> undefined{std::nan(""), 1, 2};
  CHECK_FALSE(compare(l, numeric::f32, undefined, undefined).ok);
}
