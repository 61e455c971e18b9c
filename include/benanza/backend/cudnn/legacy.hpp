// SPDX-License-Identifier: Apache-2.0
// The eight convolution algorithms of cuDNN's legacy API, each with each of its four math types:
// what the paper measured, to be held beside the engines of the graph API. Both are template
// parameters. What a GPU does not have the library says when it is asked for a workspace; without a
// GPU it cannot be asked.
//
//   for (const legacy::offer& o : legacy::offers(context, layer, type)) o.id; //
//   legacy:winograd:fma
#pragma once

#include "calls.hpp"

#include <array>

namespace benanza::backend::cudnn::legacy {

inline constexpr std::array<std::string_view, CUDNN_CONVOLUTION_FWD_ALGO_COUNT> algorithm_names{
    "implicit_gemm", "implicit_precomp_gemm", "gemm", "direct", "fft", "fft_tiling",
    "winograd",      "winograd_nonfused"};
inline constexpr std::array<std::string_view, 4> math_names{"default", "tensor_op",
                                                            "tensor_op_allow_conversion", "fma"};

/// The id of a combination.
inline std::string id_of(int algorithm, int math) {
  return "legacy:" + std::string(algorithm_names[static_cast<std::size_t>(algorithm)]) + ':' +
         std::string(math_names[static_cast<std::size_t>(math)]);
}

using filter_descriptor =
    owned<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using convolution_descriptor = owned<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
                                     cudnnDestroyConvolutionDescriptor>;

/// True for convolutions that the legacy API can be told: two spatial dims, equal pads on both
/// sides, no bias, floating types.
inline bool can_say(const op::conv& c, numeric t) {
  if (c.kernel.size != 2 || c.bias || quantised(t) || t == numeric::e4m3) return false;
  for (int i = 0; i < 2; ++i)
    if (op::entry(c.pads, i, 0) != op::entry(c.pads, i + 2, 0)) return false;
  return true;
}

/// A convolution as the legacy API describes it, in ONNX's order.
class description {
public:
  description(const op::conv& c, numeric t, cudnnMathType_t math) {
    const cudnnDataType_t type = *data_type_of(source_of(t));
    set(x, c.input, type);
    set(y, c.output(), type);
    const shape k = c.weights();
    const int dims[] = {static_cast<int>(k[0]), static_cast<int>(k[1]), static_cast<int>(k[2]),
                        static_cast<int>(k[3])};
    check(cudnnSetFilterNdDescriptor(w.get(), type, CUDNN_TENSOR_NCHW, 4, dims), "a filter");
    int pads[2], strides[2], dilations[2];
    for (int i = 0; i < 2; ++i) {
      pads[i] = static_cast<int>(op::entry(c.pads, i, 0));
      strides[i] = static_cast<int>(op::entry(c.strides, i, 1));
      dilations[i] = static_cast<int>(op::entry(c.dilations, i, 1));
    }
    check(cudnnSetConvolutionNdDescriptor(how.get(), 2, pads, strides, dilations,
                                          CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
          "a convolution");
    check(cudnnSetConvolutionGroupCount(how.get(), static_cast<int>(c.groups)), "groups");
    check(cudnnSetConvolutionMathType(how.get(), math), "a math type");
  }

  /// Bytes of workspace; nothing where the library has no such algorithm here.
  std::optional<std::int64_t> workspace(cudnnHandle_t handle,
                                        cudnnConvolutionFwdAlgo_t algorithm) const {
    std::size_t bytes = 0;
    if (cudnnGetConvolutionForwardWorkspaceSize(handle, x.get(), w.get(), how.get(), y.get(),
                                                algorithm, &bytes) != CUDNN_STATUS_SUCCESS)
      return std::nullopt;
    return static_cast<std::int64_t>(bytes);
  }

  tensor_descriptor x{}, y{};
  filter_descriptor w{};
  convolution_descriptor how{};

private:
  static void set(const tensor_descriptor& d, const shape& s, cudnnDataType_t type) {
    describe_tensor(d, s, packed(s), type);
  }
};

/// One combination, ready to run.
template <cudnnConvolutionFwdAlgo_t Algorithm, cudnnMathType_t Math>
class execution final : public cuda::device_run {
public:
  execution(std::shared_ptr<context> on, const op::conv& c, numeric t, const operands& values,
            const setting& s)
      : device_run(on->gpu(), values, s)
      , context_(std::move(on))
      , description_(c, t, Math) {
    const auto packed_as = [](const shape& dims, dtype type) {
      return cuda::stored{dims, packed(dims), type, elements(dims)};
    };
    x_ = hold(0, packed_as(c.input, source_of(t)), false);
    w_ = hold(1, packed_as(c.weights(), weights_of(t)), true);
    write(packed_as(c.output(), result_of(t)));
    const auto bytes = description_.workspace(context_->get(), Algorithm);
    if (!bytes) throw error("cuDNN: " + ran() + " is not supported here: " + last_reason());
    need_scratch(*bytes);
  }

