// SPDX-License-Identifier: Apache-2.0
// Do cublasLt's lines become layers? Sizes and transposes, epilogues, batches, row order, and the
// name of the algorithm.
#include "log_text.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_of_cublaslt_log {
using namespace log_text;
using benanza::numeric;
using benanza::trace::call;

std::string matrix(const std::string& type, int rows, int cols, const std::string& more = {}) {
  return "type=" + type + " rows=" + std::to_string(rows) + " cols=" + std::to_string(cols) +
         " ld=" + std::to_string(rows) + more;
}
/// The layer of a linear layer 768 -> 3072 of 128 rows with that epilogue.
std::string linear(const std::string& epilogue, const std::string& beta = "0") {
  return layer_of(only(cublaslt_line(
      "cublasLtMatmul", matrix("R_16F", 768, 3072), matrix("R_16F", 768, 128),
      matrix("R_16F", 3072, 128), "computeType=COMPUTE_32F scaleType=R_32F transa=OP_T" + epilogue,
      "algoId=21 tile=MATMUL_TILE_32x32", beta)));
}

TEST_CASE("the parts of a line") {
  const auto l = benanza::trace::read_cublaslt_line(
      "[2026-01-02 03:04:05][cublasLt][4242][Trace][cublasLtMatmul] A=0X1 Adesc=[type=R_16F]");
  REQUIRE(l);
  CHECK(l->time == "2026-01-02 03:04:05");
  CHECK(l->thread == "4242");
  CHECK(l->level == "Trace");
  CHECK(l->function == "cublasLtMatmul");
  CHECK(l->arguments == "A=0X1 Adesc=[type=R_16F]");
  for (const char* none : {"", "[", "[a][b][c][d][e] f", "[2026-01-02][cublasLt] f", "[x]"})
    CHECK_FALSE(benanza::trace::read_cublaslt_line(none));
}

TEST_CASE("a product with its algorithm, class and workspace") {
  const call c = only(
      cublaslt_line("cublasLtMatmul", matrix("R_16BF", 768, 3072), matrix("R_16BF", 768, 128),
                    matrix("R_16BF", 3072, 128),
                    "computeType=COMPUTE_32F scaleType=R_32F transa=OP_T smCountTarget=132",
                    "algoId=66 tile=MATMUL_TILE_128x128 stages=MATMUL_STAGES_128xAUTO numSplitsK=3 "
                    "reductionScheme=INPLACE customOption=3 clusterShape=CLUSTER_SHAPE_1x1x1"));
  CHECK(layer_of(c) == "Gemm/128x3072x768-tb");
  CHECK(c.algorithm == "algo66_tile=128x128_stages=128xAUTO_numSplitsK=3_reductionScheme=INPLACE_"
                       "customOption=3_clusterShape=1x1x1");
  CHECK(c.type == numeric::bf16);
  CHECK(c.math == "COMPUTE_32F");
  CHECK(c.workspace_bytes == 1048576);
  CHECK(c.layout == "tb");
  CHECK(c.from == benanza::trace::library::cublaslt);
}

TEST_CASE("what the epilogue does becomes a third operand and a step") {
  CHECK(linear("") == "Gemm/128x3072x768-tb");
  CHECK(linear(" epilogue=EPILOGUE_BIAS biasPointer=0x7fb506003280") ==
        "Gemm/128x3072x768-tb-c1x3072");
  CHECK(linear(" epilogue=EPILOGUE_RELU") == "Gemm+Relu/128x3072x768-tb");
  CHECK(linear(" epilogue=EPILOGUE_GELU_AUX_BIAS") == "Gemm+FastGelu/128x3072x768-tb-c1x3072");
  CHECK(linear("", "1") == "Gemm/128x3072x768-tb-c128x3072");
  CHECK(linear("", "?") == "Gemm/128x3072x768-tb");
  CHECK(linear(" epilogue=EPILOGUE_DGELU_BGRAD") == "(a product with EPILOGUE_DGELU_BGRAD)");
}

