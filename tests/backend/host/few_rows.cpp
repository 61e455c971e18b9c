// SPDX-License-Identifier: Apache-2.0
// Products of a few rows with weights, in panels of columns: any number of rows up to four, of
// columns and of terms, in either order of the weights, with all that may be added.
#include "checked.hpp"

#include <doctest/doctest.h>

using namespace benanza;

TEST_CASE("products of a few rows with weights are those of the reference") {
  for (const char* name :
       {"Gemm/1x10x33-w", "Gemm/1x70x65-tb-c1x70-w", "Gemm/3x130x40-c3x1-w", "Gemm/1x40x33-ta-w",
        "Gemm/4x300x7-c1x1-w", "Gemm/2x1000x64-tb-c2x1000-w", "Gemm/4x257x31-c4x257-w",
        "Gemm/1x1x1-w", "MatMul/1x1x768-768x300-w", "MatMul/2x2x33-33x50-w", "MatMul/3x1x9-9x700-w",
        "MatMul/1x3000-3000x5-w"})
    test::check(name);
}

TEST_CASE("products of more rows, of other types, or without weights are libraries' alone") {
  const auto lib = test::built("host");
  const auto offered = [&](const char* name, numeric t) {
    return !lib->enumerate(op::parse(name), t, {}).empty();
  };
  CHECK(offered("Gemm/4x10x33-w", numeric::f32));
  CHECK_FALSE(offered("Gemm/5x10x33-w", numeric::f32));
  CHECK_FALSE(offered("Gemm/2x10x33-ta-w", numeric::f32));
  CHECK_FALSE(offered("Gemm/1x10x33", numeric::f32));
  CHECK_FALSE(offered("MatMul/1x1x8-8x4", numeric::f32));
  CHECK_FALSE(offered("MatMul/2x1x1x8-2x1x8x4-w", numeric::f32));
  for (const numeric t : {numeric::bf16, numeric::f16, numeric::tf32})
    CHECK_FALSE(offered("Gemm/1x10x33-w", t));
}
