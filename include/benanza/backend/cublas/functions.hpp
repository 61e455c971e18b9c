// SPDX-License-Identifier: Apache-2.0
// cuBLAS's functions, looked up when they are first called. Its two libraries hold 600 MB of
// kernels, and to load them takes a tenth of a second: a program that finds no GPU shall not pay
// for that. What was loaded before, such as a stand-in, is used.
//
//   if (std::string why = why_not_loaded(); !why.empty()) ...   call::gemm_ex(handle, ...);
#pragma once

#include "../../core/error.hpp"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <dlfcn.h>

#include <array>
#include <string>

namespace benanza::backend::cublas {

namespace detail {
/// The two libraries, if they can be loaded.
struct loaded_libraries {
  std::array<void*, 2> handles{};
  std::string problem{};

  static const loaded_libraries& it() {
    static const loaded_libraries one;
    return one;
  }
  void* find(const char* name) const {
    for (void* const h : handles)
      if (void* const found = h != nullptr ? dlsym(h, name) : nullptr) return found;
    return nullptr;
  }

private:
  loaded_libraries() {
    const std::string version = std::to_string(CUBLAS_VER_MAJOR);
    const std::array<std::string, 2> names{"libcublasLt.so." + version, "libcublas.so." + version};
    for (std::size_t i = 0; i < names.size(); ++i) {
      handles[i] = dlopen(names[i].c_str(), RTLD_NOW | RTLD_LOCAL);
#ifdef BENANZA_CUBLAS_FOLDER
      if (handles[i] == nullptr)
        handles[i] = dlopen((BENANZA_CUBLAS_FOLDER "/" + names[i]).c_str(), RTLD_NOW | RTLD_LOCAL);
#endif
      if (handles[i] != nullptr) continue;
      const char* const why = dlerror();
      problem = "cuBLAS cannot be loaded: " + (why != nullptr ? std::string(why) : names[i]);
    }
  }
};

inline void* look_up(const char* name) {
  if (void* const there = dlsym(RTLD_DEFAULT, name)) return there;
  const loaded_libraries& all = loaded_libraries::it();
  if (void* const there = all.find(name)) return there;
  throw error(all.problem.empty() ? std::string("cuBLAS has no ") + name : all.problem);
}
} // namespace detail

/// Why cuBLAS cannot be used; empty if it can. Loads it.
inline const std::string& why_not_loaded() {
  return detail::loaded_libraries::it().problem;
}

/// A function that is looked up at its first call.
template <class Function>
class late;
template <class Result, class... Arguments>
class late<Result(Arguments...)> {
public:
  constexpr explicit late(const char* name)
      : name_(name) {}
  Result operator()(Arguments... a) const {
    if (found_ == nullptr) found_ = reinterpret_cast<pointer>(detail::look_up(name_));
    return found_(a...);
  }

private:
  using pointer = Result (*)(Arguments...);
  const char* name_;
  mutable pointer found_ = nullptr;
};

/// The functions by their own names, without the library's. The first two are overloaded there.
namespace call {
using gemm_function = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                     int, const void*, const void*, cudaDataType, int, const void*,
                                     cudaDataType, int, const void*, void*, cudaDataType, int,
                                     cublasComputeType_t, cublasGemmAlgo_t);
using gemm_stacked_function = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t,
                                             int, int, int, const void*, const void*, cudaDataType,
                                             int, long long, const void*, cudaDataType, int,
                                             long long, const void*, void*, cudaDataType, int,
                                             long long, int, cublasComputeType_t, cublasGemmAlgo_t);
/// Of several groups of stacks; cuBLAS has it from 12.5 on.
using gemm_grouped_function = cublasStatus_t(cublasHandle_t, const cublasOperation_t[],
                                             const cublasOperation_t[], const int[], const int[],
                                             const int[], const void*, const void* const[],
                                             cudaDataType_t, const int[], const void* const[],
                                             cudaDataType_t, const int[], const void*,
                                             void* const[], cudaDataType_t, const int[], int,
                                             const int[], cublasComputeType_t);