TEST_CASE("batches, a shared operand, and matrices by rows") {
  const std::string batch = " batchCount=12 stridedBatchOffset=8192";
  const call c =
      only(cublaslt_line("cublasLtMatmul", matrix("R_32F", 64, 128, batch),
                         matrix("R_32F", 128, 96, batch), matrix("R_32F", 64, 96, batch),
                         "computeType=COMPUTE_32F_FAST_TF32 scaleType=R_32F", "algoId=21"));
  CHECK(layer_of(c) == "MatMul/12x96x128-12x128x64");
  CHECK(c.type == numeric::tf32);
  const auto layer = [&](const std::string& a, const std::string& b, const std::string& d,
                         const std::string& how) {
    return layer_of(only(
        cublaslt_line("cublasLtMatmul", a, b, d, "computeType=COMPUTE_32F" + how, "algoId=1")));
  };
  CHECK(layer(matrix("R_16F", 64, 128), matrix("R_16F", 128, 96, batch),
              matrix("R_16F", 64, 96, batch), "") == "MatMul/12x96x128-128x64");
  CHECK(layer(matrix("R_16F", 64, 128, batch), matrix("R_16F", 128, 96, batch),
              matrix("R_16F", 64, 96, batch),
              " epilogue=EPILOGUE_RELU_BIAS") == "MatMul+Add+Relu/12x96x128-12x128x64-w64");
  const std::string rows = " order=ORDER_ROW";
  CHECK(layer(matrix("R_16F", 96, 128, rows), matrix("R_16F", 64, 128, rows),
              matrix("R_16F", 96, 64, rows), " transb=OP_T") == "Gemm/96x64x128-tb");
}

TEST_CASE("types without a class, sizes that are none, lines that are no products") {
  const call c = only(cublaslt_line("cublasLtMatmul", matrix("R_4F_E2M1", 64, 32),
                                    matrix("R_4F_E2M1", 64, 16), matrix("R_16BF", 32, 16),
                                    "computeType=COMPUTE_32F transa=OP_T", "algoId=70"));
  CHECK(layer_of(c) == "Gemm/16x32x64-tb");
  CHECK_FALSE(c.type);
  CHECK(layer_of(only(cublaslt_line("cublasLtMatmul", "type=R_16F", "", "", "", ""))) ==
        "(a product whose sizes cannot be read)");
  const benanza::trace::call_log l =
      read("[2026-01-02 03:04:05][cublasLt][1][Api][cublasLtCreate] lightHandle=0X1\n"
           "[2026-01-02 03:04:05][cublasLt][1][Info][cublasLtCreate] cuBLASLt v13.1\n"
           "[2026-01-02 03:04:05][cublasLt][1][Trace][cublasLtMatrixTransform] Adesc=[rows=1]\n");
  CHECK(l.entries.empty());
}

TEST_CASE("a product that was announced and not written out, and one that failed") {
  const std::string announced = "[2026-01-02 03:04:05][cublasLt][4242][Api][cublasLtMatmul] "
                                "A=0X1 Adesc=0X2 computeDesc=0X3 workSpaceSizeInBytes=4\n";
  const std::string product =
      cublaslt_line("cublasLtMatmul", matrix("R_16F", 8, 8), matrix("R_16F", 8, 8),
                    matrix("R_16F", 8, 8), "computeType=COMPUTE_32F", "algoId=1");
  const benanza::trace::call_log lost = read(announced + product + announced);
  CHECK(lost.entries.size() == 1);
  REQUIRE(lost.warnings.size() == 1);
  CHECK(lost.warnings[0].starts_with("1 of cublasLtMatmul"));
  const std::string why = "[2026-01-02 03:04:05][cublasLt][4242][Error][cublasLtMatmul] bad luck\n";
  const benanza::trace::call_log failed = read(announced + product + why + announced + product);
  CHECK(failed.entries.size() == 1);
  REQUIRE(failed.failed.size() == 1);
  CHECK(failed.failed[0].status == "bad luck");
  CHECK(failed.failed[0].at.line == 2);
}

} // namespace test_of_cublaslt_log
