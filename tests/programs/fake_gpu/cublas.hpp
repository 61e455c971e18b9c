// SPDX-License-Identifier: Apache-2.0
// cuBLAS's plain functions on the fake GPU: handles, products of matrices, groups of them, products
// of a matrix and a vector. A handle without a workspace of its own spoils a capture, as allocating
// would.
#pragma once

#include "blas.hpp"

#include <optional>

namespace fake {

struct blas_handle {
  cudaStream_t stream = nullptr;
  bool has_workspace = false;
};

struct blas_state {
  objects<blas_handle> handles{device::it().log, "cublas-handle"};

  static blas_state& it() {
    static auto* const one = new blas_state;
    return *one;
  }
};

/// Answers a call on a handle.
template <class F>
cublasStatus_t with_handle(cublasHandle_t h, F&& f) {
  device& d = device::it();
  const std::lock_guard lock(d.mutex);
  blas_handle* const it = blas_state::it().handles.find(h);
  return it == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : f(*it);
}

/// Runs a product of the plain functions, if it is one.
inline cublasStatus_t run_plain(const blas_handle& h, const char* name, const blas_product& p) {
  device& d = device::it();
  if (!p.valid()) return CUBLAS_STATUS_INVALID_VALUE;
  if (d.rules.fails(name, "unsupported")) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (!h.has_workspace && d.spoils_capture()) return CUBLAS_STATUS_EXECUTION_FAILED;
  return launch(h.stream, name, "", p);
}

inline blas_matrix blas_operand(const void* at, cudaDataType_t type, std::int64_t taken_rows,
                                std::int64_t taken_columns, std::int64_t ld, std::int64_t step,
                                cublasOperation_t op) {
  const bool turned = op != CUBLAS_OP_N;
  return {at,
          *dtype_of(type),
          turned ? taken_columns : taken_rows,
          turned ? taken_rows : taken_columns,
          ld,
          step,
          turned};
}

inline cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t oa, cublasOperation_t ob, int m,
                           int n, int k, const void* alpha, const void* a, cudaDataType_t ta,
                           int lda, std::int64_t step_a, const void* b, cudaDataType_t tb, int ldb,
                           std::int64_t step_b, const void* beta, void* c, cudaDataType_t tc,
                           int ldc, std::int64_t step_c, int batches, cublasComputeType_t compute,
                           cublasGemmAlgo_t algorithm) {
  return with_handle(handle, [&](const blas_handle& h) {
    const bool floats = ta == CUDA_R_32F || ta == CUDA_R_16F || ta == CUDA_R_16BF;
    const bool tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    if (!floats || ta != tb || ta != tc || algorithm != CUBLAS_GEMM_DEFAULT ||
        (compute != CUBLAS_COMPUTE_32F && !(tf32 && ta == CUDA_R_32F)))
      return CUBLAS_STATUS_NOT_SUPPORTED;
    const double beta_value = static_cast<double>(*static_cast<const float*>(beta));
    const blas_matrix result = blas_operand(c, tc, m, n, ldc, step_c, CUBLAS_OP_N);
    return run_plain(h, "blas gemm",
                     {.first = blas_operand(a, ta, m, k, lda, step_a, oa),
                      .second = blas_operand(b, tb, k, n, ldb, step_b, ob),
                      .addend = result,
                      .result = result,
                      .batches = batches,
                      .alpha = static_cast<double>(*static_cast<const float*>(alpha)),
                      .beta = beta_value,
                      .tf32 = tf32});
  });
}

/// Products of matrices of which the GPU's memory says where they are; one after the other, by what
/// is there when they run.
struct grouped_products {
  std::vector<blas_product> all{};                                   ///< each without places
  const void *first = nullptr, *second = nullptr, *result = nullptr; ///< of tables of pointers

  std::int64_t table_bytes() const { return std::ssize(all) * std::int64_t{sizeof(void*)}; }
  /// The products with their places; none where a table is not in the GPU's memory.
  std::vector<blas_product> placed(memory& m) const {
    std::vector<blas_product> out = all;
    for (const auto& [table, which] : {std::pair{first, &blas_product::first},
                                       {second, &blas_product::second},
                                       {result, &blas_product::result}}) {
      const std::byte* const from = m.contents(table, table_bytes());
      if (from == nullptr) return {};
      for (std::size_t i = 0; i < out.size(); ++i)
        std::memcpy(&(out[i].*which).at, from + i * sizeof(void*), sizeof(void*));
    }
    for (blas_product& p : out)
      p.addend = p.result;
    return out;
  }
  /// Tensor cores read units of so many bytes, where rows are made of them.
  static bool is_aligned(const blas_product& p) {
    if (p.first.type == benanza::dtype::f32 && !p.tf32) return true;
    const std::int64_t row = p.first.taken_columns() * benanza::size_bytes(p.first.type);
    const std::uintptr_t unit = row % 16 == 0 ? 16 : row % 4 == 0 ? 4 : 1;
    for (const void* const at : {p.first.at, p.second.at, std::as_const(p.result.at)})
      if (reinterpret_cast<std::uintptr_t>(at) % unit != 0) return false;
    return true;
  }
};

