// SPDX-License-Identifier: Apache-2.0
// Which layer is a call of cuDNN's older functions (cudnnConvolutionForward, cudnnPoolingForward
// ...)? Their arguments are in the log with all members of the descriptors, of versions 7, 8 and 9;
// the names of the arguments changed, so some are known by several.
//
//   call c = read_cudnn_legacy("cudnnConvolutionForward", fields);
#pragma once

#include "call.hpp"
#include "cudnn_window.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::trace {

namespace detail {
/// One call while it is read.
class legacy_call {
public:
  legacy_call(std::string_view function, const fields& f)
      : f_(f)
      , c_{.from = library::cudnn, .function = std::string(function)} {
    c_.workspace_bytes =
        number(first_value({"workSpaceSizeInBytes", "workspaceSizeInBytes", "workSpaceSize"}))
            .value_or(0);
  }

  call read() {
    attempted([&] {
      dispatch(std::string_view(c_.function).substr(5)); // behind "cudnn"
      return c_.layer;
    });
    if (!c_.layer && c_.remark.empty()) c_.remark = "its descriptors are no layer";
    return std::move(c_);
  }

private:
  void dispatch(std::string_view name) {
    if (name == "ConvolutionForward" || name == "ConvolutionBiasActivationForward")
      convolution(name != "ConvolutionForward");
    else if (name == "ConvolutionBackwardData")
      transposed();
    else if (name == "PoolingForward")
      pooling();
    else if (name == "SoftmaxForward")
      softmax();
    else if (name == "ActivationForward")
      activation();
    else if (name == "BatchNormalizationForwardInference")
      batch_norm();
    else if (name == "LRNCrossChannelForward")
      lrn();
    else if (name == "AddTensor" || name == "OpTensor")
      elementwise(name == "AddTensor");
    else if (name == "ReduceTensor")
      reduction();
    else if (name == "TransformTensor")
      reorder();
    else
      c_.remark = name.find("Backward") != std::string_view::npos   ? "a gradient"
                  : name.find("Training") != std::string_view::npos ? "a layer in training"
                                                                    : "no layer";
  }

  std::string_view first_value(std::initializer_list<std::string_view> names) const {
    for (std::string_view n : names)
      if (const std::string_view v = f_.value(n); !v.empty()) return v;
    return {};
  }
  std::optional<tensor> tensor_named(std::initializer_list<std::string_view> names) const {
    for (std::string_view n : names)
      if (const auto t = tensor_of(f_, nullptr, n)) return t;
    return std::nullopt;
  }
  /// The tensor that is read, whose type and layout are those of the call.
  std::optional<tensor> source() {
    const auto x = tensor_named({"xDesc", "srcDesc", "aDesc"});
    if (x) of_tensor(*x, false);
    return x;
  }
  std::optional<tensor> result() const { return tensor_named({"yDesc", "destDesc", "cDesc"}); }

  void of_tensor(const tensor& t, bool tensor_cores) {
    c_.type = cudnn_type(t.element, tensor_cores);
    c_.layout = t.layout();
  }

  /// How a convolution moves; with its precision goes the type of the call.
  std::optional<window> convolution_window(const tensor& x) {
    const field* d = f_.find("convDesc");
    if (d == nullptr) return std::nullopt;
    const std::string_view math = word(f_.value(*d, "mathType"));
    c_.math = without(math, "CUDNN_");
    // On f32 the default may be TF32 where a GPU has it, which the log does not say.
    of_tensor(x, math.starts_with("CUDNN_TENSOR_OP"));
    const auto pads = numbers(f_.value(*d, "padA"));
    const auto strides = extents_of(f_, *d, "strideA"), dilations = extents_of(f_, *d, "dilationA");
    if (!pads || pads->size > 3 || !strides || !dilations) return std::nullopt;
    return window{both_sides(*pads), *strides, *dilations};
  }

