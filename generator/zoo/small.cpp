// SPDX-License-Identifier: Apache-2.0
// What are the three small-image networks of the ONNX model zoo? LeNet for MNIST and the VGG-13 of
// FER+, as CNTK exports them (auto_pad, a bias as its own Add, the first dense weight reshaped at
// run time), and Tiny YOLO v2 for Pascal VOC, exported from Core ML.
#include "builder.hpp"
#include "families.hpp"

#include <array>

namespace benanza::generator::zoo {
namespace {

/// CNTK's convolution: no bias in the node, an Add of [channels, 1, 1] after it.
tensor conv_add_relu(builder& net, const tensor& x, const std::string& name, std::int64_t channels,
                     std::int64_t kernel) {
  const tensor y = net.conv(x, name, channels, {.kernel = kernel, .bias = false, .same = true});
  const std::string bias = net.weight(name + "_bias", {channels, 1, 1}, 0.01F);
  return net.relu(net.with("Add", y, bias, name + "_add"));
}

/// CNTK's dense layer: MatMul and Add; `stored` is the weight's shape where a Reshape makes it a
/// matrix.
tensor dense(builder& net, const tensor& x, const std::string& name, std::int64_t channels,
             const builder::dims& stored, const builder::dims& bias) {
  const builder::dims matrix{x.channels, channels};
  const float value = 1.0F / static_cast<float>(x.channels);
  std::string weights = name + "_weight";
  if (stored.empty())
    net.weight(weights, matrix, value);
  else
    net.reshape(net.weight(name + "_stored", stored, value), weights, matrix);
  net.node("MatMul", {x.name, weights}, name);
  const tensor y{name, channels, 0};
  return net.with("Add", y, net.weight(name + "_bias", bias, 0.01F), name + "_add");
}

} // namespace

::onnx::ModelProto lenet() {
  builder net("lenet");
  tensor x = conv_add_relu(net, net.input("data", 1, 28), "conv1", 8, 5);
  x = net.max_pool(x, "pool1", {.kernel = 2, .stride = 2});
  x = conv_add_relu(net, x, "conv2", 16, 5);
  x = net.max_pool(x, "pool2", {.kernel = 3, .stride = 3});
  x = net.reshape_flat(x, "pool2_flat");
  return net.finish(dense(net, x, "fc", 10, {16, 4, 4, 10}, {1, 10}));
}

::onnx::ModelProto ferplus() {
  builder net("emotion-ferplus");
  constexpr float middle = 127.5F;
  constexpr float range = 255.0F;
  tensor x = net.input("data", 1, 64);
  x = net.with("Sub", x, net.constant("middle", {}, {&middle, 1}), "centred");
  x = net.with("Div", x, net.constant("range", {}, {&range, 1}), "scaled");
  int block = 1;
  for (const std::int64_t channels : {64, 128, 256, 256}) {
    const std::string at = std::to_string(block);
    const int convs = block <= 2 ? 2 : 3;
    for (int i = 1; i <= convs; ++i)
      x = conv_add_relu(net, x, "conv" + at + "_" + std::to_string(i), channels, 3);
    x = net.max_pool(x, "pool" + at, {.kernel = 2, .stride = 2});
    x = net.dropout(x, "drop" + at, 0.25F);
    ++block;
  }
  x = net.reshape_flat(x, "drop4_flat");
  x = net.relu(dense(net, x, "fc5", 1024, {256, 4, 4, 1024}, {1024}));
  x = net.relu(dense(net, net.dropout(x, "drop5"), "fc6", 1024, {}, {1024}));
  return net.finish(dense(net, net.dropout(x, "drop6"), "output", 8, {}, {8}));
}

::onnx::ModelProto tiny_yolo() {
  builder net("tiny-yolo-v2");
  constexpr float scale = 1.0F / 255.0F;
  tensor x = net.input("data", 3, 416);
  x = net.with("Mul", x, net.constant("scale", {}, {&scale, 1}), "scaled");
  int at = 1;
  for (const std::int64_t channels : {16, 32, 64, 128, 256, 512, 1024, 1024}) {
    const std::string n = std::to_string(at);
    x = net.conv(x, "conv" + n, channels, {.kernel = 3, .bias = false, .same = true});
    x = net.leaky_relu(net.batch_norm(x, "bn" + n), "leaky_relu" + n, 0.1F);
    // The sixth pooling smooths without halving: the grid stays 13x13.
    const window w{.kernel = 2, .stride = at < 6 ? 2 : 1, .same = true};
    if (at <= 6) x = net.max_pool(x, "pool" + n, w);
    ++at;
  }
  return net.finish(net.conv(x, "grid", 125, {.same = true}));
}

} // namespace benanza::generator::zoo
