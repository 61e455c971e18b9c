// SPDX-License-Identifier: Apache-2.0
#include "agreement.hpp"

#include <benanza/op/kinds.hpp>

#include <doctest/doctest.h>

using namespace benanza;
using onednn_test::check, onednn_test::check_all;

TEST_CASE("onednn: data movement agrees with the reference") {
  check_all({"Concat/1x48x7x7-a1-n3", "Concat/1x50x7x7-a1-n3", "Concat/2x6x5-a2-n2",
             "Concat/6x5-a0-n2-s32", "Concat/6x5-a0-n2-bool", "Transpose/1x2x58x28-o0x2x1x3",
             "Transpose/2x5x6x7-o0x2x3x1", "Transpose/2x5x6x7-o3x2x1x0",
             "Transpose/2x5x6x7-o0x1x2x3", "Transpose/5x6-o1x0-s32",
             "Transpose/2x3x4x5x6x7-o5x3x1x0x2x4", "DepthToSpace/2x16x3x5-k2",
             "Concat/2x2x2x3x4x2-a3-n2", "DepthToSpace/2x16x3x5-k2-crd", "SpaceToDepth/2x4x6x10-k2",
             "SpaceToDepth/2x4x6x10-k2-crd"});
  CHECK(check(op::name(
            op::slice{.input = {2, 8, 9, 9}, .sizes = {2, 8, 4, 5}, .starts = {0, 0, 2, 1}})) > 0);
  CHECK(check(op::name(op::slice{.input = {2, 8, 10, 10},
                                 .sizes = {2, 8, 5, 5},
                                 .starts = {0, 0, 0, 1},
                                 .steps = {1, 1, 2, 2}})) > 0);
  CHECK(check(op::name(op::slice{
            .input = {8, 9}, .sizes = {4, 9}, .starts = {4, 0}, .element = dtype::s32})) > 0);
}

TEST_CASE("onednn: resizing agrees with the reference where its samples are ONNX's") {
  check_all({"Resize/1x16x5x7-1x16x10x14", "Resize/1x16x5x7-1x16x10x14-asymmetric",
             "Resize/1x16x5x7-1x16x15x21-asymmetric", "Resize/1x16x5x7-1x16x8x9",
             "Resize/1x16x5x7-1x16x10x14-linear", "Resize/1x16x5x7-1x16x8x5-linear",
             "Resize/1x16x5x7-1x16x10x14-linear-pytorch_half_pixel",
             "Upsample/1x16x5x7-1x16x10x14-asymmetric", "Resize/1x16x9-1x16x18-linear",
             "Resize/1x4x3x4x5-1x4x6x8x10", "Resize/1x16x9x9-1x16x5x7-linear"});
  int offered = 0;
  for (std::int64_t in = 1; in < 12; ++in)
    for (std::int64_t out = 1; out < 12; ++out)
      for (const auto where : {op::sampling::half_pixel, op::sampling::asymmetric,
                               op::sampling::align_corners, op::sampling::pytorch_half_pixel})
        for (const auto mode : {op::interpolation::nearest, op::interpolation::linear})
          offered += check(op::name(op::resize{
              .input = {1, 2, in}, .sizes = {1, 2, out}, .mode = mode, .coordinates = where}));
  CHECK(offered > 0);
}