inline void run_grouped(device& d, const grouped_products& g, const stream& s) {
  const std::vector<blas_product> placed = g.placed(d.space);
  if (placed.empty()) return d.lose(cudaErrorIllegalAddress);
  auto e = std::make_shared<execution>();
  e->name = "blas grouped";
  for (const void* const table : {g.first, g.second, g.result})
    e->reads.push_back({table, g.table_bytes()});
  for (const blas_product& p : placed) {
    if (!grouped_products::is_aligned(p)) return d.lose(cudaErrorMisalignedAddress);
    e->reads.push_back({p.first.at, p.first.bytes(1)});
    e->reads.push_back({p.second.at, p.second.bytes(1)});
    e->writes_too.push_back({p.result.at, p.result.bytes(1)});
  }
  e->writes = e->writes_too.front();
  e->compute = [placed, wrong = d.rules.fails(e->name, "wrong")](memory& m) {
    for (const blas_product& p : placed)
      detail::compute(m, p, wrong && &p == placed.data());
  };
  d.run(e, s);
}

/// y = op(a) x: a product with a matrix of one column.
inline cublasStatus_t gemv(cublasHandle_t handle, cudaDataType_t type, cublasOperation_t op,
                           int rows, int columns, const float* alpha, const void* a, int lda,
                           std::int64_t step_a, const void* x, int x_apart, std::int64_t step_x,
                           const float* beta, void* y, int y_apart, std::int64_t step_y,
                           int batches) {
  return with_handle(handle, [&](const blas_handle& h) {
    if (x_apart != 1 || y_apart != 1) return CUBLAS_STATUS_NOT_SUPPORTED;
    const bool turned = op != CUBLAS_OP_N;
    const int from = turned ? rows : columns, to = turned ? columns : rows;
    const blas_matrix result = blas_operand(y, type, to, 1, to, step_y, CUBLAS_OP_N);
    return run_plain(h, "blas gemv",
                     {.first = blas_operand(a, type, to, from, lda, step_a, op),
                      .second = blas_operand(x, type, from, 1, from, step_x, CUBLAS_OP_N),
                      .addend = result,
                      .result = result,
                      .batches = batches,
                      .alpha = static_cast<double>(*alpha),
                      .beta = static_cast<double>(*beta)});
  });
}
} // namespace fake

