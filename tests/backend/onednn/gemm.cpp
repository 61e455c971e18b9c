// SPDX-License-Identifier: Apache-2.0
#include "agreement.hpp"

#include <doctest/doctest.h>

using onednn_test::check_all;

TEST_CASE("onednn: matrix products agree with the reference") {
  check_all({"Gemm/1x100x64-tb-c1x100-w", "Gemm/5x33x17", "Gemm/5x33x17-ta-tb-c5x33",
             "Gemm/5x33x17-c5x1-w", "Gemm/5x33x17-c1x1-w", "Gemm/16x32x64-ta-c1x32-w",
             "Gemm/16x32x64-tb-c16x32-w", "Gemm/16x32x64-c1x32", "Gemm/7x1x5-tb-c1x1",
             "MatMul/1x12x33x16-1x12x16x33", "MatMul/2x10x16-16x24-w", "MatMul/2x10x16-16x24",
             "MatMul/3x4x10x16-4x16x8", "MatMul/3x1x10x16-1x4x16x8", "MatMul/3x4x10x16-3x1x16x8",
             "MatMul/7x16-16x5-w", "MatMul/4x10x16-4x16x8-w"});
}