  void convolution(bool bias) {
    const auto x = source();
    const auto w = tensor_named({"wDesc", "filterDesc"});
    c_.algorithm = word(f_.value("algo"));
    if (!x || !w) return;
    const auto how = convolution_window(*x);
    if (!how) return;
    const auto base = conv_of(x->dims, w->dims, *how, bias);
    if (!base) return;
    op::fused<op::conv> out{.base = *base};
    if (accumulates(f_.value("beta"))) out.steps.push(op::step(op::binary_function::add));
    if (bias) {
      // z is added, but where it is scaled with zero.
      if (accumulates(f_.value("alpha2"))) out.steps.push(op::step(op::binary_function::add));
      const field* a = f_.find("activationDesc");
      const std::string_view mode = a == nullptr
                                        ? std::string_view{}
                                        : without(word(f_.value(*a, "mode")), "CUDNN_ACTIVATION_");
      if (mode != "IDENTITY") {
        const auto function = function_named(mode);
        if (!function) {
          c_.remark = "a convolution with " + std::string(mode);
          return;
        }
        out.steps.push(*function);
      }
    }
    if (out.steps.size == 0)
      c_.layer = checked_layer(out.base);
    else
      c_.layer = checked_layer(out);
  }

  /// True for a scale that is not zero, of what is added to the result.
  static bool accumulates(std::string_view scale) {
    return scale.find_first_of("123456789") != std::string_view::npos;
  }

  void transposed() {
    const auto dy = tensor_named({"dyDesc", "diffDesc"});
    const auto dx = tensor_named({"dxDesc", "gradDesc"});
    const auto w = tensor_named({"wDesc", "filterDesc"});
    c_.algorithm = word(f_.value("algo"));
    if (!dy || !dx || !w) return;
    if (const auto how = convolution_window(*dy))
      c_.layer = transposed_layer(dy->dims, w->dims, dx->dims, *how);
  }

  void pooling() {
    const auto x = source(), y = result();
    const field* d = f_.find("poolingDesc");
    if (!x || !y || d == nullptr) return;
    const std::string_view mode = without(word(f_.value(*d, "mode")), "CUDNN_POOLING_");
    const auto kernel = extents_of(f_, *d, "windowDimA"), strides = extents_of(f_, *d, "strideA");
    const auto pads = numbers(f_.value(*d, "paddingA"));
    if (!kernel || !strides || !pads || pads->size > 3 || mode.empty()) return;
    c_.layer = pool_layer(mode.starts_with("MAX"), mode.find("INCLUDE") != std::string_view::npos,
                          x->dims, y->dims, *kernel, {both_sides(*pads), *strides, {}});
  }

  void softmax() {
    const auto x = source();
    c_.algorithm = word(f_.value("algorithm"));
    if (c_.algorithm.empty()) c_.algorithm = word(f_.value("algo"));
    if (!x || x->dims.size < 2) return;
    op::softmax s{.axis = 1, .log = c_.algorithm == "CUDNN_SOFTMAX_LOG"};
    const std::int64_t plane = elements(x->dims, 2, x->dims.size);
    if (word(f_.value("mode")) == "CUDNN_SOFTMAX_MODE_INSTANCE")
      s.input = {x->dims[0], checked_multiply(x->dims[1], plane)};
    else
      s.input = plane == 1 ? shape{x->dims[0], x->dims[1]} : x->dims;
    c_.layer = checked_layer(s);
  }

  void activation() {
    const auto x = source();
    const field* d = f_.find("activationDesc");
    if (!x || d == nullptr) return;
    const std::string_view mode = without(word(f_.value(*d, "mode")), "CUDNN_ACTIVATION_");
    if (const auto function = function_named(mode))
      c_.layer = checked_layer(op::unary{.function = *function, .input = x->dims});
    else
      c_.remark = "the function " + std::string(mode);
  }

  void batch_norm() {
    const auto x = source();
    if (!x) return;
    if (word(f_.value("mode")).starts_with("CUDNN_BATCHNORM_SPATIAL"))
      c_.layer = checked_layer(op::batch_norm{.input = x->dims});
    else
      c_.remark = "a normalization of each element";
  }