static_assert(requires { static_cast<gemm_function*>(&cublasGemmEx); });
static_assert(requires { static_cast<gemm_stacked_function*>(&cublasGemmStridedBatchedEx); });
#if CUBLAS_VER_MAJOR > 12 || (CUBLAS_VER_MAJOR == 12 && CUBLAS_VER_MINOR >= 5)
static_assert(requires { static_cast<gemm_grouped_function*>(&cublasGemmGroupedBatchedEx); });
#endif
inline const late<decltype(cublasCreate_v2)> create{"cublasCreate_v2"};
inline const late<decltype(cublasDestroy_v2)> destroy{"cublasDestroy_v2"};
inline const late<decltype(cublasGetProperty)> get_property{"cublasGetProperty"};
inline const late<decltype(cublasGetStatusName)> status_name{"cublasGetStatusName"};
inline const late<decltype(cublasGetStatusString)> status_string{"cublasGetStatusString"};
inline const late<decltype(cublasSetStream_v2)> set_stream{"cublasSetStream_v2"};
inline const late<decltype(cublasSetWorkspace_v2)> set_workspace{"cublasSetWorkspace_v2"};
inline const late<decltype(cublasSetMathMode)> set_math_mode{"cublasSetMathMode"};
inline const late<gemm_function> gemm{"cublasGemmEx"};
inline const late<gemm_stacked_function> gemm_stacked{"cublasGemmStridedBatchedEx"};
inline const late<gemm_grouped_function> gemm_grouped{"cublasGemmGroupedBatchedEx"};
inline const late<decltype(cublasSgemv_v2)> gemv_f32{"cublasSgemv_v2"};
inline const late<decltype(cublasSgemvStridedBatched)> gemv_stacked_f32{
    "cublasSgemvStridedBatched"};
inline const late<decltype(cublasHSHgemvStridedBatched)> gemv_stacked_f16{
    "cublasHSHgemvStridedBatched"};
inline const late<decltype(cublasTSTgemvStridedBatched)> gemv_stacked_bf16{
    "cublasTSTgemvStridedBatched"};

inline const late<decltype(cublasLtCreate)> lt_create{"cublasLtCreate"};
inline const late<decltype(cublasLtDestroy)> lt_destroy{"cublasLtDestroy"};
inline const late<decltype(cublasLtMatmulDescCreate)> lt_operation_create{
    "cublasLtMatmulDescCreate"};
inline const late<decltype(cublasLtMatmulDescDestroy)> lt_operation_destroy{
    "cublasLtMatmulDescDestroy"};
inline const late<decltype(cublasLtMatmulDescSetAttribute)> lt_operation_set{
    "cublasLtMatmulDescSetAttribute"};
inline const late<decltype(cublasLtMatrixLayoutCreate)> lt_matrix_create{
    "cublasLtMatrixLayoutCreate"};
inline const late<decltype(cublasLtMatrixLayoutDestroy)> lt_matrix_destroy{
    "cublasLtMatrixLayoutDestroy"};
inline const late<decltype(cublasLtMatrixLayoutSetAttribute)> lt_matrix_set{
    "cublasLtMatrixLayoutSetAttribute"};
inline const late<decltype(cublasLtMatmulPreferenceCreate)> lt_preference_create{
    "cublasLtMatmulPreferenceCreate"};
inline const late<decltype(cublasLtMatmulPreferenceDestroy)> lt_preference_destroy{
    "cublasLtMatmulPreferenceDestroy"};
inline const late<decltype(cublasLtMatmulPreferenceSetAttribute)> lt_preference_set{
    "cublasLtMatmulPreferenceSetAttribute"};
inline const late<decltype(cublasLtMatmulAlgoGetHeuristic)> lt_heuristic{
    "cublasLtMatmulAlgoGetHeuristic"};
inline const late<decltype(cublasLtMatmulAlgoInit)> lt_algo_init{"cublasLtMatmulAlgoInit"};
inline const late<decltype(cublasLtMatmulAlgoCheck)> lt_algo_check{"cublasLtMatmulAlgoCheck"};
inline const late<decltype(cublasLtMatmulAlgoConfigGetAttribute)> lt_algo_get{
    "cublasLtMatmulAlgoConfigGetAttribute"};
inline const late<decltype(cublasLtMatmulAlgoConfigSetAttribute)> lt_algo_set{
    "cublasLtMatmulAlgoConfigSetAttribute"};
inline const late<decltype(cublasLtMatmulAlgoCapGetAttribute)> lt_algo_property{
    "cublasLtMatmulAlgoCapGetAttribute"};
inline const late<decltype(cublasLtMatmul)> lt_matmul{"cublasLtMatmul"};
} // namespace call

} // namespace benanza::backend::cublas
