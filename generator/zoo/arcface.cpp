// SPDX-License-Identifier: Apache-2.0
// What is the ArcFace of the ONNX model zoo? LResNet100E-IR of insightface (MXNet): 49 improved
// residual units of batch norm, convolution, batch norm, PRelu, convolution, batch norm. Each
// PRelu's slopes pass a Reshape to [1, channels, 1, 1] at run time, and scaling the pixels is part
// of the graph.
#include "builder.hpp"
#include "families.hpp"

namespace benanza::generator::zoo {
namespace {

constexpr float epsilon = 2e-5F;

tensor norm(builder& net, const tensor& x, const std::string& name) {
  return net.batch_norm(x, name, epsilon);
}

tensor prelu(builder& net, const tensor& x, const std::string& name) {
  const std::string slopes = net.weight(name + "_gamma", {x.channels}, 0.25F);
  return net.with("PRelu", x, net.reshape(slopes, name + "_slope", {1, -1, 1, 1}), name);
}

tensor improved_unit(builder& net, const tensor& x, const std::string& at, std::int64_t channels,
                     std::int64_t stride) {
  const window same{.kernel = 3, .pad = 1, .bias = false};
  const window strided{.kernel = 3, .stride = stride, .pad = 1, .bias = false};
  tensor y = net.conv(norm(net, x, at + "_bn1"), at + "_conv1", channels, same);
  y = prelu(net, norm(net, y, at + "_bn2"), at + "_prelu");
  y = norm(net, net.conv(y, at + "_conv2", channels, strided), at + "_bn3");
  if (stride == 1) return net.add(y, x, at + "_add");
  const tensor side = net.conv(x, at + "_conv_side", channels, {.stride = stride, .bias = false});
  return net.add(y, norm(net, side, at + "_bn_side"), at + "_add");
}

} // namespace

::onnx::ModelProto arcface() {
  builder net("arcface");
  constexpr float middle = 127.5F;
  constexpr float scale = 0.0078125F;
  tensor x = net.input("data", 3, 112);
  net.node("Identity", {x.name}, "id");
  x.name = "id";
  x = net.with("Sub", x, net.constant("middle", {1}, {&middle, 1}), "centred");
  x = net.with("Mul", x, net.constant("scale", {1}, {&scale, 1}), "scaled");
  x = net.conv(x, "conv0", 64, {.kernel = 3, .pad = 1, .bias = false});
  x = prelu(net, norm(net, x, "bn0"), "prelu0");
  std::int64_t channels = 64;
  int stage = 1;
  for (const int units : {3, 13, 30, 3}) {
    for (int i = 1; i <= units; ++i)
      x = improved_unit(net, x, "stage" + std::to_string(stage) + "_unit" + std::to_string(i),
                        channels, i == 1 ? 2 : 1);
    channels *= 2;
    ++stage;
  }
  x = net.dropout(norm(net, x, "bn1"), "bn1_dropout", 0.4F);
  x = net.gemm(net.flatten(x, "flatten"), "pre_fc1", 512);
  return net.finish(norm(net, x, "fc1"));
}

} // namespace benanza::generator::zoo
