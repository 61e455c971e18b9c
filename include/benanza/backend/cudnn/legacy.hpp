// SPDX-License-Identifier: Apache-2.0
// Convolutions by cuDNN's legacy API, which the paper measured, for comparison with the engines of
// the graph API: each algorithm with each math type, in ONNX's order and with channels last.
// Algorithm and math type are template parameters.
//   legacy:winograd:fma            cudnnConvolutionForward
//   legacy-fused:gemm:default      cudnnConvolutionBiasActivationForward: bias, sum, ReLU
//   legacy-data:algo_1:default     cudnnConvolutionBackwardData: transposed convolutions
//   legacy-filter:algo_1:default   cudnnConvolutionBackwardFilter: gradients by weights
//   legacy-nhwc:gemm:default:half  channels last; sums of products kept in f16, a class of its own
//   legacy-x4:..., legacy-x32:...  8 bits in vectors of 4 or 32 channels (NCHW_VECT_C)
//   legacy:winograd_nonfused:...   of f16, bf16 and TF32 a class of its own (core/winograd.hpp)
// Integers of 8 bits, those of a class and those of QLinearConv, have their channels last or in
// vectors, sums of 32 bits, and a result of 8 bits with a sign; QLinearConv's may be f32.
// What a GPU does not have the library says when it is asked for a workspace; without a GPU it
// cannot be asked.
//
//   for (const call& c : legacy::calls_for(layer, numeric::f16)) c.workspace(handle);
#pragma once

#include "../../core/winograd.hpp"
#include "legacy_problem.hpp"

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

namespace detail {
/// What the API calls elements, or vectors of them.
inline cudnnDataType_t elements_of(dtype t, int vector) {
  if (vector == 32) return CUDNN_DATA_INT8x32;
  if (vector == 4) return t == dtype::u8 ? CUDNN_DATA_UINT8x4 : CUDNN_DATA_INT8x4;
  return t == dtype::u8 ? CUDNN_DATA_UINT8 : *data_type_of(t);
}

inline void describe(const tensor_descriptor& d, const shape& dims, form f, dtype t) {
  const cudnnDataType_t type = elements_of(t, f.vector);
  if (f.vector == 1) return describe_tensor(d, dims, strides_in(f.in, dims), type);
  int sizes[8];
  for (int i = 0; i < dims.size; ++i)
    sizes[i] = static_cast<int>(dims[i]);
  check(cudnnSetTensorNdDescriptorEx(d.get(), CUDNN_TENSOR_NCHW_VECT_C, type, dims.size, sizes),
        "a tensor");
}
} // namespace detail

