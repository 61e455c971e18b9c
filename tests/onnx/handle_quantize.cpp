// SPDX-License-Identifier: Apache-2.0
#include "text_model.hpp"

using namespace benanza::test;

TEST_CASE("QuantizeLinear and DequantizeLinear: types, axes, blocks, zero points") {
  const char* const in = "float[1,8,4,4] x";
  CHECK(last_layer(13, in, "y = QuantizeLinear(x, s, z)", "float s, uint8 z = {0}") ==
        "QuantizeLinear/1x8x4x4-u8");
  CHECK(last_layer(13, in, "y = QuantizeLinear(x, s, z)", "float s, uint8 z = {128}") ==
        "QuantizeLinear/1x8x4x4-u8-z");
  CHECK(last_layer(13, in, "y = QuantizeLinear(x, s, z)", "float[8] s, int8[8] z") ==
        "QuantizeLinear/1x8x4x4-s8-a1-z");
  CHECK(last_layer(10, in, "y = QuantizeLinear(x, s)", "float s") == "QuantizeLinear/1x8x4x4-u8");
  CHECK(last_layer(21, in, "y = QuantizeLinear<output_dtype = 5>(x, s)", "float[1] s") ==
        "QuantizeLinear/1x8x4x4-s16");
  CHECK(last_layer(21, "float[3,8] x", "y = QuantizeLinear<block_size = 4>(x, s)", "float[3,2] s",
                   {.batch = 3}) == "QuantizeLinear/3x8-u8-a1-k4");
  CHECK(last_layer(13, "uint8[1,8] x", "y = DequantizeLinear<axis = -1>(x, s)", "float[8] s") ==
        "DequantizeLinear/1x8-u8-a1");
  CHECK_SAYS(last_layer(13, in, "y = QuantizeLinear(x, s)", "float[7] s"), "not 8");
  const auto codes = [&](int type) {
    return last_layer(
        25, in, "y = QuantizeLinear<output_dtype = " + std::to_string(type) + ">(x, s)", "float s");
  };
  CHECK(codes(22) == "QuantizeLinear/1x8x4x4-s4");
  CHECK(codes(23) == "QuantizeLinear/1x8x4x4-e2m1");
  CHECK(codes(25) == "QuantizeLinear/1x8x4x4-u2");
  CHECK(codes(20) == "QuantizeLinear/1x8x4x4-e5m2z");
  CHECK_SAYS(codes(24), "whole numbers or floats of 8");
  CHECK_SAYS(codes(27), "float6e2m3, which no layer holds");
  CHECK(last_layer(11, in, "q, s, z = DynamicQuantizeLinear(x) y = Relu(s)") == "Relu/scalar");
}

TEST_CASE("layers on codes: types, zero points that are not zero, scales of channels") {
  const char* const conv = "y = QLinearConv<pads = [1, 1, 1, 1]>(x, s, z, w, ws, wz, s, z, b)";
  CHECK(last_layer(10, "uint8[1,3,8,8] x", conv,
                   "float s, uint8 z = {0}, int8[4,3,3,3] w, float[4] ws, int8 wz = {0}, "
                   "int32[4] b") == "QLinearConv/1x3x8x8-4x3x3-s1-p1-b-u8s8u8-pc");
  CHECK(last_layer(10, "uint8[1,3,8,8] x", conv,
                   "float s, uint8 z = {128}, uint8[4,3,3,3] w, float ws, uint8 wz = {3}, "
                   "int32[4] b") == "QLinearConv/1x3x8x8-4x3x3-s1-p1-b-u8u8u8-za-zb-zr");
  CHECK(last_layer(10, "uint8[1,3,8,8] x", "y = ConvInteger(x, w)", "int8[4,3,1,1] w") ==
        "ConvInteger/1x3x8x8-4x1x1-s1-u8s8s32");
  CHECK(last_layer(10, "uint8[1,8] x", "y = MatMulInteger(x, w)", "int8[8,4] w") ==
        "MatMulInteger/1x8-8x4-w-u8s8s32");
  CHECK(last_layer(10, "int8[1,8] x", "y = QLinearMatMul(x, s, z, w, s, z, s, z)",
                   "int8[8,4] w, float s, int8 z = {0}") == "QLinearMatMul/1x8-8x4-w-s8s8s8");
  CHECK_SAYS(last_layer(10, "uint8[2,8] x", "y = QLinearMatMul(x, s, u, w, t, z, t, u)",
                        "int8[8,4] w, float[2] s, float t, int8 z, uint8 u", {.batch = 2}),
             "not one number");
}
