// SPDX-License-Identifier: Apache-2.0
// What is a quantized model? ResNet-50 (He et al., 2015; with the stride in the 3x3 convolutions,
// as torchvision has it) with a pair of QuantizeLinear and DequantizeLinear on every activation: 8
// bits by one scale for activations, by one a channel for weights, biases of 32 bits.
#include "convolution.hpp"
#include "families.hpp"

namespace benanza::generator::zoo {
namespace {

using TensorProto = ::onnx::TensorProto;

struct quantized {
  exporter& net;

  /// To 8 bits and back.
  feature_map rounded(const feature_map& x) const {
    const value scale = net.number(0.05F);
    const value zero = net.table("zero_point", {}, dims{128}, TensorProto::UINT8);
    const value bytes = net.node("QuantizeLinear", {x.at, scale, zero});
    return {net.node("DequantizeLinear", {bytes, scale, zero}), x.channels};
  }

  /// Weights and biases of a layer with `out` channels, as real numbers.
  std::vector<value> parameters(const std::string& name, const dims& shape) const {
    const dims zeros(static_cast<std::size_t>(shape[0]), 0);
    const value none =
        net.table("zeros_" + std::to_string(shape[0]), {shape[0]}, zeros, TensorProto::INT8);
    const value weights =
        net.node("DequantizeLinear",
                 {net.weight(name + ".weight_quantized", shape, TensorProto::INT8),
                  net.weight(name + ".weight_scale", {shape[0]}), none},
                 {{"axis", 0}});
    const value bias =
        net.node("DequantizeLinear",
                 {net.weight(name + ".bias_quantized", {shape[0]}, TensorProto::INT32),
                  net.weight(name + ".bias_scale", {shape[0]})},
                 {{"axis", 0}});
    return {weights, bias};
  }

  feature_map conv(const feature_map& x, const std::string& name, std::int64_t out,
                   std::int64_t kernel, std::int64_t stride) const {
    const std::vector<value> with = parameters(name, {out, x.channels, kernel, kernel});
    const std::int64_t pad = kernel / 2;
    return {net.node("Conv", {x.at, with[0], with[1]},
                     {{"dilations", dims{1, 1}},
                      {"group", 1},
                      {"kernel_shape", dims{kernel, kernel}},
                      {"pads", dims{pad, pad, pad, pad}},
                      {"strides", dims{stride, stride}}}),
            out};
  }
  feature_map conv_relu(const feature_map& x, const std::string& name, std::int64_t out,
                        std::int64_t kernel, std::int64_t stride) const {
    return rounded(activate(net, conv(x, name, out, kernel, stride), "Relu"));
  }

  feature_map unit(const feature_map& x, const std::string& at, std::int64_t out,
                   std::int64_t stride) const {
    feature_map y = conv_relu(x, at + "conv1", out / 4, 1, 1);
    y = conv_relu(y, at + "conv2", out / 4, 3, stride);
    y = rounded(conv(y, at + "conv3", out, 1, 1));
    const feature_map side =
        x.channels == out ? x : rounded(conv(x, at + "downsample.0", out, 1, stride));
    return rounded(activate(net, add(net, y, side), "Relu"));
  }
};

} // namespace

::onnx::ModelProto resnet_qdq(std::string_view name) {
  exporter net(name, 13);
  const quantized q{net};
  feature_map x = q.rounded({net.input("input", {"batch", 3, 224, 224}), 3});
  x = q.conv_relu(x, "conv1", 64, 7, 2);
  x = q.rounded({net.node("MaxPool", {x.at},
                          {{"ceil_mode", 0},
                           {"kernel_shape", dims{3, 3}},
                           {"pads", dims{1, 1, 1, 1}},
                           {"strides", dims{2, 2}}}),
                 x.channels});
  std::int64_t channels = 256;
  int stage = 1;
  for (const int units : {3, 4, 6, 3}) {
    for (int i = 0; i < units; ++i)
      x = q.unit(x, "layer" + std::to_string(stage) + "." + std::to_string(i) + ".", channels,
                 i == 0 && stage > 1 ? 2 : 1);
    channels *= 2;
    ++stage;
  }
  x = q.rounded({net.node("GlobalAveragePool", {x.at}), x.channels});
  const value flat = net.node("Flatten", {x.at}, {{"axis", 1}});
  const std::vector<value> with = q.parameters("fc", {1000, x.channels});
  net.output(net.node("Gemm", {flat, with[0], with[1]}, {{"transB", 1}}), "logits",
             {"batch", 1000});
  return net.finish();
}

} // namespace benanza::generator::zoo