/// Descriptors of a problem, which all algorithms of a math type share.
struct description {
  description(const problem& p, form f, cudnnDataType_t sums, cudnnMathType_t math) {
    detail::describe(x, p.x, f, p.from);
    detail::describe(y, p.y, f, p.to);
    int filter[8], pads[8], strides[8], dilations[8];
    for (int i = 0; i < p.w.size; ++i)
      filter[i] = static_cast<int>(p.w[i]);
    const dtype element = quantised(p.type) ? dtype::s8 : p.from;
    check(cudnnSetFilterNdDescriptor(w.get(), detail::elements_of(element, f.vector),
                                     f.vector > 1                    ? CUDNN_TENSOR_NCHW_VECT_C
                                     : f.in == layout::channels_last ? CUDNN_TENSOR_NHWC
                                                                     : CUDNN_TENSOR_NCHW,
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
    const dtype added = quantised(p.type) ? dtype::f32 : p.from;
    describe_tensor(bias, channels, packed(channels), *data_type_of(added));
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
    // Where nothing is added the result takes its place, and is not read.
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

/// The edge of a Winograd's tiles of inputs; 0: it is none.
constexpr std::int64_t winograd_tile(std::string_view algorithm, std::int64_t kernel) {
  if (algorithm == "winograd") return 4;
  return algorithm != "winograd_nonfused" ? 0 : kernel == 5 ? 13 : 6;
}

/// An algorithm's own arithmetic; an FFT is taken to need no more than a Winograd of 3 x 3 in its
/// larger tiles.
inline std::int64_t own_products(std::string_view algorithm, std::int64_t direct,
                                 std::int64_t kernel) {
  if (algorithm.starts_with("fft")) return direct / 4;
  const std::int64_t tile = winograd_tile(algorithm, kernel);
  return tile > 0 ? winograd_products(direct, tile, kernel) : direct;
}

/// A tensor of the problem's dims in a form. Vectors are a dim of their own.
inline placed placed_in(form f, int input, const shape& dims, dtype type, bool constant) {
  placed out{.input = input,
             .dims = dims,
             .strides = strides_in(f.in, dims),
             .type = type,
             .elements = elements(dims),
             .constant = constant};
  if (f.vector == 1) return out;
  const std::int64_t v = f.vector, row = v * dims[3], plane = row * dims[2];
  out.dims = {dims[0], dims[1] / v, v, dims[2], dims[3]};
  out.strides = {dims[1] / v * plane, plane, 1, row, v};
  return out;
}

/// The tensors of a call, and what is said of it.
inline call bare_call(const problem& p, form f) {
  const bool vectors = f.vector > 1, narrow = quantised(p.type);
  const std::string count = std::to_string(f.vector), spatial = p.spatial == 3 ? "w" : "hw",
                    letters = vectors ? "nC" + spatial + count + 'c'
                                      : activation_letters(f.in, p.spatial),
                    filter =
                        vectors ? "oI" + spatial + count + 'i' : weight_letters(f.in, p.spatial),
                    known(vectors ? "" : name(f.in));
  if (p.by == function::by_weights)
    return {.what = {.layouts = letters + ',' + letters + ',' + filter,
                     .operand_layouts = known,
                     .result_layout = known,
                     .notes = "legacy"},
            .operands = {placed_in(f, 0, p.x, p.from, false), placed_in(f, 1, p.y, p.to, false)},
            .results = {placed_in(f, placed::result, p.w, p.from, false)}};
  const bool turned = p.by == function::gradient;
  const dtype element = narrow ? dtype::s8 : p.from;
  call c{.what = {.layouts = letters + ',' + filter + ',' + letters,
                  .operand_layouts = known,
                  .result_layout = known,
                  .notes = "legacy"},
         .operands = {placed_in(f, 0, turned ? p.y : p.x, p.from, false),
                      placed_in(f, p.weights, p.w, element, true)},
         .results = {placed_in(f, placed::result, turned ? p.x : p.y, p.to, false)},
         .factor = p.factor};
  if (p.by != function::fused) return c;
  const shape channels{p.y[1]};
  c.operands.push_back({.input = p.bias ? p.vector : placed::filled,
                        .dims = channels,
                        .strides = packed(channels),
                        .type = narrow ? dtype::f32 : p.from,
                        .elements = p.y[1],
                        .scaled = narrow});
  if (p.sum) c.operands.push_back(placed_in(f, p.bias ? 3 : 2, p.y, p.to, false));
  return c;
}

/// Adds the calls of all algorithms with one math type.
template <cudnnMathType_t Math>
void add_calls(const problem& p, numeric t, form f, cudnnDataType_t sums, std::vector<call>& out) {
  if (!math_fits(Math, p.type)) return;
  const auto d = std::make_shared<const description>(p, f, sums, Math);
  const bool narrow = sums == CUDNN_DATA_HALF;
  const auto add = [&](std::string_view algorithm) -> call& {
    call c = bare_call(p, f);
    c.what.id = begin_of_id(p, f) + ':' + std::string(algorithm) + ':' +
                std::string(math_names[static_cast<std::size_t>(Math)]) + (narrow ? ":half" : "");
    const std::int64_t kernel = p.w[2], tile = winograd_tile(algorithm, kernel);
    c.what.equivalence = tile > 0 && winograd_apart(t, tile) ? winograd_class(t) : name(t);
    if (narrow) c.what.equivalence += "-reduced-accumulation";
    c.what.flops = own_products(algorithm, p.products, kernel) + p.flops - p.products;
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

/// All combinations of function, form, algorithm and math type that the API knows for a layer;
/// which of them a GPU has each says when it is asked for its workspace.
inline std::vector<call> calls_for(const op::layer& l, numeric t) {
  std::vector<call> out;
  const auto p = as_told(l, t).what;
  if (!p) return out;
  const auto add = [&](form f, cudnnDataType_t sums) {
    detail::add_calls<CUDNN_DEFAULT_MATH>(*p, t, f, sums, out);
    detail::add_calls<CUDNN_TENSOR_OP_MATH>(*p, t, f, sums, out);
    detail::add_calls<CUDNN_FMA_MATH>(*p, t, f, sums, out);
  };
  for (const formed& f : forms_of(*p)) {
    if (!f.why_not.empty()) continue;
    add(f.as, quantised(p->type) ? CUDNN_DATA_INT32 : CUDNN_DATA_FLOAT);
    if (p->type == numeric::f16) add(f.as, CUDNN_DATA_HALF);
  }
  return out;
}

/// What the API has by name and not for this layer, before any GPU is asked.
inline std::vector<refused_algorithm> not_told(const op::layer& l, numeric t) {
  std::vector<refused_algorithm> out;
  const told said = as_told(l, t);
  if (!said.why_not.empty()) out.push_back({"legacy", said.why_not});
  if (!said.what) return out;
  for (const formed& f : forms_of(*said.what))
    if (!f.why_not.empty()) out.push_back({begin_of_id(*said.what, f.as), f.why_not});
  return out;
}

} // namespace benanza::backend::cudnn::legacy
