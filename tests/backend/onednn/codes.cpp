// SPDX-License-Identifier: Apache-2.0
// Layers on codes and recurrent layers.
#include "agreement.hpp"

#include <doctest/doctest.h>

using onednn_test::check;
using onednn_test::check_all;

TEST_CASE("onednn: layers on codes agree with the reference") {
  check_all({"QLinearConv/1x8x9x9-16x3x3-s1-p1-b-u8s8u8-pc-za-zr",
             "QLinearConv/1x32x9x9-16x1x1-s1-u8s8u8-relu",
             "QLinearConv/1x32x9x9-32x3x3-s2-p1-g32-b-s8s8s8-pc-zr-relu",
             "ConvInteger/1x8x9x9-16x3x3-s1-u8s8s32-za", "QLinearMatMul/2x8x16-16x5-w-u8s8u8-pc-za",
             "QLinearMatMul/2x8x16-2x16x5-s8s8u8-za-zr", "MatMulInteger/8x16-16x5-u8s8s32-za",
             "MatMulInteger/8x64-64x32-w-s8s8s32", "QGemm/4x5x6-tb-c1x5-w-u8s8real-za",
             "QGemm/1x100x64-tb-c1x100-w-u8s8u8-pc-zr"});
  CHECK(check("QLinearConv/1x8x9x9-16x3x3-s1-u8s8u8-zb") == 0);
  CHECK(check("MatMulInteger/8x16-16x5-u8u8s32") == 0);
}

TEST_CASE("onednn: recurrent layers agree with the reference") {
  check_all({"LSTM/6x1x10-h40-b", "LSTM/6x3x10-h20-b-n3", "LSTM/7x2x5-h33-reverse-b-h0-c0-peep-n3",
             "LSTM/7x2x5-h33-bidirectional-b-h0-nt-n3", "LSTM/7x2x5-h8-bidirectional-c0-n2",
             "GRU/6x1x10-h40-b-n2", "GRU/7x3x10-h20-bidirectional-b-h0-after-n2",
             "GRU/7x3x10-h20-reverse-b-nt-n2", "RNN/7x3x10-h20-b-n2",
             "RNN/7x3x10-h20-bidirectional-n2-f0x0"});
  for (const char* name : {"LSTM/7x2x5-h8-len", "LSTM/7x2x5-h8-clip", "LSTM/7x2x5-h8-coupled",
                           "GRU/7x2x5-h8-f3x1", "RNN/7x2x5-h8-bidirectional-f0x1"})
    CHECK(check(name) == 0);
}
