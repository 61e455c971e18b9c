// SPDX-License-Identifier: Apache-2.0
// Quantised values, and products of them.
#include "checked.hpp"

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::test;

TEST_CASE("quantization, whole and in runs") {
  for (const char* name : {"QuantizeLinear/2x30x9x9-u8-z",
                           "QuantizeLinear/2x30x9x9-s8-a1-z",
                           "QuantizeLinear/40x70-u8",
                           "QuantizeLinear/40x70-u8-a1-z",
                           "QuantizeLinear/3x64x48-s8-a1-k16-z",
                           "QuantizeLinear/3x64x48-s16-a2-k16",
                           "QuantizeLinear/7x5-u16-a0-z",
                           "QuantizeLinear/1-u8",
                           "DequantizeLinear/2x30x9x9-u8-z",
                           "DequantizeLinear/40x70-s8-a1-z",
                           "DequantizeLinear/40x70-s8-a1",
                           "DequantizeLinear/3x64x48-s8-a1-k16-z",
                           "DequantizeLinear/400-s32",
                           "DequantizeLinear/4x5-s16-z",
                           "QuantizeLinear/40x70-e4m3-a1",
                           "QuantizeLinear/4001-e5m2z",
                           "DequantizeLinear/40x71-e4m3z-a0-z",
                           "QuantizeLinear/1x3x2x2-e2m1-a1",
                           "QuantizeLinear/5-s2",
                           "DequantizeLinear/3x2x7-e2m1-z",
                           "QuantizeLinear/3x5x7-s4-a1-z",
                           "QuantizeLinear/7x5-u4-a0-z",
                           "QuantizeLinear/3x4099-u2-a1-z",
                           "QuantizeLinear/4x4098-s4-a1-k6-z",
                           "QuantizeLinear/1-u4",
                           "DequantizeLinear/3x5x7-s2-a1-z",
                           "DequantizeLinear/40x71-u4-a0-z",
                           "DequantizeLinear/256x512-u4-a1-k32-z",
                           "DequantizeLinear/6x9x5-s4-a1-k3",
                           "DequantizeLinear/7-u2",
                           "DequantizeLinear/0x3-s4"})
    check_floats(name);
  for (const char* name :
       {"DynamicQuantizeLinear/3x70000", "DynamicQuantizeLinear/7", "QLinearAdd/2x30x9x9-u8u8u8",
        "QLinearAdd/2x30x9x9-s8s8s8-za-zb-zr-relu", "QLinearMul/2x30x9x9-1x30x1x1-u8u8u8-za",
        "QLinearAdd/5-8x5-s8s8s8-zb", "QLinearMul/1-9x9-u8u8u8-zr", "LookupTable/3x70000-u8-s8",
        "LookupTable/77-s8-u8", "LookupTable/0x3-u8-u8"})
    check(name);
  for (const char* name : {"MaxPool/2x3x13x137-3x3-s2-u8", "MaxPool/1x4x9x140-3x3-s1-p1-s8",
                           "MaxPool/1x3x8x8-2x2-s2-u8", "MaxPool/1x1x5x5-3x3-s1-p2-d2-s8",
                           "MaxPool/1x2x30-4-s3-p3x2-d2-ceil-u8",
                           "MaxPool/1x2x5x6x7-3x2x3-s1x2x1-p1-s8", "MaxPool/1x1x3x3-2x2-s4-u8",
                           "MaxPool/1x2x1x64-1x7-s5-p0x3-s8", "MaxPool/2x70x7x7-7x7-s1-u8"})
    check_floats(name);
}

TEST_CASE("products of codes whose second operand has a zero point") {
  for (const char* name :
       {"MatMulInteger/4x3-3x2-u8u8s32-za-zb", "MatMulInteger/2x7x33-33x50-w-s8s8s32-zb",
        "MatMulInteger/1x300-300x200-w-u8u8s32", "MatMulInteger/3x1x100x40-5x40x150-u8u8s32-za-zb",
        "QLinearMatMul/130x65-65x90-u8u8u8-pc-za-zb-zr", "QLinearMatMul/2x9x8-8x5-w-s8s8s8-zb-relu",
        "QLinearMatMul/9x8-8x40-w-u8u8real-pc-za-zb", "QGemm/7x40x33-tb-c1x40-w-u8u8u8-pc-zb-zr",
        "QGemm/7x40x33-ta-c7x1-u8u8s8-zb-relu", "ConvInteger/1x1x3x3-2x2x2-s1-p1-u8u8s32-pc-za-zb",
        "QLinearConv/2x6x9x11-8x3x3-s2-p1-d2-g2-b-u8u8u8-pc-za-zb-zr",
        "QLinearConv/1x16x20x20-40x3x3-s1-p1-s8s8s8-zb-relu", "QLinearConv/2x5x9-3x4-s3-p2-u8u8s8",
        "ConvInteger/1x3x4x5x6-4x2x3x2-s1-p1-s8u8s32-za-zb"})
    check(name);
}

TEST_CASE("products with weights of a few bits") {
  for (const char* name :
       {"MatMulNBits/1x64-n32-k32", "MatMulNBits/1x1x100-n70-k16-z", "MatMulNBits/6x2x33-n17-k32-b",
        "MatMulNBits/19x96-n100-q8-k32-z-b", "MatMulNBits/3x256-n8-q8-k128",
        "MatMulNBits/1x2048-n300-k128-z", "MatMulNBits/1x100-n300-k32-b",
        "MatMulNBits/2x100-n170-k16-z-b", "MatMulNBits/1x90-n290-q8-k32",
        "MatMulNBits/2x75-n130-q8-k16-z", "MatMulNBits/1x10x100-n70-k16-z-b-e4",
        "MatMulNBits/8x64-n33-q8-k32-e8", "MatMulNBits/1x7x96-n170-k32-b-e3"})
    check(name);
}

TEST_CASE("convolutions on codes in which each channel has windows of its own") {
  for (const char* name :
       {"QLinearConv/2x6x17x40-6x5x5-s1-p2-g6-u8u8u8-pc-za-zb-zr",
        "QLinearConv/1x4x19x70-8x3x3-s2-p1-g4-b-u8u8s8-za-relu",
        "ConvInteger/1x3x40-3x7-s3-p3-d2-g3-s8u8s32-za-zb",
        "QLinearConv/1x2x5x6x9-2x3x2x3-s1-p1-g2-u8u8real-zb",
        "QLinearConv/1x2x300x301-2x3x3-s1-p1-g2-u8u8u8-za-zr",
        "QLinearConv/1x2x7x7-2x16x17-s1-p8-g2-u8u8u8-zb"}) // more taps than floats hold exactly
    check(name);
}