  void lrn() {
    const auto x = source();
    const field* d = f_.find("normDesc");
    if (!x || d == nullptr) return;
    if (const auto n = number(f_.value(*d, "lrnN")))
      c_.layer = checked_layer(op::lrn{.input = x->dims, .size = *n});
  }

  void elementwise(bool adds) {
    auto a = tensor_named({"aDesc", "srcDestDesc", "cDesc", "destDesc", "yDesc"});
    auto b = tensor_named({"biasDesc", "bDesc", "aDesc"});
    if (adds) // AddTensor adds its first tensor to its second
      if (const auto c = tensor_named({"srcDestDesc", "cDesc", "destDesc"})) a = c;
    if (!a || !b) return;
    of_tensor(*a, false);
    std::string_view name = "ADD";
    if (!adds)
      if (const field* d =
              f_.find("opDesc") != nullptr ? f_.find("opDesc") : f_.find("opTensorDesc"))
        name = without(word(f_.value(*d, "op")), "CUDNN_OP_TENSOR_");
    if (const auto function = join_named(name))
      c_.layer = checked_layer(op::binary{.function = *function, .a = a->dims, .b = b->dims});
    else if (const auto one = function_named(name))
      c_.layer = checked_layer(op::unary{.function = *one, .input = a->dims});
  }

  void reduction() {
    const auto x = source(), y = result();
    const field* d =
        f_.find("reduceDesc") != nullptr ? f_.find("reduceDesc") : f_.find("reduceTensorDesc");
    if (!x || !y || d == nullptr || x->dims.size != y->dims.size) return;
    using r = op::reduction;
    constexpr std::pair<std::string_view, r> functions[] = {
        {"ADD", r::sum},  {"MUL", r::product}, {"MIN", r::min},  {"MAX", r::max},
        {"AVG", r::mean}, {"NORM1", r::l1},    {"NORM2", r::l2},
    };
    const std::string_view name =
        without(word(f_.value(*d, f_.below(*d, "op") != nullptr ? "op" : "reduceTensorOp")),
                "CUDNN_REDUCE_TENSOR_");
    const auto function = look_up(functions, name);
    if (!function) {
      c_.remark = "the reduction " + std::string(name);
      return;
    }
    op::reduce out{.function = *function, .input = x->dims};
    for (int i = 0; i < x->dims.size; ++i)
      if (y->dims[i] == 1 && x->dims[i] != 1) out.axes.push(i);
    c_.layer = checked_layer(out);
  }

  void reorder() {
    const auto x = source(), y = result();
    if (!x || !y || x->dims != y->dims || x->element != y->element) {
      c_.remark = "a change of type or dims";
      return;
    }
    const auto from = parse_layout(x->layout()), to = parse_layout(y->layout());
    if (from && to && *from != *to)
      c_.layer = checked_layer(op::reorder{.input = x->dims, .from = *from, .to = *to});
    else
      c_.remark = "a copy";
  }

  const fields& f_;
  call c_;
};
} // namespace detail

/// True for functions of cuDNN that compute something, but cudnnBackendExecute.
inline bool cudnn_legacy_computes(std::string_view function) {
  if (!function.starts_with("cudnn")) return false;
  const std::string_view name = function.substr(5);
  for (std::string_view front :
       {"Get", "Find", "Set", "Create", "Destroy", "Backend", "Query", "Init", "Build", "Derive"})
    if (name.starts_with(front)) return false;
  if (name.find("Forward") != std::string_view::npos ||
      name.find("Backward") != std::string_view::npos)
    return true;
  for (std::string_view other : {"AddTensor", "OpTensor", "ReduceTensor", "ScaleTensor",
                                 "TransformTensor", "TransformTensorEx", "TransformFilter",
                                 "Im2Col", "CTCLoss", "CTCLoss_v8", "FusedOpsExecute"})
    if (name == other) return true;
  return false;
}

/// The call that a block of an older function says.
inline call read_cudnn_legacy(std::string_view function, const fields& f) {
  return detail::legacy_call(function, f).read();
}

} // namespace benanza::trace
