// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul, and which of their operands are constant.
#include "text_model.hpp"

using namespace benanza::test;

TEST_CASE("Gemm: transposes, C, and whether B is constant") {
  CHECK(last_layer(13, "float[N,8] x", "y = Gemm(x, w)", "float[8,5] w") == "Gemm/1x5x8-w");
  CHECK(last_layer(13, "float[N,8] x", "y = Gemm<transB = 1>(x, w, c)",
                   "float[5,8] w, float[5] c") == "Gemm/1x5x8-tb-c1x5-w");
  CHECK(last_layer(13, "float[2,8] x, float[2,5] b", "y = Gemm<transA = 1>(x, b, c)", "float c",
                   {.batch = 2}) == "Gemm/8x5x2-ta-c1x1");
  CHECK(last_layer(13, "float[2,8] x", "y = Gemm(x, w, c)", "float[8,5] w, float[2,1] c",
                   {.batch = 2}) == "Gemm/2x5x8-c2x1-w");
  CHECK_SAYS(last_layer(13, "float[N,8] x", "y = Gemm(x, w)", "float[7,5] w"), "do not multiply");
  CHECK_SAYS(last_layer(13, "float[N,8,1] x", "y = Gemm(x, w)", "float[8,5] w"), "not matrices");
  CHECK_SAYS(last_layer(13, "float[N,8] x", "y = Gemm(x, w, c)", "float[8,5] w, float[4] c"),
             "does not broadcast");
  CHECK_SAYS(
      last_layer(13, "float[N,0] x", "y = Gemm(x, w)", "float[0,5] w", {.shapes = {{"x", {1, 0}}}}),
      "m, n and k");
}

TEST_CASE("MatMul: stacks, vectors, constants") {
  CHECK(last_layer(13, "float[2,4,8] x", "y = MatMul(x, w)", "float[8,5] w", {.batch = 2}) ==
        "MatMul/2x4x8-8x5-w");
  CHECK(last_layer(13, "float[2,1,4,8] x, float[3,8,5] b", "y = MatMul(x, b)", "", {.batch = 2}) ==
        "MatMul/2x1x4x8-3x8x5");
  CHECK(dims_of_y(13, "float[8] x, float[3,8,5] b", "y = MatMul(x, b)", "", {.batch = 3}) == "3x5");
  CHECK(dims_of_y(13, "float[3,4,8] x, float[8] b", "y = MatMul(x, b)", "", {.batch = 3}) == "3x4");
  CHECK(dims_of_y(13, "float[8] x, float[8] b", "y = MatMul(x, b)") == "scalar");
  CHECK_SAYS(last_layer(13, "float[2,4] x, float[5,2] b", "y = MatMul(x, b)", "", {.batch = 2}),
             "do not multiply");
  CHECK_SAYS(last_layer(13, "float x, float[2,4] b", "y = MatMul(x, b)"), "scalar");
}

TEST_CASE("a product follows constants through folded nodes") {
  CHECK(last_layer(13, "float[N,8] x", "t = Transpose(w) y = MatMul(x, t)", "float[5,8] w") ==
        "MatMul/1x8-8x5-w");
  CHECK(last_layer(13, "float[N,8] x, float[5,8] w", "t = Transpose(w) y = MatMul(x, t)") ==
        "MatMul/1x8-8x5");
}
