// SPDX-License-Identifier: Apache-2.0
// Convolutions of cuDNN's legacy API on the fake GPU (forward, fused with what follows, gradients
// by the source and by the filter), and its calls for softmax, LRN, reductions and changes of
// order. Descriptors stay the real library's and are read back from there. Of the algorithms of a
// convolution it has those three that a current GPU has, of the gradients' two; types and layouts
// as the documentation's tables say.
#pragma once

#include "cudnn.hpp"

namespace fake {

inline constexpr int legacy_algorithms = 3;
/// Forward also a Winograd, as older GPUs do, where a script says so.
inline bool has_forward(int algorithm) {
  return algorithm < legacy_algorithms ||
         device::it().rules.fails("legacy " + std::to_string(algorithm), "winograd");
}

/// How many channels are one element, and what one of them is.
inline std::int64_t vector_of(cudnnDataType_t t) {
  return t == CUDNN_DATA_INT8x32 ? 32 : t == CUDNN_DATA_INT8x4 || t == CUDNN_DATA_UINT8x4 ? 4 : 1;
}
inline benanza::dtype channel_of(cudnnDataType_t t) {
  if (t == CUDNN_DATA_UINT8x4) return benanza::dtype::u8;
  return vector_of(t) > 1 ? benanza::dtype::s8 : type_of(t);
}

inline facts legacy_tensor(cudnnTensorDescriptor_t d) {
  cudnnDataType_t type{};
  int rank = 0, size[CUDNN_DIM_MAX], strides[CUDNN_DIM_MAX];
  if (cudnnGetTensorNdDescriptor(d, CUDNN_DIM_MAX, &type, &rank, size, strides) !=
      CUDNN_STATUS_SUCCESS)
    throw not_understood("a tensor");
  return {.size = dims(size, size + rank),
          .strides = dims(strides, strides + rank),
          .type = channel_of(type),
          .vector = vector_of(type)};
}
/// A filter: the last dim counted is the fastest in memory, or the channels' are. Of vectors of
/// channels it is like the former.
inline facts legacy_filter(cudnnFilterDescriptor_t d) {
  cudnnDataType_t type{};
  cudnnTensorFormat_t format{};
  int rank = 0, size[CUDNN_DIM_MAX];
  if (cudnnGetFilterNdDescriptor(d, CUDNN_DIM_MAX, &type, &format, &rank, size) !=
          CUDNN_STATUS_SUCCESS ||
      (format == CUDNN_TENSOR_NCHW_VECT_C) != (vector_of(type) > 1))
    throw not_understood("a filter");
  facts f{.size = dims(size, size + rank),
          .strides = dims(static_cast<std::size_t>(rank), 1),
          .type = channel_of(type),
          .vector = vector_of(type)};
  std::vector<std::size_t> order; // from the fastest
  for (std::size_t i = f.size.size(); i-- > 1;)
    if (i > 1 || format != CUDNN_TENSOR_NHWC) order.push_back(i);
  if (format == CUDNN_TENSOR_NHWC) order.insert(order.begin(), 1);
  order.push_back(0);
  std::int64_t step = 1;
  for (const std::size_t i : order) {
    f.strides[i] = step;
    step *= i == 1 ? f.size[i] / f.vector : f.size[i];
  }
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
/// Refuses what the tables of types and layouts do not have.
inline void check_configuration(const facts& x, const facts& w, const facts& y,
                                cudnnConvolutionDescriptor_t d, int algorithm) {
  constexpr int most = CUDNN_DIM_MAX - 2;
  int rank = 0, pads[most], strides[most], dilations[most];
  cudnnConvolutionMode_t mode{};
  cudnnDataType_t sums{};
  cudnnGetConvolutionNdDescriptor(d, most, &rank, pads, strides, dilations, &mode, &sums);
  using benanza::dtype;
  const bool whole = w.type == dtype::s8;
  if ((sums == CUDNN_DATA_INT32) != whole) throw not_understood("sums of another kind");
  if (sums == CUDNN_DATA_HALF && x.type != dtype::f16) throw not_understood("sums in f16");
  int groups = 1;
  cudnnGetConvolutionGroupCount(d, &groups);
  if (x.size[1] != groups * w.size[1] || y.size[1] != w.size[0])
    throw not_understood("channels that do not fit the filter");
  if (!whole) {
    if (x.type != w.type || x.type != y.type) throw not_understood("types that differ");
    return;
  }
  const bool real = y.type == dtype::f32, vectors = x.vector > 1;
  const auto last = [](const facts& f) { return f.strides[1] == 1; };
  if ((x.type != dtype::s8 && x.type != dtype::u8) || (y.type != dtype::s8 && !real))
    throw not_understood("integers of other types");
  if (x.vector != w.vector || x.vector != y.vector) throw not_understood("vectors that differ");
  if (!vectors && (!last(x) || !last(w) || !last(y)))
    throw not_understood("integers whose channels are not last");
  if (x.size[1] % 4 != 0 || (y.size[1] % 4 != 0 && !real))
    throw not_understood("integers whose channels are no fours");
  if (std::any_of(dilations, dilations + rank, [](int by) { return by != 1; }))
    throw not_understood("integers with a dilation");
  // Vectors and sources without a sign have IMPLICIT_PRECOMP_GEMM alone, others IMPLICIT_GEMM too.
  if (algorithm > 1 || (algorithm == 0 && (vectors || x.type == dtype::u8)))
    throw not_understood("integers with this algorithm");
}
inline std::size_t legacy_workspace(int algorithm) {
  return algorithm == 0 ? 0 : static_cast<std::size_t>(device::it().rules.workspace_bytes);
}

/// Puts a call on the handle's stream: `compute` gives the result from the operands.
struct legacy_operand {
  facts is{};
  const void* at = nullptr;
};
inline cudnnStatus_t launch_scaled(cudnnHandle_t h, const std::string& name,
                                   std::vector<legacy_operand> from, const legacy_operand& to,
                                   std::function<dense(const std::vector<dense>&)> compute) {
  device& d = device::it();
  const std::lock_guard lock(d.mutex);
  const handle_state* const on = cudnn_state::it().handles.find(h);
  if (on == nullptr) return refuse(CUDNN_STATUS_BAD_PARAM, "no such handle");
  if (d.lost() != cudaSuccess) return refuse(CUDNN_STATUS_EXECUTION_FAILED, "no device");
  if (d.rules.fails(name, "refuses-to-run"))
    return refuse(CUDNN_STATUS_EXECUTION_FAILED, name + " is scripted not to run");
  auto e = std::make_shared<execution>();
  e->name = name;
  for (const legacy_operand& o : from)
    e->reads.push_back({o.at, o.is.bytes()});
  e->writes = {to.at, to.is.bytes()};
  e->compute = [from = std::move(from), to, compute = std::move(compute),
                wrong = d.rules.fails(name, "wrong"), off = d.rules.off(name)](memory& m) {
    std::vector<dense> operands;
    for (const legacy_operand& o : from)
      operands.push_back(load(o.is, m.contents(o.at, o.is.bytes())));
    dense result = compute(operands);
    if (wrong) spoil(result);
    if (off > 0) shift(result, off);
    store(to.is, result, m.contents(to.at, to.is.bytes()));
  };
  const cudaError_t put =
      d.put(on->stream, [&d, e = std::shared_ptr<const execution>(std::move(e))](const stream& s) {
        d.run(e, s);
      });
  return put == cudaSuccess ? CUDNN_STATUS_SUCCESS
                            : refuse(CUDNN_STATUS_EXECUTION_FAILED, "no such stream");
}
/// The same with factors that must be one and none.
inline cudnnStatus_t launch(cudnnHandle_t h, const std::string& name, const void* alpha,
                            const void* beta, std::vector<legacy_operand> from,
                            const legacy_operand& to,
                            std::function<dense(const std::vector<dense>&)> compute) {
  if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0)
    throw not_understood("factors");
  return launch_scaled(h, name, std::move(from), to, std::move(compute));
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
namespace fake {
/// Answers how much workspace a convolution wants: `y` is what it, or its gradient, has at its end.
inline cudnnStatus_t convolution_workspace(const std::string& name, bool there,
                                           cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
                                           cudnnTensorDescriptor_t y,
                                           cudnnConvolutionDescriptor_t how, int algorithm,
                                           std::size_t* bytes) {
  return understand([&]() -> cudnnStatus_t {
    if (!there || device::it().rules.fails(name, "unsupported"))
      return refuse(CUDNN_STATUS_NOT_SUPPORTED, name + " is not there");
    check_configuration(legacy_tensor(x), legacy_filter(w), legacy_tensor(y), how, algorithm);
    *bytes = legacy_workspace(algorithm);
    return CUDNN_STATUS_SUCCESS;
  });
}
} // namespace fake

FAKE_GPU_API cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t, const cudnnTensorDescriptor_t xd, const cudnnFilterDescriptor_t wd,
    const cudnnConvolutionDescriptor_t cd, const cudnnTensorDescriptor_t yd,
    cudnnConvolutionFwdAlgo_t algorithm, std::size_t* bytes) {
  return fake::convolution_workspace("legacy " + std::to_string(algorithm),
                                     fake::has_forward(algorithm), xd, wd, yd, cd, algorithm,
                                     bytes);
}
FAKE_GPU_API cudnnStatus_t cudnnConvolutionForward(
    cudnnHandle_t h, const void* alpha, const cudnnTensorDescriptor_t xd, const void* x,
    const cudnnFilterDescriptor_t wd, const void* w, const cudnnConvolutionDescriptor_t cd,
    cudnnConvolutionFwdAlgo_t algorithm, void* workspace, std::size_t bytes, const void* beta,
    const cudnnTensorDescriptor_t yd, void* y) {
  return fake::understand([&]() -> cudnnStatus_t {
    if (!fake::has_forward(algorithm)) return CUDNN_STATUS_NOT_SUPPORTED;
    if (!fake::holds_workspace(workspace, bytes, fake::legacy_workspace(algorithm)))
      return fake::refuse(CUDNN_STATUS_BAD_PARAM, "the workspace is too small");
    if (*static_cast<const float*>(beta) != 0) throw fake::not_understood("a factor");
    const fake::facts from = fake::legacy_tensor(xd), filter = fake::legacy_filter(wd),
                      to = fake::legacy_tensor(yd);
    fake::check_configuration(from, filter, to, cd, algorithm);
    const double factor = *static_cast<const float*>(alpha);
    return fake::launch_scaled(
        h, "legacy " + std::to_string(algorithm), {{from, x}, {filter, w}}, {to, y},
        [to, factor, over = fake::legacy_window(cd)](const auto& operands) {
          fake::dense out =
              fake::detail::convolve(operands[0], operands[1], fake::dense(to.size), over);
          for (double& value : out.at)
            value *= factor;
          return out;
        });
  });
}
FAKE_GPU_API cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t h, const void* alpha1, const cudnnTensorDescriptor_t xd, const void* x,
    const cudnnFilterDescriptor_t wd, const void* w, const cudnnConvolutionDescriptor_t cd,
    cudnnConvolutionFwdAlgo_t algorithm, void* workspace, std::size_t bytes, const void* alpha2,
    const cudnnTensorDescriptor_t zd, const void* z, const cudnnTensorDescriptor_t bd,
    const void* bias, const cudnnActivationDescriptor_t ad, const cudnnTensorDescriptor_t yd,
    void* y) {
  return fake::understand([&]() -> cudnnStatus_t {
    if (!fake::has_forward(algorithm)) return CUDNN_STATUS_NOT_SUPPORTED;
    if (!fake::holds_workspace(workspace, bytes, fake::legacy_workspace(algorithm)))
      return fake::refuse(CUDNN_STATUS_BAD_PARAM, "the workspace is too small");
    const fake::facts from = fake::legacy_tensor(xd), filter = fake::legacy_filter(wd),
                      to = fake::legacy_tensor(yd), added = fake::legacy_tensor(zd),
                      each = fake::legacy_tensor(bd);
    fake::check_configuration(from, filter, to, cd, algorithm);
    cudnnActivationMode_t mode{};
    cudnnNanPropagation_t nan{};
    double ceiling = 0;
    cudnnGetActivationDescriptor(ad, &mode, &nan, &ceiling);
    if (mode != CUDNN_ACTIVATION_RELU && mode != CUDNN_ACTIVATION_IDENTITY)
      throw fake::not_understood("an activation");
    if (mode == CUDNN_ACTIVATION_IDENTITY && algorithm != 1)
      throw fake::not_understood("an identity with another algorithm");
    if (added.size != to.size || added.strides != to.strides || added.type != to.type ||
        added.vector != to.vector || each.size.size() != to.size.size() || each.size[0] != 1 ||
        each.size[1] != to.size[1] || fake::product(each.size) != to.size[1] ||
        each.type != (filter.type == benanza::dtype::s8 ? benanza::dtype::f32 : to.type))
      throw fake::not_understood("a sum or a bias of other dims or types");
    const double factor = *static_cast<const float*>(alpha1),
                 share = *static_cast<const float*>(alpha2);
    std::vector<fake::legacy_operand> operands{{from, x}, {filter, w}, {each, bias}};
    if (share != 0) operands.push_back({added, z});
    return fake::launch_scaled(
        h, "legacy " + std::to_string(algorithm), std::move(operands), {to, y},
        [to, factor, share, bent = mode == CUDNN_ACTIVATION_RELU,
         over = fake::legacy_window(cd)](const auto& in) {
          fake::dense out = fake::detail::convolve(in[0], in[1], fake::dense(to.size), over);
          fake::each_index(out.size, [&](const fake::dims& at, std::int64_t i) {
            out[i] = factor * out[i] + in[2][at[1]];
            if (share != 0) out[i] += share * in[3][i];
            if (bent) out[i] = std::max(out[i], 0.0);
          });
          return out;
        });
  });
}
FAKE_GPU_API cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t, const cudnnFilterDescriptor_t wd, const cudnnTensorDescriptor_t dyd,
    const cudnnConvolutionDescriptor_t cd, const cudnnTensorDescriptor_t dxd,
    cudnnConvolutionBwdDataAlgo_t algorithm, std::size_t* bytes) {
  return fake::convolution_workspace("legacy-data " + std::to_string(algorithm), algorithm < 2, dxd,
                                     wd, dyd, cd, algorithm, bytes);
}
FAKE_GPU_API cudnnStatus_t cudnnConvolutionBackwardData(
    cudnnHandle_t h, const void* alpha, const cudnnFilterDescriptor_t wd, const void* w,
    const cudnnTensorDescriptor_t dyd, const void* dy, const cudnnConvolutionDescriptor_t cd,
    cudnnConvolutionBwdDataAlgo_t algorithm, void* workspace, std::size_t bytes, const void* beta,
    const cudnnTensorDescriptor_t dxd, void* dx) {
  return fake::understand([&]() -> cudnnStatus_t {
    if (algorithm >= 2) return CUDNN_STATUS_NOT_SUPPORTED;
    if (!fake::holds_workspace(workspace, bytes, fake::legacy_workspace(algorithm)))
      return fake::refuse(CUDNN_STATUS_BAD_PARAM, "the workspace is too small");
    const fake::facts from = fake::legacy_tensor(dyd), filter = fake::legacy_filter(wd),
                      to = fake::legacy_tensor(dxd);
    fake::check_configuration(to, filter, from, cd, algorithm);
    return fake::launch(
        h, "legacy-data " + std::to_string(algorithm), alpha, beta, {{from, dy}, {filter, w}},
        {to, dx}, [to, over = fake::legacy_window(cd)](const auto& operands) {
          return fake::detail::scatter(operands[0], operands[1], fake::dense(to.size), over);
        });
  });
}