  std::string ran() const override { return id_of(Algorithm, Math); }

private:
  void enqueue(std::int64_t copy) override {
    const float one = 1, none = 0;
    check_launch(cudnnConvolutionForward(
        context_->get(), &one, description_.x.get(), at(x_, copy), description_.w.get(),
        at(w_, copy), description_.how.get(), Algorithm, scratch(),
        static_cast<std::size_t>(scratch_bytes()), &none, description_.y.get(), result(copy)));
  }

  std::shared_ptr<context> context_;
  description description_;
  int x_ = 0, w_ = 0;
};

namespace detail {
using maker = std::unique_ptr<prepared> (*)(std::shared_ptr<context>, const op::conv&, numeric,
                                            const operands&, const setting&);

template <int I>
std::unique_ptr<prepared> make(std::shared_ptr<context> on, const op::conv& c, numeric t,
                               const operands& values, const setting& s) {
  return std::make_unique<execution<static_cast<cudnnConvolutionFwdAlgo_t>(I / 4),
                                    static_cast<cudnnMathType_t>(I % 4)>>(std::move(on), c, t,
                                                                          values, s);
}
template <int... I>
constexpr std::array<maker, sizeof...(I)> all_makers(std::integer_sequence<int, I...>) {
  return {make<I>...};
}
inline constexpr auto makers =
    all_makers(std::make_integer_sequence<int, 4 * CUDNN_CONVOLUTION_FWD_ALGO_COUNT>{});

/// Math types by which a class may be computed: true FP32 forbids tensor cores, TF32 is what they
/// make of f32.
inline bool math_fits(int math, numeric t) {
  if (t == numeric::f32) return math == CUDNN_FMA_MATH;
  if (t == numeric::tf32) return math == CUDNN_DEFAULT_MATH || math == CUDNN_TENSOR_OP_MATH;
  return math != CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION;
}
} // namespace detail

/// An algorithm's own arithmetic: F(2x2, 3x3) multiplies 16 times in place of 36, F(4x4, 3x3) 36 in
/// place of 144; an FFT is taken to need no more than the latter.
inline std::int64_t own_flops(int algorithm, const op::conv& c) {
  const std::int64_t direct = op::direct_flops(c);
  switch (algorithm) {
  case CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD: return direct * 16 / 36;
  case CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED:
  case CUDNN_CONVOLUTION_FWD_ALGO_FFT:
  case CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING: return direct / 4;
  default: return direct;
  }
}

/// The combinations that this GPU has for a convolution.
inline std::vector<algorithm> offers(const context& on, const op::conv& c, numeric t, int first) {
  std::vector<algorithm> out;
  if (!can_say(c, t)) return out;
  for (int math = 0; math < 4; ++math) {
    if (!detail::math_fits(math, t)) continue;
    const description d(c, t, static_cast<cudnnMathType_t>(math));
    for (int a = 0; a < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++a) {
      const auto bytes = d.workspace(on.get(), static_cast<cudnnConvolutionFwdAlgo_t>(a));
      if (!bytes) continue;
      out.push_back({.id = id_of(a, math),
                     .index = first + static_cast<int>(out.size()),
                     .equivalence = std::string(name(t)),
                     .layouts = "nchw,oihw,nchw",
                     .operand_layouts = std::string(name(layout::plain)),
                     .result_layout = std::string(name(layout::plain)),
                     .workspace_bytes = *bytes,
                     .flops = own_flops(a, c),
                     .notes = "legacy"});
    }
  }
  return out;
}

/// One of them, ready to run; null where the id is none of the legacy API.
inline std::unique_ptr<prepared> prepare(const std::shared_ptr<context>& on, const op::conv& c,
                                         numeric t, const std::string& id, const operands& values,
                                         const setting& s) {
  for (int i = 0; i < std::ssize(detail::makers); ++i)
    if (id == id_of(i / 4, i % 4))
      return detail::makers[static_cast<std::size_t>(i)](on, c, t, values, s);
  return nullptr;
}

} // namespace benanza::backend::cudnn::legacy
