// SPDX-License-Identifier: Apache-2.0
// For which layers does cuBLAS have functions that need not be asked for?
#include <benanza/backend/cublas/enumerate.hpp>

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend::cublas;

namespace {
std::string plain_ids(const std::string& layer, numeric t) {
  std::string text;
  for (const auto& a : plain_functions(op::parse(layer), t))
    text += a.id + ' ';
  return text;
}
} // namespace

TEST_CASE("cublas: plain functions compute bare products in floats") {
  CHECK(plain_ids("Gemm/2x3x4-w", numeric::f32) == "gemm wt:gemm ");
  CHECK(plain_ids("Gemm/2x3x4-w", numeric::tf32) == "gemm wt:gemm ");
  CHECK(plain_ids("Gemm/1x3x4-w", numeric::f32) == "gemm gemv wt:gemm wt:gemv ");
  CHECK(plain_ids("MatMul/1x1x4-4x3-w", numeric::bf16) == "gemm gemv wt:gemm wt:gemv ");
  CHECK(plain_ids("MatMul/1x1x4-4x3", numeric::bf16) == "gemm gemv ");
  CHECK(plain_ids("Gemm/2x1x4", numeric::bf16) == "gemm gemv ");
  CHECK(plain_ids("Gemm/1x3x4-w", numeric::tf32) == "gemm wt:gemm ");
  CHECK(plain_ids("MatMul/7x1x4-7x4x3", numeric::f16) == "gemm gemv ");
  CHECK(plain_ids("Conv/2x8x5x7-16x1x1-s1", numeric::f32) == "gemm gemm_grouped nhwc:gemm ");
  CHECK(plain_ids("Conv/1x8x1x1-16x1x1-s1", numeric::f32) == "gemm gemv nhwc:gemm nhwc:gemv ");
  CHECK(plain_ids("Gemm/2x3x4-c1x3-w", numeric::f32).empty());
  CHECK(plain_ids("Gemm+Relu/2x3x4-w", numeric::f32).empty());
  for (const numeric t : {numeric::u8s8u8, numeric::s8s8s8, numeric::e4m3})
    CHECK(plain_ids("Gemm/16x32x48-tb-w", t).empty());
  int index = 0;
  for (const auto& a : plain_functions(op::parse("Conv/1x8x1x1-16x1x1-s1"), numeric::f16)) {
    CHECK(a.index == index++);
    CHECK(a.equivalence == "f16");
    CHECK(a.flops == 2 * 8 * 16);
    CHECK(a.notes == "call,tensor-cores=unknown"); // the library does not say
  }
}

TEST_CASE("cublas: stacks are groups too, where each matrix begins as tensor cores read") {
  CHECK(plain_ids("MatMul/7x2x4-7x4x3", numeric::f32) == "gemm gemm_grouped ");
  CHECK(plain_ids("MatMul/7x2x8-7x8x16", numeric::tf32) == "gemm gemm_grouped ");
  CHECK(plain_ids("MatMul/7x2x8-7x8x16-w", numeric::bf16) ==
        "gemm gemm_grouped wt:gemm wt:gemm_grouped ");
  CHECK(plain_ids("MatMul/7x1x3-7x3x5", numeric::f16) == "gemm gemv gemm_grouped "); // odd rows
  // Rows in units of 16 or 4 bytes, and a matrix that begins between two.
  CHECK(plain_ids("MatMul/7x3x8-7x8x5", numeric::f16) == "gemm ");
  CHECK(plain_ids("MatMul/7x3x2-7x2x5", numeric::f16) == "gemm ");
  CHECK(plain_ids("MatMul/7x1x4-7x4x5", numeric::tf32) == "gemm ");
  CHECK(plain_ids("Gemm/2x3x4", numeric::f16) == "gemm "); // no stack
  CHECK(plain_ids("MatMul+Relu/7x2x8-7x8x16", numeric::bf16).empty());
}
