// SPDX-License-Identifier: Apache-2.0
// Convolutions of cuDNN's legacy API on the fake GPU, and its calls for softmax, LRN, reductions
// and changes of order. Descriptors stay the real library's and are read back from there. Of the
// eight algorithms of a convolution it has the three that a current GPU has.
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
  return {.size = dims(size, size + rank),
          .strides = dims(strides, strides + rank),
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
  facts f{.size = dims(size, size + rank),
          .strides = dims(static_cast<std::size_t>(rank), 1),
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

/// Puts a call on the handle's stream: `compute` gives the result from the operands.
struct legacy_operand {
  facts is{};
  const void* at = nullptr;
};
inline cudnnStatus_t launch(cudnnHandle_t h, const std::string& name, const void* alpha,
                            const void* beta, std::vector<legacy_operand> from,
                            const legacy_operand& to,
                            std::function<dense(const std::vector<dense>&)> compute) {
  device& d = device::it();
  const std::lock_guard lock(d.mutex);
  const handle_state* const on = cudnn_state::it().handles.find(h);
  if (on == nullptr) return refuse(CUDNN_STATUS_BAD_PARAM, "no such handle");
  if (d.lost() != cudaSuccess) return refuse(CUDNN_STATUS_EXECUTION_FAILED, "no device");
  if (d.rules.fails(name, "refuses-to-run"))
    return refuse(CUDNN_STATUS_EXECUTION_FAILED, name + " is scripted not to run");
  if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0)
    throw not_understood("factors");
  auto e = std::make_shared<execution>();
  e->name = name;
  for (const legacy_operand& o : from)
    e->reads.push_back({o.at, o.is.bytes()});
  e->writes = {to.at, to.is.bytes()};
  e->compute = [from = std::move(from), to, compute = std::move(compute),
                wrong = d.rules.fails(name, "wrong")](memory& m) {
    std::vector<dense> operands;
    for (const legacy_operand& o : from)
      operands.push_back(load(o.is, m.contents(o.at, o.is.bytes())));
    dense result = compute(operands);
    if (wrong) spoil(result);
    store(to.is, result, m.contents(to.at, to.is.bytes()));
  };
  const cudaError_t put =
      d.put(on->stream, [&d, e = std::shared_ptr<const execution>(std::move(e))](const stream& s) {
        d.run(e, s);
      });
  return put == cudaSuccess ? CUDNN_STATUS_SUCCESS
                            : refuse(CUDNN_STATUS_EXECUTION_FAILED, "no such stream");
}
/// True where the bytes are there, and enough.
inline bool holds_workspace(const void* at, std::size_t bytes, std::size_t needed) {
  return bytes >= needed &&
         (bytes == 0 || device::it().space.find(at, static_cast<std::int64_t>(bytes)) != nullptr);
}

/// A softmax over the second dim, or over all but the first.
inline dense softmax(const dense& x, cudnnSoftmaxMode_t mode, bool log) {
  dims rows = x.size;
  for (std::size_t d = 1; d < rows.size(); ++d)
    if (d == 1 || mode == CUDNN_SOFTMAX_MODE_INSTANCE) rows[d] = 1;
  const dense most = detail::reduce(x, dense(rows), CUDNN_REDUCE_TENSOR_MAX);
  dense raised(x.size), y(x.size);
  each_index(x.size, [&](const dims& at, std::int64_t i) {
    raised[i] = std::exp(x[i] - most[detail::broadcast(at, rows)]);
  });
  const dense sum = detail::reduce(raised, dense(rows), CUDNN_REDUCE_TENSOR_ADD);
  each_index(x.size, [&](const dims& at, std::int64_t i) {
    const std::int64_t row = detail::broadcast(at, rows);
    y[i] = log ? x[i] - most[row] - std::log(sum[row]) : raised[i] / sum[row];
  });
  return y;
}

inline dense lrn(const dense& x, std::int64_t n, double alpha, double beta, double k) {
  dense y(x.size);
  each_index(x.size, [&](const dims& at, std::int64_t i) {
    double squares = 0;
    dims near = at;
    for (near[1] = std::max<std::int64_t>(0, at[1] - n / 2);
         near[1] < std::min(x.size[1], at[1] + n / 2 + 1); ++near[1])
      squares += std::pow(x[detail::broadcast(near, x.size)], 2);
    y[i] = x[i] / std::pow(k + alpha / static_cast<double>(n) * squares, beta);
  });
  return y;
}
} // namespace fake