FAKE_GPU_API cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, const cudnnTensorDescriptor_t xd, const cudnnTensorDescriptor_t dyd,
    const cudnnConvolutionDescriptor_t cd, const cudnnFilterDescriptor_t dwd,
    cudnnConvolutionBwdFilterAlgo_t algorithm, std::size_t* bytes) {
  return fake::convolution_workspace("legacy-filter " + std::to_string(algorithm), algorithm < 2,
                                     xd, dwd, dyd, cd, algorithm, bytes);
}
FAKE_GPU_API cudnnStatus_t cudnnConvolutionBackwardFilter(
    cudnnHandle_t h, const void* alpha, const cudnnTensorDescriptor_t xd, const void* x,
    const cudnnTensorDescriptor_t dyd, const void* dy, const cudnnConvolutionDescriptor_t cd,
    cudnnConvolutionBwdFilterAlgo_t algorithm, void* workspace, std::size_t bytes, const void* beta,
    const cudnnFilterDescriptor_t dwd, void* dw) {
  return fake::understand([&]() -> cudnnStatus_t {
    if (algorithm >= 2) return CUDNN_STATUS_NOT_SUPPORTED;
    if (!fake::holds_workspace(workspace, bytes, fake::legacy_workspace(algorithm)))
      return fake::refuse(CUDNN_STATUS_BAD_PARAM, "the workspace is too small");
    const fake::facts from = fake::legacy_tensor(xd), by = fake::legacy_tensor(dyd),
                      to = fake::legacy_filter(dwd);
    fake::check_configuration(from, to, by, cd, algorithm);
    return fake::launch(
        h, "legacy-filter " + std::to_string(algorithm), alpha, beta, {{from, x}, {by, dy}},
        {to, dw}, [to, over = fake::legacy_window(cd)](const auto& operands) {
          return fake::detail::gradient(operands[0], operands[1], fake::dense(to.size), over);
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
