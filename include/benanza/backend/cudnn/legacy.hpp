// SPDX-License-Identifier: Apache-2.0
// Convolutions by cuDNN's legacy API, what the paper measured, to be held beside the engines of the
// graph API: each algorithm with each math type, in ONNX's order and with channels last. Algorithm
// and math type are template parameters.
//   legacy:winograd:fma            cudnnConvolutionForward
//   legacy-fused:gemm:default      cudnnConvolutionBiasActivationForward: bias, sum, ReLU
//   legacy-data:algo_1:default     cudnnConvolutionBackwardData: transposed convolutions
//   legacy-filter:algo_1:default   cudnnConvolutionBackwardFilter: gradients by weights
//   legacy-nhwc:gemm:default:half  channels last; sums of products kept in f16, a class of its own
// What a GPU does not have the library says when it is asked for a workspace; without a GPU it
// cannot be asked.
//
//   for (const call& c : legacy::calls_for(layer, numeric::f16)) c.workspace(handle);
#pragma once

#include "calls.hpp"

#include <array>

namespace benanza::backend::cudnn::legacy {

inline constexpr std::array<std::string_view, CUDNN_CONVOLUTION_FWD_ALGO_COUNT> algorithm_names{
    "implicit_gemm", "implicit_precomp_gemm", "gemm", "direct", "fft", "fft_tiling",
    "winograd",      "winograd_nonfused"};
inline constexpr std::array<std::string_view, CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT> gradient_names{
    "algo_0", "algo_1", "fft", "fft_tiling", "winograd", "winograd_nonfused"};
inline constexpr std::array<std::string_view, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT> filter_names{
    "algo_0", "algo_1", "fft", "algo_3", "winograd", "winograd_nonfused", "fft_tiling"};
inline constexpr std::array<std::string_view, 4> math_names{"default", "tensor_op",
                                                            "tensor_op_allow_conversion", "fma"};

using filter_descriptor =
    owned<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using convolution_descriptor = owned<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
                                     cudnnDestroyConvolutionDescriptor>;
using activation_descriptor = owned<cudnnActivationDescriptor_t, cudnnCreateActivationDescriptor,
                                    cudnnDestroyActivationDescriptor>;

/// Which of its functions computes a layer.
enum class function { forward, fused, gradient, by_weights };

/// A layer as the legacy API knows it.
struct problem {
  function by = function::forward;
  shape x{}, w{}, y{}; ///< of the convolution: a transposed one reads y and writes x;
                       ///< the gradient by weights reads x and y, and writes w
  window over{};
  std::int64_t groups = 1;
  bool bias = false, sum = false, relu = false; ///< behind it
  int spatial = 2;                              ///< dims of the layer's source, for layouts' names
  std::int64_t flops = 0, products = 0;         ///< of all, and of the convolution alone
};

namespace detail {
/// Why a window is none that the API can be told; empty: it can.
inline std::string why_not(const window& w) {
  for (int i = 0; i < w.pre.size; ++i)
    if (w.pre[i] != w.post[i]) return "it takes no pads that differ on the two sides";
  return {};
}

/// True for the two gradients.
inline bool is_gradient(const problem& p) {
  return p.by == function::gradient || p.by == function::by_weights;
}

inline problem of_convolution(const op::conv& c) {
  op::conv bare = c;
  bare.bias = false;
  const int rank = cudnn::detail::graph_rank(c.input);
  return {.x = widened(c.input, rank),
          .w = widened(c.weights(), rank),
          .y = widened(c.output(), rank),
          .over = cudnn::detail::window_of(c),
          .groups = c.groups,
          .bias = c.bias,
          .spatial = c.input.size,
          .products = bare.direct_flops()};
}
} // namespace detail

/// What the API computes of a layer, or why it does not: one of the two is empty. Neither is there
/// for layers that are no convolutions.
struct told {
  std::optional<problem> what{};
  std::string why_not{};
};
inline told as_told(const op::layer& l, numeric t) {
  told out;
  problem p;
  if (const auto* c = std::get_if<op::conv>(&l)) {
    p = detail::of_convolution(*c);
    if (p.bias) p.by = function::fused;
  } else if (const auto* f = std::get_if<op::fused<op::conv>>(&l)) {
    p = detail::of_convolution(f->base);
    p.by = function::fused;
    for (const op::step& s : f->steps) {
      const bool first = !p.sum && !p.relu;
      if (s == op::step(op::binary_function::add) && first)
        p.sum = true;
      else if (s == op::step(op::unary_function::relu) && !p.relu)
        p.relu = true;
      else
        out.why_not = "it fuses a bias, a sum and a ReLU, in this order";
    }
  } else if (const auto* d = std::get_if<op::conv_transpose>(&l)) {
    const int rank = cudnn::detail::graph_rank(d->input);
    p = {.by = function::gradient,
         .x = widened(d->output(), rank),
         .w = widened(d->weights(), rank),
         .y = widened(d->input, rank),
         .over = cudnn::detail::window_of(*d),
         .groups = d->groups,
         .spatial = d->input.size,
         .products = op::direct_flops(l)};
    if (d->bias) out.why_not = "a transposed convolution has no bias there";
  } else if (const auto* g = std::get_if<op::conv_weight_gradient>(&l)) {
    p = detail::of_convolution(g->forward());
    p.by = function::by_weights;
  } else {
    return out;
  }
  p.flops = op::direct_flops(l);
  if (out.why_not.empty()) out.why_not = detail::why_not(p.over);
  if (t == numeric::e4m3) out.why_not = "it has no FP8";
  if (t == numeric::u8s8u8) out.why_not = "it has no unsigned sources";
  if (quantised(t) && detail::is_gradient(p)) out.why_not = "its gradients have no integers";
  for (const shape& dims : {p.x, p.w, p.y})
    if (elements(dims) > 0x7fffffff) out.why_not = "it counts in 32 bits";
  if (out.why_not.empty()) out.what = p;
  return out;
}

/// Descriptors of a problem, which all algorithms of a math type share.
struct description {
  description(const problem& p, numeric t, layout l, cudnnDataType_t sums, cudnnMathType_t math) {
    const cudnnDataType_t type = *data_type_of(source_of(t));
    describe_tensor(x, p.x, strides_in(l, p.x), type);
    describe_tensor(y, p.y, strides_in(l, p.y), type);
    int filter[8], pads[8], strides[8], dilations[8];
    for (int i = 0; i < p.w.size; ++i)
      filter[i] = static_cast<int>(p.w[i]);
    check(cudnnSetFilterNdDescriptor(
              w.get(), type, l == layout::channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
              p.w.size, filter),
          "a filter");
    const int rank = p.over.kernel.size;
    for (int i = 0; i < rank; ++i) {
      pads[i] = static_cast<int>(p.over.pre[i]);
      strides[i] = static_cast<int>(p.over.strides[i]);
      dilations[i] = static_cast<int>(p.over.dilations[i]);
    }
    check(cudnnSetConvolutionNdDescriptor(how.get(), rank, pads, strides, dilations,
                                          CUDNN_CROSS_CORRELATION, sums),
          "a convolution");
    check(cudnnSetConvolutionGroupCount(how.get(), static_cast<int>(p.groups)), "groups");
    check(cudnnSetConvolutionMathType(how.get(), math), "a math type");
    if (p.by != function::fused) return;
    shape channels = shape::filled(p.y.size, 1);
    channels[1] = p.y[1];
    // Integers add their bias in f32.
    describe_tensor(bias, channels, packed(channels), quantised(t) ? CUDNN_DATA_FLOAT : type);
    check(cudnnSetActivationDescriptor(activation.get(),
                                       p.relu ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_IDENTITY,
                                       CUDNN_NOT_PROPAGATE_NAN, 0),
          "an activation");
  }

