// SPDX-License-Identifier: Apache-2.0
// cuBLAS and cublasLt on the shared GPU and its stream: one handle each for a process, and one
// workspace a stream for all executions, which run one after the other there. Failures become
// exceptions with the library's own words.
//
//   auto on = std::make_shared<context>(cuda::gpu::of_this_process());   on->plain(), on->light()
#pragma once

#include "../cuda/gpu.hpp"
#include "functions.hpp"

#include <map>
#include <utility>

#include <span>

namespace benanza::backend::cublas {

/// Bytes of memory that one execution may use: what NVIDIA recommends for its GPUs since Hopper.
inline constexpr std::int64_t workspace_limit_bytes = std::int64_t{32} << 20;

/// Thrown where the library has no way, or none with these settings.
class refusal : public error {
public:
  using error::error;
};

/// Throws unless `s` is a success: std::bad_alloc, a refusal or benanza::error.
inline void check(cublasStatus_t s, std::string_view what) {
  if (s == CUBLAS_STATUS_SUCCESS) return;
  if (s == CUBLAS_STATUS_ALLOC_FAILED) {
    cudaGetLastError();
    throw std::bad_alloc();
  }
  const std::string text = "cuBLAS: " + std::string(what) + ": " + call::status_string(s) + " (" +
                           call::status_name(s) + ')';
  if (s == CUBLAS_STATUS_NOT_SUPPORTED || s == CUBLAS_STATUS_INVALID_VALUE ||
      s == CUBLAS_STATUS_ARCH_MISMATCH)
    throw refusal(text);
  throw error(text);
}

/// Throws where a launch failed. One that failed for good is the device's matter, not the
/// library's.
inline void check_launch(cublasStatus_t s) {
  if (s == CUBLAS_STATUS_SUCCESS) return;
  cuda::throw_if_lost("an execution failed");
  check(s, "an execution failed");
}

/// Owner of a handle or a descriptor that was made by `create`.
template <class Handle, const auto& Destroy>
class owned {
public:
  template <class Create>
  owned(Create&& create, std::string_view what) {
    check(create(&it_), what);
  }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  ~owned() { Destroy(it_); }
  Handle get() const { return it_; }

private:
  Handle it_{};
};

class context {
public:
  explicit context(std::shared_ptr<cuda::gpu> on)
      : gpu_(std::move(on))
      , one_(sizeof(float))
      , plain_(call::create, "cuBLAS cannot be started")
      , light_(call::lt_create, "cublasLt cannot be started") {
    const float one = 1;
    one_.upload(std::as_bytes(std::span(&one, 1)));
    // Parts of k meet in f32, or their sums would be another class of result.
    check(call::set_math_mode(
              plain(), static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                                 CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
          "a math mode");
  }

  /// On the stream that the GPU's libraries use just now, with that one's workspace.
  cublasHandle_t plain() const {
    const cudaStream_t now = gpu_->stream().get();
    if (std::exchange(stream_, now) == now) return plain_.get();
    check(call::set_stream(plain_.get(), now), "cuBLAS cannot use a stream");
    // After the stream, which would take it back. What the library allocates itself cannot be part
    // of a CUDA graph.
    check(call::set_workspace(plain_.get(), workspace(), workspace_limit_bytes),
          "cuBLAS cannot use a workspace");
    return plain_.get();
  }
  cublasLtHandle_t light() const { return light_.get(); }
  const std::shared_ptr<cuda::gpu>& gpu() const { return gpu_; }
  std::byte* workspace() const {
    cuda::memory& its = workspaces_[gpu_->stream().get()];
    if (its.bytes() == 0) its = cuda::memory(workspace_limit_bytes);
    return its.data();
  }
  /// Where the GPU finds a 1, as f32.
  const std::byte* one() const { return one_.data(); }

private:
  std::shared_ptr<cuda::gpu> gpu_;
  mutable std::map<cudaStream_t, cuda::memory> workspaces_{};
  mutable cudaStream_t stream_ = nullptr;
  cuda::memory one_;
  owned<cublasHandle_t, call::destroy> plain_;
  owned<cublasLtHandle_t, call::lt_destroy> light_;
};

} // namespace benanza::backend::cublas
