// SPDX-License-Identifier: Apache-2.0
// Do images, regions, windows and signals become the right layers?
#include "text_model.hpp"

#include <doctest/doctest.h>

using namespace benanza::test;
namespace bonnx = benanza::onnx;

TEST_CASE("GridSample and AffineGrid") {
  const char* const in = "float[1,3,8,9] x, float[1,5,6,2] g, float[1,2,3] t";
  const auto layer = [&](std::string_view node, int opset = 20) {
    return last_layer(opset, in, node, "int64[4] s = {1,3,5,6}");
  };
  CHECK(layer("y = GridSample(x, g)") == "GridSample/1x3x8x9-5x6-linear");
  CHECK(
      layer(
          "y = GridSample<mode = \"bicubic\", padding_mode = \"border\", align_corners = 1>(x, g)",
          16) == "GridSample/1x3x8x9-5x6-cubic-border-align_corners");
  CHECK(layer("y = GridSample<mode = \"nearest\", padding_mode = \"reflection\">(x, g)") ==
        "GridSample/1x3x8x9-5x6-reflection");
  CHECK(dims_of_y(20, "float[1,2,3,4,5] x, float[1,2,2,2,3] g", "y = GridSample(x, g)") ==
        "1x2x2x2x2");
  CHECK_SAYS(layer("y = GridSample<mode = \"best\">(x, g)"), "its mode");
  CHECK_SAYS(layer("y = GridSample<padding_mode = \"best\">(x, g)"), "its padding_mode");
  CHECK_SAYS(layer("y = GridSample(g, x)"), "do not fit");
  CHECK(layer("y = AffineGrid<align_corners = 1>(t, s)") == "AffineGrid/1x5x6-align_corners");
  CHECK_SAYS(layer("y = AffineGrid(x, s)"), "its maps");
}

TEST_CASE("regions of images") {
  const char* const in = "float[1,3,20,30] x, float[7,4] r, float[7,5] q, int64[7] b";
  const auto layer = [&](std::string_view node, int opset = 16) {
    return last_layer(opset, in, node);
  };
  CHECK(layer("y = RoiAlign<output_height = 7, output_width = 5, sampling_ratio = 2>(x, r, b)") ==
        "RoiAlign/1x3x20x30-7x7x5-n2-half_pixel");
  CHECK(layer("y = RoiAlign<mode = \"max\">(x, r, b)", 10) == "RoiAlign/1x3x20x30-7x1x1-max");
  CHECK_SAYS(layer("y = RoiAlign(x, q, b)"), "do not fit");
  CHECK_SAYS(layer("y = RoiAlign<mode = \"best\">(x, r, b)"), "its mode");
  CHECK(layer("y = MaxRoiPool<pooled_shape = [3, 2]>(x, q)") == "MaxRoiPool/1x3x20x30-7x3x2");
  CHECK_SAYS(layer("y = MaxRoiPool<pooled_shape = [3, 2]>(x, r)"), "five numbers");
}

TEST_CASE("NonMaxSuppression is a layer that keeps as many as it may") {
  const auto layer = [](std::string_view node, const bonnx::options& o = {}) {
    return last_layer(11, "float[1,30,4] x, float[1,5,30] s", node,
                      "int64 m = {6}, float t = {0.5}", o);
  };
  CHECK(layer("y = NonMaxSuppression<center_point_box = 1>(x, s, m, t)") ==
        "NonMaxSuppression/1x30x5-most6-centred");
  CHECK(layer("y = NonMaxSuppression(x, s)") == "NonMaxSuppression/1x30x5-most0");
  CHECK(dims_of_y(11, "float[1,30,4] x, float[1,5,30] s", "y = NonMaxSuppression(x, s, m)",
                  "int64 m = {6}", {.sizes = bonnx::data_dependent::largest}) == "30x3");
  CHECK(layer("a = NonMaxSuppression(x, s, m) y = Neg(a)",
              {.sizes = bonnx::data_dependent::largest}) == "Neg/30x3-s64");
  CHECK(layer("y = NonMaxSuppression(x, s, m)", {.sizes = bonnx::data_dependent::largest}) ==
        "NonMaxSuppression/1x30x5-most6");
  CHECK_SAYS(layer("a = NonMaxSuppression(x, s, m) y = Neg(a)"), "since NonMaxSuppression");
  CHECK_SAYS(layer("y = NonMaxSuppression(s, x)"), "do not fit");
  CHECK_SAYS(layer("y = NonMaxSuppression(x, s, t)"), "whole numbers");
}

