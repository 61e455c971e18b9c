// SPDX-License-Identifier: Apache-2.0
#include "agreement.hpp"

#include <doctest/doctest.h>

using onednn_test::check_all;

TEST_CASE("onednn: convolutions agree with the reference") {
  check_all({"Conv/1x16x9x9-32x3x3-s1-p1", "Conv/1x64x14x14-64x3x3-s1-p1-b",
             "Conv/2x3x17x19-8x5x5-s2-p2x1x0x1-b", "Conv/1x16x12x12-16x3x3-s1-p2-d2",
             "Conv/1x16x9x9-32x3x3-s2-p0x0x1x1", "Conv/1x16x11x11-8x1x7-s1-p0x3",
             "Conv/1x16x11x11-8x7x1-s1-p3x0", "Conv/1x17x7x7-19x1x1-s1",
             "Conv/1x32x14x14-64x1x1-s2-b", "Conv/2x8x30-16x3-s1-p1", "Conv/1x8x20-16x3-s1-p4-d4",
             "Conv/1x8x6x7x8-16x3x3x3-s1-p1"});
}

TEST_CASE("onednn: a convolution of one column is offered as one of a row too") {
  check_all({"Conv/2x16x33x1-24x5x1-s2x1-p1x0x2x0-b", "Conv/1x8x20x1-8x3x1-s1-d2x1-g2",
             "Conv+Relu/1x16x40x1-16x3x1-s1-p1x0x1x0-b"});
  backend::onednn::library lib;
  const auto turned = [&lib](const char* layer) {
    const auto all = lib.enumerate(op::parse(layer), numeric::f32, {.threads = 1});
    return std::count_if(all.begin(), all.end(),
                         [](const auto& a) { return a.id.starts_with("turned:"); });
  };
  CHECK(turned("Conv/1x16x64x1-16x5x1-s1") > 0);
  CHECK(turned("Conv+Relu/1x16x64x1-16x5x1-s1") > 0);
  for (const char* layer : {"Conv/1x16x64x2-16x5x1-s1", "Conv/1x16x1x64-16x1x5-s1",
                            "Conv/1x16x64x1-16x5x3-s1-p0x1x0x1", "Conv+Add/1x16x64x1-16x5x1-s1"})
    CHECK_MESSAGE(turned(layer) == 0, layer);
}

TEST_CASE("onednn: grouped and depthwise convolutions agree with the reference") {
  check_all({"Conv/1x32x10x10-32x3x3-s1-p1-g32", "Conv/1x32x10x10-32x3x3-s2-p0x0x1x1-g32-b",
             "Conv/1x24x10x10-24x3x3-s1-p1-g24", "Conv/1x32x8x8-64x3x3-s1-p1-g4",
             "Conv/1x16x8x8-32x3x3-s1-p1-g16"});
}

TEST_CASE("onednn: transposed convolutions agree with the reference") {
  check_all({"ConvTranspose/1x16x7x7-8x3x3-s2-p1-op1", "ConvTranspose/1x16x7x7-8x2x2-s2-b",
             "ConvTranspose/1x16x7x7-32x3x3-s1-p1-g4-b", "ConvTranspose/1x8x9-4x4-s2-p1",
             "ConvTranspose/1x4x4x4x4-8x3x3x3-s2-p1-op1", "ConvTranspose/1x16x7x7-16x4x4-s2-p1-g16",
             "ConvTranspose/1x8x7x7-8x3x3-s1-p1-d2", "ConvTranspose/1x8x7x5-8x3x3-s2-p0x1x1x0",
             "ConvTranspose/1x32x14x14-32x3x3-s1-p1"});
}

TEST_CASE("onednn: gradients by weights agree with the reference") {
  check_all(
      {"ConvWeightGradient/2x16x9x9-32x3x3-s1-p1", "ConvWeightGradient/1x3x17x19-8x5x5-s2-p2x1x0x1",
       "ConvWeightGradient/1x32x10x10-32x3x3-s2-p1-g32", "ConvWeightGradient/2x32x8x8-64x1x1-s1-g4",
       "ConvWeightGradient/2x8x30-16x3-s1-p1", "ConvWeightGradient/1x8x20-16x3-s1-p4-d4",
       "ConvWeightGradient/1x8x6x7x8-16x3x3x3-s1-p1"});
}
