// SPDX-License-Identifier: Apache-2.0
// Do cuBLAS's products become layers in the order of rows, with their class? Every family of
// products, batches, vectors, precisions, and what is no product.
#include "log_text.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace test_of_cublas_log {
using namespace log_text;
using benanza::numeric;
using benanza::trace::call;

std::string typed(const std::string& a, const std::string& b) {
  return argument("Atype", "CUDA_" + a + "(2)") + argument("Btype", "CUDA_" + b + "(2)");
}

TEST_CASE("a linear layer: the first operand of cuBLAS is the framework's second") {
  const call c = only(cublas_call("cublasSgemm_v2", gemm_sizes(true, false, 1000, 1, 2048)));
  CHECK(layer_of(c) == "Gemm/1x1000x2048-tb");
  CHECK(c.function == "cublasSgemm");
  CHECK(c.type == numeric::f32);
  CHECK(c.layout == "tb");
  CHECK(c.from == benanza::trace::library::cublas);
  CHECK(layer_of(only(cublas_call("cublasSgemm_v2_64", gemm_sizes(false, true, 8, 4, 2)))) ==
        "Gemm/4x8x2-ta");
  CHECK(layer_of(only(cublas_call("cublasHgemm", gemm_sizes(false, false, 8, 4, 2)))) ==
        "Gemm/4x8x2");
}

TEST_CASE("types, and the precision of floats") {
  const auto type = [](const std::string& t, const std::string& compute,
                       const std::string& mode = "CUBLAS_DEFAULT_MATH") {
    return only(cublas_call("cublasGemmEx",
                            gemm_sizes(false, false, 8, 4, 2) + typed(t, t) +
                                argument("computeType", "CUBLAS_" + compute + "(68)") +
                                argument("algo", "CUBLAS_GEMM_DEFAULT_TENSOR_OP(99)"),
                            mode))
        .type;
  };
  CHECK(type("R_16F", "COMPUTE_32F") == numeric::f16);
  CHECK(type("R_16BF", "COMPUTE_32F") == numeric::bf16);
  CHECK(type("R_8I", "COMPUTE_32I") == numeric::s8s8s8);
  CHECK(type("R_8F_E4M3", "COMPUTE_32F") == numeric::e4m3);
  CHECK(type("R_32F", "COMPUTE_32F") == numeric::f32);
  CHECK(type("R_32F", "COMPUTE_32F_PEDANTIC") == numeric::f32);
  CHECK(type("R_32F", "COMPUTE_32F_FAST_TF32") == numeric::tf32);
  CHECK(type("R_32F", "COMPUTE_32F", "CUBLAS_TF32_TENSOR_OP_MATH") == numeric::tf32);
  CHECK(type("R_32F", "COMPUTE_32F",
             "CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_"
             "REDUCTION(16)") == numeric::f32);
  CHECK_FALSE(type("R_32F", "COMPUTE_32F_FAST_16F"));
  CHECK_FALSE(type("R_32F", "COMPUTE_32F", "CUBLAS_TENSOR_OP_MATH"));
  CHECK_FALSE(type("R_64F", "COMPUTE_64F"));
  CHECK_FALSE(only(cublas_call("cublasGemmEx",
                               gemm_sizes(false, false, 8, 4, 2) + typed("R_8F_E4M3", "R_8F_E5M2")))
                  .type);
  CHECK_FALSE(only(cublas_call("cublasDgemm_v2", gemm_sizes(false, false, 8, 4, 2))).type);
}

TEST_CASE("the algorithm and the precision that were asked for") {
  const call c =
      only(cublas_call("cublasGemmEx",
                       gemm_sizes(true, false, 3072, 128, 768) + typed("R_16F", "R_16F") +
                           argument("computeType", "CUBLAS_COMPUTE_32F(68)") +
                           argument("algo", "CUBLAS_GEMM_DEFAULT(-1)"),
                       "CUBLAS_TF32_TENSOR_OP_MATH"));
  CHECK(layer_of(c) == "Gemm/128x3072x768-tb");
  CHECK(c.algorithm == "CUBLAS_GEMM_DEFAULT");
  CHECK(c.math == "COMPUTE_32F TF32_TENSOR_OP_MATH");
}

TEST_CASE("batches of products: by strides, by pointers, with a shared operand") {
  const auto batched = [](const std::string& function, const std::string& more) {
    return layer_of(only(cublas_call(function, gemm_sizes(true, false, 128, 96, 64) + more)));
  };
  CHECK(batched("cublasGemmStridedBatchedEx",
                typed("R_16BF", "R_16BF") + argument("strideA", "8192") +
                    argument("strideB", "6144") + argument("batchCount", "12")) ==
        "MatMul/12x96x64-12x64x128");
  CHECK(batched("cublasSgemmBatched", argument("batchCount", "12")) == "MatMul/12x96x64-12x64x128");
  CHECK(batched("cublasSgemmStridedBatched",
                argument("strideA", "0") + argument("strideB", "6144") +
                    argument("batchCount", "12")) == "MatMul/12x96x64-64x128");
  CHECK(batched("cublasSgemmStridedBatched",
                argument("strideA", "8192") + argument("strideB", "0") +
                    argument("batchCount", "12")) == "MatMul/96x64-12x64x128");
  CHECK(batched("cublasGemmBatchedEx", typed("R_16F", "R_16F") + argument("batchCount", "1")) ==
        "Gemm/96x128x64-tb");
}

TEST_CASE("a matrix times a vector is a product of one row") {
  const auto gemv = [](const std::string& trans) {
    return layer_of(
        only(cublas_call("cublasSgemv_v2", argument("trans", trans) + argument("m", "2048") +
                                               argument("n", "1000"))));
  };
  CHECK(gemv("CUBLAS_OP_T(1)") == "Gemm/1x1000x2048-tb");
  CHECK(gemv("CUBLAS_OP_N(0)") == "Gemm/1x2048x1000");
}

TEST_CASE("what is no product is named, what only prepares is no call") {
  CHECK(layer_of(only(cublas_call("cublasSaxpy_v2", argument("n", "100")))) ==
        "(no product of matrices)");
  CHECK(layer_of(only(cublas_call("cublasGemmGroupedBatchedEx", argument("group_count", "3")))) ==
        "(a product whose sizes cannot be read, or of groups)");
  CHECK(layer_of(only(cublas_call("cublasSgemm_v2", gemm_sizes(false, false, 0, 4, 2)))) ==
        "(a product whose sizes cannot be read, or of groups)");
  const benanza::trace::call_log l =
      read(cublas_call("cublasCreate_v2", argument("handle", "0")) +
           cublas_call("cublasSetStream_v2", argument("streamId", "0")) +
           cublas_call("cublasGetMathMode", argument("mode", "0")) +
           cublas_call("cublasSetWorkspace_v2", argument("workspace", "0")) +
           cublas_call("cublasDestroy_v2", argument("handle", "0")));
  CHECK(l.entries.empty());
  CHECK(l.warnings.size() == 1);
}

} // namespace test_of_cublas_log