// ---- convolutions
// --------------------------------------------------------------------------------
FAKE_GPU_API cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t, const cudnnTensorDescriptor_t, const cudnnFilterDescriptor_t,
    const cudnnConvolutionDescriptor_t, const cudnnTensorDescriptor_t,
    cudnnConvolutionFwdAlgo_t algorithm, std::size_t* bytes) {
  const std::string name = "legacy " + std::to_string(algorithm);
  if (algorithm >= fake::legacy_algorithms || fake::device::it().rules.fails(name, "unsupported"))
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
    if (algorithm >= fake::legacy_algorithms) return CUDNN_STATUS_NOT_SUPPORTED;
    if (!fake::holds_workspace(workspace, bytes, fake::legacy_workspace(algorithm)))
      return fake::refuse(CUDNN_STATUS_BAD_PARAM, "the workspace is too small");
    const fake::facts to = fake::legacy_tensor(yd);
    return fake::launch(h, "legacy " + std::to_string(algorithm), alpha, beta,
                        {{fake::legacy_tensor(xd), x}, {fake::legacy_filter(wd), w}}, {to, y},
                        [to, over = fake::legacy_window(cd)](const auto& operands) {
                          return fake::detail::convolve(operands[0], operands[1],
                                                        fake::dense(to.size), over);
                        });
  });
}

// ---- other calls
// ---------------------------------------------------------------------------------
FAKE_GPU_API cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t h, cudnnSoftmaxAlgorithm_t how,
                                               cudnnSoftmaxMode_t mode, const void* alpha,
                                               const cudnnTensorDescriptor_t xd, const void* x,
                                               const void* beta, const cudnnTensorDescriptor_t yd,
                                               void* y) {
  return fake::understand([&] {
    return fake::launch(h, "call softmax", alpha, beta, {{fake::legacy_tensor(xd), x}},
                        {fake::legacy_tensor(yd), y},
                        [mode, log = how == CUDNN_SOFTMAX_LOG](const auto& operands) {
                          return fake::softmax(operands[0], mode, log);
                        });
  });
}
FAKE_GPU_API cudnnStatus_t cudnnLRNCrossChannelForward(cudnnHandle_t h, cudnnLRNDescriptor_t how,
                                                       cudnnLRNMode_t, const void* alpha,
                                                       const cudnnTensorDescriptor_t xd,
                                                       const void* x, const void* beta,
                                                       const cudnnTensorDescriptor_t yd, void* y) {
  return fake::understand([&]() -> cudnnStatus_t {
    unsigned n = 0;
    double a = 0, b = 0, k = 0;
    if (cudnnGetLRNDescriptor(how, &n, &a, &b, &k) != CUDNN_STATUS_SUCCESS)
      throw fake::not_understood("an LRN");
    return fake::launch(
        h, "call lrn", alpha, beta, {{fake::legacy_tensor(xd), x}}, {fake::legacy_tensor(yd), y},
        [n, a, b, k](const auto& operands) { return fake::lrn(operands[0], n, a, b, k); });
  });
}
FAKE_GPU_API cudnnStatus_t cudnnTransformTensor(cudnnHandle_t h, const void* alpha,
                                                const cudnnTensorDescriptor_t xd, const void* x,
                                                const void* beta, const cudnnTensorDescriptor_t yd,
                                                void* y) {
  return fake::understand([&]() -> cudnnStatus_t {
    const fake::facts from = fake::legacy_tensor(xd), to = fake::legacy_tensor(yd);
    if (from.size != to.size) throw fake::not_understood("tensors of other dims");
    return fake::launch(h, "call transform", alpha, beta, {{from, x}}, {to, y},
                        [](const auto& operands) { return operands[0]; });
  });
}
FAKE_GPU_API cudnnStatus_t cudnnGetReductionWorkspaceSize(cudnnHandle_t,
                                                          const cudnnReduceTensorDescriptor_t,
                                                          const cudnnTensorDescriptor_t,
                                                          const cudnnTensorDescriptor_t,
                                                          std::size_t* bytes) {
  *bytes = static_cast<std::size_t>(fake::device::it().rules.workspace_bytes);
  return CUDNN_STATUS_SUCCESS;
}
FAKE_GPU_API cudnnStatus_t cudnnReduceTensor(cudnnHandle_t h,
                                             const cudnnReduceTensorDescriptor_t how, void*,
                                             std::size_t, void* workspace, std::size_t bytes,
                                             const void* alpha, const cudnnTensorDescriptor_t xd,
                                             const void* x, const void* beta,
                                             const cudnnTensorDescriptor_t yd, void* y) {
  return fake::understand([&]() -> cudnnStatus_t {
    cudnnReduceTensorOp_t what{};
    cudnnDataType_t compute{};
    cudnnNanPropagation_t nan{};
    cudnnReduceTensorIndices_t indices{};
    cudnnIndicesType_t index_type{};
    if (cudnnGetReduceTensorDescriptor(how, &what, &compute, &nan, &indices, &index_type) !=
            CUDNN_STATUS_SUCCESS ||
        indices != CUDNN_REDUCE_TENSOR_NO_INDICES)
      throw fake::not_understood("a reduction");
    if (!fake::holds_workspace(workspace, bytes,
                               static_cast<std::size_t>(fake::device::it().rules.workspace_bytes)))
      return fake::refuse(CUDNN_STATUS_BAD_PARAM, "the workspace is too small");
    const fake::facts to = fake::legacy_tensor(yd);
    return fake::launch(h, "call reduce", alpha, beta, {{fake::legacy_tensor(xd), x}}, {to, y},
                        [to, what](const auto& operands) {
                          return fake::detail::reduce(operands[0], fake::dense(to.size), what);
                        });
  });
}
