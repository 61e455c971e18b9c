// SPDX-License-Identifier: Apache-2.0
// Convolutions of cuDNN's legacy API on the fake GPU. Its descriptors stay the real library's and
// are read back from there. Of the eight algorithms it has the three that a current GPU has.
#pragma once

#include "cudnn.hpp"

namespace fake {

inline constexpr int legacy_algorithms = 3;

inline facts legacy_tensor(cudnnTensorDescriptor_t d) {
  cudnnDataType_t type{};
  int rank = 0, size[CUDNN_DIM_MAX], strides[CUDNN_DIM_MAX];
  if (cudnnGetTensorNdDescriptor(d, CUDNN_DIM_MAX, &type, &rank, size, strides) !=
      CUDNN_STATUS_SUCCESS)
    throw not_understood("a tensor");
  return {.size = dims(size, size + rank), .strides = dims(strides, strides + rank),
          .type = type_of(type)};
}
inline facts legacy_filter(cudnnFilterDescriptor_t d) {
  cudnnDataType_t type{};
  cudnnTensorFormat_t format{};
  int rank = 0, size[CUDNN_DIM_MAX];
  if (cudnnGetFilterNdDescriptor(d, CUDNN_DIM_MAX, &type, &format, &rank, size) !=
          CUDNN_STATUS_SUCCESS ||
      format != CUDNN_TENSOR_NCHW)
    throw not_understood("a filter");
  facts f{.size = dims(size, size + rank), .strides = dims(static_cast<std::size_t>(rank), 1),
          .type = type_of(type)};
  for (std::size_t i = f.size.size() - 1; i-- > 0;)
    f.strides[i] = f.strides[i + 1] * f.size[i + 1];
  return f;
}
inline detail::window legacy_window(cudnnConvolutionDescriptor_t d) {
  constexpr int most = CUDNN_DIM_MAX - 2;
  int rank = 0, pads[most], strides[most], dilations[most];
  cudnnConvolutionMode_t mode{};
  cudnnDataType_t type{};
  if (cudnnGetConvolutionNdDescriptor(d, most, &rank, pads, strides, dilations, &mode, &type) !=
          CUDNN_STATUS_SUCCESS ||
      mode != CUDNN_CROSS_CORRELATION)
    throw not_understood("a convolution");
  return {dims(pads, pads + rank), dims(strides, strides + rank),
          dims(dilations, dilations + rank)};
}
inline std::size_t legacy_workspace(int algorithm) {
  return algorithm == 0 ? 0 : static_cast<std::size_t>(device::it().rules.workspace_bytes);
}
} // namespace fake

FAKE_GPU_API cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t, const cudnnTensorDescriptor_t, const cudnnFilterDescriptor_t,
    const cudnnConvolutionDescriptor_t, const cudnnTensorDescriptor_t,
    cudnnConvolutionFwdAlgo_t algorithm, std::size_t* bytes) {
  const std::string name = "legacy " + std::to_string(algorithm);
  if (algorithm >= fake::legacy_algorithms ||
      fake::device::it().rules.fails(name, "unsupported"))
    return fake::refuse(CUDNN_STATUS_NOT_SUPPORTED, name + " is not there");
  *bytes = fake::legacy_workspace(algorithm);
  return CUDNN_STATUS_SUCCESS;
}
FAKE_GPU_API cudnnStatus_t cudnnConvolutionForward(
    cudnnHandle_t h, const void* alpha, const cudnnTensorDescriptor_t xd, const void* x,
    const cudnnFilterDescriptor_t wd, const void* w, const cudnnConvolutionDescriptor_t cd,
    cudnnConvolutionFwdAlgo_t algorithm, void* workspace, std::size_t bytes, const void* beta,
    const cudnnTensorDescriptor_t yd, void* y) {
  return fake::understand([&]() -> cudnnStatus_t {
    fake::device& d = fake::device::it();
    const std::lock_guard lock(d.mutex);
    const fake::handle_state* const on = fake::cudnn_state::it().handles.find(h);
    if (on == nullptr) return fake::refuse(CUDNN_STATUS_BAD_PARAM, "no such handle");
    if (d.lost() != cudaSuccess) return fake::refuse(CUDNN_STATUS_EXECUTION_FAILED, "no device");
    if (algorithm >= fake::legacy_algorithms) return CUDNN_STATUS_NOT_SUPPORTED;
    if (bytes < fake::legacy_workspace(algorithm) ||
        (bytes > 0 && d.space.find(workspace, static_cast<std::int64_t>(bytes)) == nullptr))
      return fake::refuse(CUDNN_STATUS_BAD_PARAM, "the workspace is too small");
    if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0)
      throw fake::not_understood("factors");
    const fake::facts from = fake::legacy_tensor(xd), by = fake::legacy_filter(wd),
                      to = fake::legacy_tensor(yd);
    const fake::detail::window over = fake::legacy_window(cd);
    auto e = std::make_shared<fake::execution>();
    e->name = "legacy " + std::to_string(algorithm);
    e->reads = {{x, from.bytes()}, {w, by.bytes()}};
    e->writes = {y, to.bytes()};
    e->compute = [=, wrong = d.rules.fails(e->name, "wrong")](fake::memory& m) {
      fake::dense result = fake::detail::convolve(
          fake::load(from, m.contents(x, from.bytes())), fake::load(by, m.contents(w, by.bytes())),
          fake::dense(to.size), over);
      if (wrong) fake::spoil(result);
      fake::store(to, result, m.contents(y, to.bytes()));
    };
    const cudaError_t put =
        d.put(on->stream, [&d, e = std::shared_ptr<const fake::execution>(std::move(e))](
                              const fake::stream& s) { d.run(e, s); });
    return put == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
  });
}
