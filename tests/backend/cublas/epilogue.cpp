// SPDX-License-Identifier: Apache-2.0
// Which steps behind a product does cublasLt do itself?
#include "tasks_of.hpp"

#include <algorithm>
#include <cmath>

using namespace benanza;
using namespace benanza::backend::cublas;
using cublas_test::of;
using cublas_test::only;

TEST_CASE("cublas: steps that an epilogue is, and no others") {
  using enum op::unary_function;
  CHECK(only("Gemm+Relu/2x3x4-c1x3-w").function == relu);
  CHECK(only("Gemm+Add+Relu/2x3x4-w").addend.has_value());
  CHECK(only("Gemm+Add+Relu/2x3x4-c1x3-w").bias.has_value());
  CHECK(only("Gemm+Add+Relu/2x3x4-c1x3-w").addend.has_value());
  const task vector = only("MatMul+Add/5x2x4-4x3-w-w3");
  CHECK(vector.bias.has_value());
  CHECK_FALSE(vector.bias->scaled); // in units of the result
  CHECK(vector.operand_layouts == "plain,plain");
  CHECK(only("MatMul+Add/5x2x4-4x3-w").addend.has_value());
  CHECK(of("MatMul+Add/5x2x4-4x3-w-w2x3").empty());
  CHECK(of("MatMul+Add/5x2x4-4x3-w-w5x2x1").empty());
  CHECK(of("MatMul+Add+Add/5x2x4-4x3-w-w3-ww3").empty());
  CHECK(of("Gemm+Sigmoid/2x3x4-w").empty());
  CHECK(of("Gemm+Mul/2x3x4-w").empty());
  CHECK(of("Gemm+Relu+Relu/2x3x4-w").empty());
  // SwiGLU and GeGLU are none, and that is said.
  CHECK(of("MatMul+Swish+Mul/5x2x4-4x3-w", numeric::bf16).empty());
  CHECK(step_without_epilogue(op::parse("MatMul+Swish+Mul/5x2x4-4x3-w")) == "Swish");
  CHECK(step_without_epilogue(op::parse("Gemm+FastGelu+Mul/2x3x4-w")) == "Mul");
  CHECK(step_without_epilogue(op::parse("Gemm+Add+Relu/2x3x4-w")).empty());
  CHECK(step_without_epilogue(op::parse("Swish+Mul/2x3")).empty());
  const tasks residual = of("Conv+Add+Relu/2x8x5x7-16x1x1-s1");
  REQUIRE(residual.size() == 2);
  CHECK(residual[0].operand_layouts == "plain,plain");
  CHECK(residual[1].operand_layouts == "channels_last,channels_last");
  CHECK(residual[1].addend->is.strides == residual[1].result.strides);
  CHECK(only("Conv+Add/2x8x5x7-16x1x1-s1-w16x1x1").operand_layouts == "channels_last,plain");
}

TEST_CASE("cublas: Gelu is the library's only where the two cannot be distinguished") {
  for (const numeric t : {numeric::f32, numeric::tf32, numeric::f16, numeric::bf16}) {
    CHECK(of("Gemm+Gelu/16x16x16-tb-c1x16-w", t).empty());
    CHECK(only("Gemm+FastGelu/16x16x16-tb-c1x16-w", t).function == op::unary_function::fast_gelu);
  }
  CHECK(of("Gemm+FastGelu/16x16x16-tb-c1x16-w", numeric::s8s8s8).empty());
  CHECK(only("Gemm+Gelu/16x16x16-tb-c1x16-w", numeric::e4m3).function == op::unary_function::gelu);
  CHECK(of("Gemm+Gelu/16x16x16-tb-c1x16-w", numeric::s8s8s8).empty());
  // What the constant says.
  double most = 0;
  for (double x = -6; x <= 6; x += 1e-3) {
    const double exact = x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    const double its =
        x / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
    most = std::max(most, std::fabs(exact - its));
  }
  CHECK(most < gelu_difference);
  CHECK(most > 0.9 * gelu_difference);
}
