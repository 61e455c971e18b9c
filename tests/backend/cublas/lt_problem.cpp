// SPDX-License-Identifier: Apache-2.0
// Does cublasLt itself accept how a task is described? Descriptions need no GPU: where the fake one
// is not preloaded, the real library reads them.
#include "tasks_of.hpp"

#include <benanza/backend/cublas/lt_problem.hpp>

using namespace benanza;
using namespace benanza::backend::cublas;

TEST_CASE("cublas: every attribute of every description is taken, in its width and type") {
  int told_of = 0;
  for (const char* layer :
       {"Gemm/16x32x48-tb-w", "Gemm/16x32x48-ta", "Gemm/16x32x48-tb-c1x32-w",
        "Gemm/16x32x48-tb-c16x32-w", "Gemm+Relu/16x32x48-tb-c1x32-w",
        "Gemm+Gelu/16x32x48-tb-c1x32-w", "Gemm+FastGelu/16x32x48-tb-c1x32-w",
        "Gemm+Add+Relu/16x32x48-tb-w", "MatMul/3x16x48-3x48x32", "MatMul/16x48-3x48x32",
        "Conv/2x16x3x5-32x1x1-s1-b", "Conv/2x16x3x5-32x1x1-s1"})
    for (const numeric t :
         {numeric::f32, numeric::tf32, numeric::f16, numeric::bf16, numeric::s8s8s8, numeric::e4m3})
      for (const task& of : cublas_test::of(layer, t)) {
        CAPTURE(std::string(layer));
        CAPTURE(std::string(name(t)));
        CHECK_NOTHROW(lt_problem(of, t, t == numeric::e4m3));
        ++told_of;
      }
  CHECK(told_of > 50);
  // They are looked at: another width is refused.
  const lt_problem p(cublas_test::only("Gemm/16x32x48"), numeric::f32);
  const std::int64_t turned = CUBLAS_OP_T;
  CHECK(call::lt_operation_set(p.operation(), CUBLASLT_MATMUL_DESC_TRANSA, &turned,
                               sizeof turned) == CUBLAS_STATUS_INVALID_VALUE);
  const std::int32_t wide = 1;
  CHECK(call::lt_operation_set(p.operation(), CUBLASLT_MATMUL_DESC_FAST_ACCUM, &wide,
                               sizeof wide) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(call::lt_operation_set(p.operation(), CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &wide,
                               sizeof wide) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(call::lt_matrix_set(p.first(), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &turned,
                            sizeof turned) == CUBLAS_STATUS_INVALID_VALUE);
}

TEST_CASE("cublas: without a handle nothing is listed, and that is an error") {
  CHECK_THROWS_WITH_AS(
      lt_problem(cublas_test::only("Gemm/16x32x48"), numeric::f32).proposals(nullptr),
      doctest::Contains("CUBLAS_STATUS_NOT_INITIALIZED"), error);
}