TEST_CASE("columns, offsets, places, norms") {
  CHECK(last_layer(18, "float[1,12,20] x", "y = Col2Im<strides = [2,2]>(x, s, k)",
                   "int64[2] s = {8,10}, int64[2] k = {2,2}") == "Col2Im/1x3x8x10-2x2-s2");
  CHECK_SAYS(last_layer(18, "float[1,13,20] x", "y = Col2Im<strides = [2,2]>(x, s, k)",
                        "int64[2] s = {8,10}, int64[2] k = {2,2}"),
             "does not divide");
  CHECK_SAYS(last_layer(18, "float[1,12,21] x", "y = Col2Im<strides = [2,2]>(x, s, k)",
                        "int64[2] s = {8,10}, int64[2] k = {2,2}"),
             "not 1x12x20");
  const char* const deformed = "float[1,4,9,9] x, float[1,36,7,7] o, float[1,18,7,7] m";
  CHECK(last_layer(19, deformed, "y = DeformConv<offset_group = 2>(x, w, o, , m)",
                   "float[5,4,3,3] w") == "DeformConv/1x4x9x9-5x3x3-s1-og2-mask");
  CHECK(last_layer(19, deformed, "y = DeformConv<offset_group = 2>(x, w, o, b)",
                   "float[5,4,3,3] w, float[5] b") == "DeformConv/1x4x9x9-5x3x3-s1-og2-b");
  CHECK_SAYS(last_layer(19, deformed, "y = DeformConv(x, w, o)", "float[5,4,3,3] w"),
             "not 1x18x7x7");
  const char* const pooled = "float[1,1,2,2] x, int64[1,1,2,2] i";
  CHECK(last_layer(11, pooled, "y = MaxUnpool<kernel_shape = [2,2], strides = [2,2]>(x, i)") ==
        "MaxUnpool/1x1x2x2-1x1x4x4");
  CHECK(last_layer(11, pooled, "y = MaxUnpool<kernel_shape = [2,2], strides = [2,2]>(x, i, s)",
                   "int64[4] s = {1,1,5,5}") == "MaxUnpool/1x1x2x2-1x1x4x4-1x1x5x5");
  CHECK_SAYS(last_layer(11, pooled, "y = MaxUnpool<kernel_shape = [2,2]>(x, i, s)",
                        "int64[4] s = {1,1,2,5}"),
             "less than it puts back");
  CHECK(last_layer(18, "float[1,2,8,8] x", "y = LpPool<kernel_shape = [3,3], p = 3>(x)") ==
        "LpPool/1x2x8x8-power3-3x3-s1");
  CHECK(last_layer(18, "float[1,2,8,8] x", "y = GlobalLpPool(x)") == "GlobalLpPool/1x2x8x8");
}

TEST_CASE("signals and matrices") {
  CHECK(last_layer(17, "float[1,16,1] x", "y = DFT<onesided = 1>(x)") == "DFT/1x16x1-a1-n16-one");
  CHECK(last_layer(20, "float[1,16,2] x", "y = DFT<inverse = 1>(x, n, a)",
                   "int64 n = {32}, int64 a = {0}") == "DFT/1x16x2-a0-n32-inverse");
  CHECK(last_layer(20, "float[1,9,2] x", "y = DFT<inverse = 1, onesided = 1>(x)") ==
        "DFT/1x9x2-a1-n16-inverse-one");
  CHECK_SAYS(last_layer(20, "float[1,16,3] x", "y = DFT(x)"), "one or two parts");
  CHECK_SAYS(last_layer(20, "float[1,16,2] x", "y = DFT(x, , a)", "int64 a = {2}"), "axis");
  CHECK(dims_of_y(17, "float[1,128,1] x", "y = STFT(x, s, w)", "int64 s = {8}, float[16] w") ==
        "1x15x9x2");
  CHECK(last_layer(17, "float[1,128,1] x", "y = STFT(x, s, , n)",
                   "int64 s = {8}, int64 n = {16}") == "DFT/1x15x16x1-a2-n16-one");
  CHECK_SAYS(
      last_layer(17, "float[1,12,1] x", "y = STFT(x, s, , n)", "int64 s = {8}, int64 n = {16}"),
      "do not fit");
  CHECK(last_layer(11, "float[1,4,4] x", "y = Det(x)") == "Det/1x4x4");
  CHECK_SAYS(last_layer(11, "float[1,4,5] x", "y = Det(x)"), "square");
  CHECK(dims_of_y(17, "float[1,10] x", "w = HannWindow(n) y = Mul(x, w)", "int64 n = {10}") ==
        "1x10");
  CHECK(dims_of_y(17, "float[1,129] x", "w = MelWeightMatrix(b, n, r, l, h) y = MatMul(x, w)",
                  "int64 b = {8}, int64 n = {256}, int64 r = {8000}, float l = {0}, float h = "
                  "{4000}") == "1x8");
}

TEST_CASE("CenterCropPad is a Slice and a Pad") {
  const auto layer = [](std::string_view node, std::string_view shape) {
    return last_layer(18, "float[1,20,7] x", node, shape);
  };
  CHECK(layer("y = CenterCropPad(x, s)", "int64[3] s = {1,10,10}") == "Pad/1x10x7-b0x0x1-e0x0x2");
  CHECK(layer("y = CenterCropPad<axes = [1]>(x, s)", "int64[1] s = {9}") ==
        "Slice/1x20x7-1x9x7-from0x5x0");
  CHECK_SAYS(layer("y = CenterCropPad<axes = [1]>(x, s)", "int64[2] s = {9, 9}"), "its axes");
}

TEST_CASE("BatchNormalization that trains is its definition") {
  const auto layer = [](std::string_view node) {
    return last_layer(15, "float[1,3,4] x", node, "float[3] s, float[3] b, float[3] m, float[3] v");
  };
  CHECK(layer("y = BatchNormalization(x, s, b, m, v)") == "BatchNormalization/1x3x4");
  CHECK_SAYS(layer("y, r, q = BatchNormalization<training_mode = 1>(x, s, b, m, v)"), "Add/3");
  CHECK(dims_of_y(15, "float[1,3,4] x",
                  "a, y, q = BatchNormalization<training_mode = 1>(x, s, b, m, v)",
                  "float[3] s, float[3] b, float[3] m, float[3] v") == "3");
}
