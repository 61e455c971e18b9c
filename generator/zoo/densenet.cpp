// SPDX-License-Identifier: Apache-2.0
// What is the DenseNet-121 of the ONNX model zoo? Growth 32, blocks of 6, 12, 24 and 16 layers,
// exported by Caffe2: the learnt scale and shift of each normalization are nodes of their own
// (Unsqueeze, Mul, Unsqueeze, Add), which makes 910 nodes, and the classifier is a 1x1 convolution.
#include "builder.hpp"
#include "families.hpp"

#include <array>

namespace benanza::generator::zoo {
namespace {

constexpr std::int64_t growth = 32;
constexpr std::array<int, 4> layers_of{6, 12, 24, 16};

tensor active(builder& net, const tensor& x, const std::string& name) {
  return net.relu(net.batch_norm_and_scale(x, name + "_bn"), name + "_relu");
}

tensor dense_layer(builder& net, const tensor& x, const std::string& at) {
  tensor y = net.conv(active(net, x, at + "_x1"), at + "_x1", 4 * growth, {.bias = false});
  y = net.conv(active(net, y, at + "_x2"), at + "_x2", growth,
               {.kernel = 3, .pad = 1, .bias = false});
  return net.concat(std::array{x, y}, at + "_concat");
}

} // namespace

::onnx::ModelProto densenet() {
  builder net("densenet-121");
  tensor x = net.input("data", 3, 224);
  x = net.conv(x, "conv1", 2 * growth, {.kernel = 7, .stride = 2, .pad = 3, .bias = false});
  x = net.max_pool(active(net, x, "conv1"), "pool1", {.kernel = 3, .stride = 2, .pad = 1});
  int block = 2;
  for (const int layers : layers_of) {
    const std::string at = "conv" + std::to_string(block);
    for (int i = 1; i <= layers; ++i)
      x = dense_layer(net, x, at + "_" + std::to_string(i));
    const bool last = block == 5;
    x = active(net, x, at + "_block");
    if (!last) {
      x = net.conv(x, at + "_block", x.channels / 2, {.bias = false});
      x = net.average_pool(x, "pool" + std::to_string(block), {.kernel = 2, .stride = 2});
    }
    ++block;
  }
  x = net.global_average_pool(x, "pool5");
  return net.finish(net.conv(x, "fc6", 1000, {}));
}

} // namespace benanza::generator::zoo