// ---- handles
// -------------------------------------------------------------------------------------
FAKE_GPU_API cublasStatus_t cublasCreate_v2(cublasHandle_t* out) {
  fake::device& d = fake::device::it();
  const std::lock_guard lock(d.mutex);
  if (d.lost() != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  *out = reinterpret_cast<cublasHandle_t>(fake::blas_state::it().handles.make());
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_GPU_API cublasStatus_t cublasDestroy_v2(cublasHandle_t h) {
  return fake::with_handle(h, [h](const fake::blas_handle&) {
    fake::blas_state::it().handles.drop(h);
    return CUBLAS_STATUS_SUCCESS;
  });
}
FAKE_GPU_API cublasStatus_t cublasSetStream_v2(cublasHandle_t h, cudaStream_t s) {
  return fake::with_handle(h, [s](fake::blas_handle& it) {
    if (fake::device::it().stream_of(s) == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    it = {.stream = s};
    return CUBLAS_STATUS_SUCCESS;
  });
}
FAKE_GPU_API cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t h, void* at, std::size_t bytes) {
  return fake::with_handle(h, [at, bytes](fake::blas_handle& it) {
    if (fake::device::it().space.find(at, static_cast<std::int64_t>(bytes)) == nullptr)
      return CUBLAS_STATUS_INVALID_VALUE;
    it.has_workspace = bytes > 0;
    return CUBLAS_STATUS_SUCCESS;
  });
}
FAKE_GPU_API cublasStatus_t cublasSetMathMode(cublasHandle_t h, cublasMath_t mode) {
  return fake::with_handle(h, [mode](const fake::blas_handle&) {
    // TF32 and emulation, which the modes can ask for too, the fake does not have.
    constexpr int flags = CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    return (mode & ~flags) == CUBLAS_DEFAULT_MATH ? CUBLAS_STATUS_SUCCESS
                                                  : CUBLAS_STATUS_NOT_SUPPORTED;
  });
}

// ---- matrices
// ------------------------------------------------------------------------------------
FAKE_GPU_API cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t oa,
                                         cublasOperation_t ob, int m, int n, int k,
                                         const void* alpha, const void* a, cudaDataType_t ta,
                                         int lda, const void* b, cudaDataType_t tb, int ldb,
                                         const void* beta, void* c, cudaDataType_t tc, int ldc,
                                         cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return fake::gemm(h, oa, ob, m, n, k, alpha, a, ta, lda, 0, b, tb, ldb, 0, beta, c, tc, ldc, 0, 1,
                    compute, algorithm);
}
FAKE_GPU_API cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t h, cublasOperation_t oa, cublasOperation_t ob, int m, int n, int k,
    const void* alpha, const void* a, cudaDataType_t ta, int lda, long long step_a, const void* b,
    cudaDataType_t tb, int ldb, long long step_b, const void* beta, void* c, cudaDataType_t tc,
    int ldc, long long step_c, int batches, cublasComputeType_t compute,
    cublasGemmAlgo_t algorithm) {
  return fake::gemm(h, oa, ob, m, n, k, alpha, a, ta, lda, step_a, b, tb, ldb, step_b, beta, c, tc,
                    ldc, step_c, batches, compute, algorithm);
}
FAKE_GPU_API cublasStatus_t cublasGemmGroupedBatchedEx(
    cublasHandle_t handle, const cublasOperation_t oa[], const cublasOperation_t ob[],
    const int m[], const int n[], const int k[], const void* alpha, const void* const a[],
    cudaDataType_t ta, const int lda[], const void* const b[], cudaDataType_t tb, const int ldb[],
    const void* beta, void* const c[], cudaDataType_t tc, const int ldc[], int groups,
    const int sizes[], cublasComputeType_t compute) {
  return fake::with_handle(handle, [&](const fake::blas_handle& h) {
    fake::device& d = fake::device::it();
    const bool floats = ta == CUDA_R_32F || ta == CUDA_R_16F || ta == CUDA_R_16BF;
    const bool tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    if (!floats || ta != tb || ta != tc ||
        (compute != CUBLAS_COMPUTE_32F && !(tf32 && ta == CUDA_R_32F)) ||
        d.rules.fails("blas grouped", "unsupported"))
      return CUBLAS_STATUS_NOT_SUPPORTED;
    fake::grouped_products all{.first = a, .second = b, .result = c};
    for (int i = 0; i < groups; ++i) {
      fake::blas_product p{.first = fake::blas_operand(nullptr, ta, m[i], k[i], lda[i], 0, oa[i]),
                           .second = fake::blas_operand(nullptr, tb, k[i], n[i], ldb[i], 0, ob[i]),
                           .result =
                               fake::blas_operand(nullptr, tc, m[i], n[i], ldc[i], 0, CUBLAS_OP_N),
                           .alpha = static_cast<double>(static_cast<const float*>(alpha)[i]),
                           .beta = static_cast<double>(static_cast<const float*>(beta)[i]),
                           .tf32 = tf32};
      if (!p.valid() || sizes[i] < 0) return CUBLAS_STATUS_INVALID_VALUE;
      all.all.insert(all.all.end(), static_cast<std::size_t>(sizes[i]), p);
    }
    if (d.lost() != cudaSuccess || d.rules.fails("blas grouped", "refuses-to-run") ||
        (!h.has_workspace && d.spoils_capture()))
      return CUBLAS_STATUS_EXECUTION_FAILED;
    const cudaError_t put =
        d.put(h.stream, [&d, all](const fake::stream& s) { fake::run_grouped(d, all, s); });
    return put == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
  });
}

// ---- a matrix and a vector
// -----------------------------------------------------------------------
FAKE_GPU_API cublasStatus_t cublasSgemv_v2(cublasHandle_t h, cublasOperation_t op, int m, int n,
                                           const float* alpha, const float* a, int lda,
                                           const float* x, int x_apart, const float* beta, float* y,
                                           int y_apart) {
  return fake::gemv(h, CUDA_R_32F, op, m, n, alpha, a, lda, 0, x, x_apart, 0, beta, y, y_apart, 0,
                    1);
}
FAKE_GPU_API cublasStatus_t cublasSgemvStridedBatched(cublasHandle_t h, cublasOperation_t op, int m,
                                                      int n, const float* alpha, const float* a,
                                                      int lda, long long step_a, const float* x,
                                                      int x_apart, long long step_x,
                                                      const float* beta, float* y, int y_apart,
                                                      long long step_y, int batches) {
  return fake::gemv(h, CUDA_R_32F, op, m, n, alpha, a, lda, step_a, x, x_apart, step_x, beta, y,
                    y_apart, step_y, batches);
}
FAKE_GPU_API cublasStatus_t cublasHSHgemvStridedBatched(
    cublasHandle_t h, cublasOperation_t op, int m, int n, const float* alpha, const __half* a,
    int lda, long long step_a, const __half* x, int x_apart, long long step_x, const float* beta,
    __half* y, int y_apart, long long step_y, int batches) {
  return fake::gemv(h, CUDA_R_16F, op, m, n, alpha, a, lda, step_a, x, x_apart, step_x, beta, y,
                    y_apart, step_y, batches);
}
FAKE_GPU_API cublasStatus_t cublasTSTgemvStridedBatched(
    cublasHandle_t h, cublasOperation_t op, int m, int n, const float* alpha,
    const __nv_bfloat16* a, int lda, long long step_a, const __nv_bfloat16* x, int x_apart,
    long long step_x, const float* beta, __nv_bfloat16* y, int y_apart, long long step_y,
    int batches) {
  return fake::gemv(h, CUDA_R_16BF, op, m, n, alpha, a, lda, step_a, x, x_apart, step_x, beta, y,
                    y_apart, step_y, batches);
}