  tensor_descriptor x{}, y{}, bias{};
  filter_descriptor w{};
  convolution_descriptor how{};
  activation_descriptor activation{};
};

namespace detail {
using cudnn::detail::none;

/// Sets how a call asks for its workspace and is made.
template <cudnnConvolutionFwdAlgo_t Algorithm>
void set_forward(call& c, const std::shared_ptr<const description>& d, const problem& p) {
  c.workspace = [d, alone = p.by == function::fused && !p.relu](cudnnHandle_t h) {
    if (alone && Algorithm != CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM)
      throw refusal(CUDNN_STATUS_NOT_SUPPORTED,
                    "cuDNN: without a ReLU the fused call has implicit_precomp_gemm alone");
    std::size_t bytes = 0;
    check(cudnnGetConvolutionForwardWorkspaceSize(h, d->x.get(), d->w.get(), d->how.get(),
                                                  d->y.get(), Algorithm, &bytes),
          "it is not there");
    return static_cast<std::int64_t>(bytes);
  };
  if (p.by == function::forward) {
    c.launch = [d](cudnnHandle_t h, const call_memory& m) {
      return cudnnConvolutionForward(h, &m.scale, d->x.get(), m.operands[0], d->w.get(),
                                     m.operands[1], d->how.get(), Algorithm, m.workspace,
                                     m.workspace_bytes, &none, d->y.get(), m.results[0]);
    };
    return;
  }
  c.launch = [d, sum = p.sum](cudnnHandle_t h, const call_memory& m) {
    // Where nothing is added the result stands for it, and is not read.
    const float added = sum ? 1 : 0;
    const void* const z = sum ? m.operands[3] : m.results[0];
    return cudnnConvolutionBiasActivationForward(
        h, &m.scale, d->x.get(), m.operands[0], d->w.get(), m.operands[1], d->how.get(), Algorithm,
        m.workspace, m.workspace_bytes, &added, d->y.get(), z, d->bias.get(), m.operands[2],
        d->activation.get(), d->y.get(), m.results[0]);
  };
}

template <cudnnConvolutionBwdDataAlgo_t Algorithm>
void set_gradient(call& c, const std::shared_ptr<const description>& d) {
  c.workspace = [d](cudnnHandle_t h) {
    std::size_t bytes = 0;
    check(cudnnGetConvolutionBackwardDataWorkspaceSize(h, d->w.get(), d->y.get(), d->how.get(),
                                                       d->x.get(), Algorithm, &bytes),
          "it is not there");
    return static_cast<std::int64_t>(bytes);
  };
  c.launch = [d](cudnnHandle_t h, const call_memory& m) {
    return cudnnConvolutionBackwardData(h, &m.scale, d->w.get(), m.operands[1], d->y.get(),
                                        m.operands[0], d->how.get(), Algorithm, m.workspace,
                                        m.workspace_bytes, &none, d->x.get(), m.results[0]);
  };
}

template <cudnnConvolutionBwdFilterAlgo_t Algorithm>
void set_weight_gradient(call& c, const std::shared_ptr<const description>& d) {
  c.workspace = [d](cudnnHandle_t h) {
    std::size_t bytes = 0;
    check(cudnnGetConvolutionBackwardFilterWorkspaceSize(h, d->x.get(), d->y.get(), d->how.get(),
                                                         d->w.get(), Algorithm, &bytes),
          "it is not there");
    return static_cast<std::int64_t>(bytes);
  };
  c.launch = [d](cudnnHandle_t h, const call_memory& m) {
    return cudnnConvolutionBackwardFilter(h, &m.scale, d->x.get(), m.operands[0], d->y.get(),
                                          m.operands[1], d->how.get(), Algorithm, m.workspace,
                                          m.workspace_bytes, &none, d->w.get(), m.results[0]);
  };
}

/// Math types by which a class may be computed: true FP32 forbids tensor cores, TF32 is what they
/// make of f32.
constexpr bool math_fits(cudnnMathType_t math, numeric t) {
  if (t == numeric::f32) return math == CUDNN_FMA_MATH;
  if (t == numeric::tf32) return math == CUDNN_DEFAULT_MATH || math == CUDNN_TENSOR_OP_MATH;
  return math != CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION;
}

/// An algorithm's own arithmetic: F(2x2, 3x3) multiplies 16 times in place of 36, F(4x4, 3x3) 36 in
/// place of 144; an FFT is taken to need no more than the latter.
inline std::int64_t own_products(std::string_view algorithm, std::int64_t direct) {
  if (algorithm == "winograd") return direct * 16 / 36;
  return algorithm == "winograd_nonfused" || algorithm.starts_with("fft") ? direct / 4 : direct;
}

/// The tensors of a call, and what is said of it.
inline call bare_call(const problem& p, numeric t, layout l) {
  const dtype type = source_of(t);
  const std::string letters = activation_letters(l, p.spatial), known(name(l));
  const auto tensor = [&](int input, const shape& dims, bool constant) {
    return placed{.input = input,
                  .dims = dims,
                  .strides = strides_in(l, dims),
                  .type = type,
                  .elements = elements(dims),
                  .constant = constant};
  };
  const std::string filter = weight_letters(l, p.spatial);
  if (p.by == function::by_weights)
    return {.what = {.layouts = letters + ',' + letters + ',' + filter,
                     .operand_layouts = known,
                     .result_layout = known,
                     .notes = "legacy"},
            .operands = {tensor(0, p.x, false), tensor(1, p.y, false)},
            .results = {tensor(placed::result, p.w, false)}};
  const bool turned = p.by == function::gradient;
  call c{.what = {.layouts = letters + ',' + filter + ',' + letters,
                  .operand_layouts = known,
                  .result_layout = known,
                  .notes = "legacy"},
         .operands = {tensor(0, turned ? p.y : p.x, false), tensor(1, p.w, true)},
         .results = {tensor(placed::result, turned ? p.x : p.y, false)}};
  if (p.by != function::fused) return c;
  const shape channels{p.y[1]};
  c.operands.push_back({.input = p.bias ? 2 : placed::filled,
                        .dims = channels,
                        .strides = packed(channels),
                        .type = quantised(t) ? dtype::f32 : type,
                        .elements = p.y[1],
                        .scaled = quantised(t)});
  if (p.sum) c.operands.push_back(tensor(p.bias ? 3 : 2, p.y, false));
  return c;
}

/// Adds the calls of all algorithms with one math type.
template <cudnnMathType_t Math>
void add_calls(const problem& p, numeric t, layout l, cudnnDataType_t sums,
               std::vector<call>& out) {
  if (!math_fits(Math, t)) return;
  const auto d = std::make_shared<const description>(p, t, l, sums, Math);
  const std::string which = p.by == function::fused        ? "-fused"
                            : p.by == function::gradient   ? "-data"
                            : p.by == function::by_weights ? "-filter"
                                                           : "";
  const bool narrow = sums == CUDNN_DATA_HALF;
  const auto add = [&](std::string_view algorithm) -> call& {
    call c = bare_call(p, t, l);
    c.what.id = "legacy" + which + (l == layout::channels_last ? "-nhwc:" : ":") +
                std::string(algorithm) + ':' +
                std::string(math_names[static_cast<std::size_t>(Math)]) + (narrow ? ":half" : "");
    c.what.equivalence = std::string(name(t)) + (narrow ? "-reduced-accumulation" : "");
    c.what.flops = own_products(algorithm, p.products) + p.flops - p.products;
    out.push_back(std::move(c));
    return out.back();
  };
  if (p.by == function::gradient) [&]<int... A>(std::integer_sequence<int, A...>) {
      (set_gradient<static_cast<cudnnConvolutionBwdDataAlgo_t>(A)>(add(gradient_names[A]), d), ...);
    }
  (std::make_integer_sequence<int, CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT>{});
  else if (p.by == function::by_weights)[&]<int... A>(std::integer_sequence<int, A...>) {
    (set_weight_gradient<static_cast<cudnnConvolutionBwdFilterAlgo_t>(A)>(add(filter_names[A]), d),
     ...);
  }
  (std::make_integer_sequence<int, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT>{});
  else[&]<int... A>(std::integer_sequence<int, A...>) {
    (set_forward<static_cast<cudnnConvolutionFwdAlgo_t>(A)>(add(algorithm_names[A]), d, p), ...);
  }
  (std::make_integer_sequence<int, CUDNN_CONVOLUTION_FWD_ALGO_COUNT>{});
}
} // namespace detail

/// All combinations of function, layout, algorithm and math type that the API knows for a layer;
/// which of them a GPU has each says when it is asked for its workspace.
inline std::vector<call> calls_for(const op::layer& l, numeric t) {
  std::vector<call> out;
  const auto p = as_told(l, t).what;
  if (!p) return out;
  const auto add = [&](layout in, cudnnDataType_t sums) {
    detail::add_calls<CUDNN_DEFAULT_MATH>(*p, t, in, sums, out);
    detail::add_calls<CUDNN_TENSOR_OP_MATH>(*p, t, in, sums, out);
    detail::add_calls<CUDNN_FMA_MATH>(*p, t, in, sums, out);
  };
  for (const layout in : cudnn_layouts) {
    if (quantised(t) && in == layout::plain) continue; // integers have their channels last
    add(in, quantised(t) ? CUDNN_DATA_INT32 : CUDNN_DATA_FLOAT);
    if (t == numeric::f16) add(in, CUDNN_DATA_HALF);
  }
  return out;
}

} // namespace benanza::backend::cudnn::legacy
