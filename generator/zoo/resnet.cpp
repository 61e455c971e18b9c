// SPDX-License-Identifier: Apache-2.0
// What are the ResNets of the ONNX model zoo? Those that MXNet Gluon trained: depth 18 and 34 from
// two 3x3 convolutions a unit, 50, 101 and 152 from bottlenecks. Version 1 puts a bottleneck's
// stride into its first 1x1 convolution and gives its 1x1 convolutions a bias; version 2 normalizes
// the input and each unit's input.
#include "builder.hpp"
#include "families.hpp"

#include <array>

namespace benanza::generator::zoo {
namespace {

constexpr window first{.kernel = 7, .stride = 2, .pad = 3, .bias = false};
constexpr window halve{.kernel = 3, .stride = 2, .pad = 1};

window one(std::int64_t stride, bool bias) {
  return {.stride = stride, .bias = bias};
}

window three(std::int64_t stride) {
  return {.kernel = 3, .stride = stride, .pad = 1, .bias = false};
}

std::array<int, 4> units_of(int depth) {
  switch (depth) {
  case 18: return {2, 2, 2, 2};
  case 101: return {3, 4, 23, 3};
  case 152: return {3, 8, 36, 3};
  default: return {3, 4, 6, 3};
  }
}

struct unit {
  builder& net;
  std::string name;
  std::int64_t channels;
  std::int64_t stride;
  bool bottleneck;

  tensor norm(const tensor& x, const std::string& which) const {
    return net.batch_norm(x, name + "_bn" + which);
  }
  tensor conv_norm(const tensor& x, const std::string& which, std::int64_t out,
                   const window& w) const {
    return norm(net.conv(x, name + "_conv" + which, out, w), which);
  }

  tensor version1(const tensor& x) const {
    tensor y;
    if (bottleneck) {
      y = net.relu(conv_norm(x, "1", channels / 4, one(stride, true)));
      y = net.relu(conv_norm(y, "2", channels / 4, three(1)));
      y = conv_norm(y, "3", channels, one(1, true));
    } else {
      y = net.relu(conv_norm(x, "1", channels, three(stride)));
      y = conv_norm(y, "2", channels, three(1));
    }
    const tensor side =
        x.channels == channels ? x : conv_norm(x, "_side", channels, one(stride, false));
    return net.relu(net.add(y, side, name + "_add"));
  }

  tensor version2(const tensor& x) const {
    const tensor active = net.relu(norm(x, "1"));
    const tensor side = x.channels == channels
                            ? x
                            : net.conv(active, name + "_conv_side", channels, one(stride, false));
    tensor y;
    if (bottleneck) {
      y = net.conv(active, name + "_conv1", channels / 4, one(1, false));
      y = net.conv(net.relu(norm(y, "2")), name + "_conv2", channels / 4, three(stride));
      y = net.conv(net.relu(norm(y, "3")), name + "_conv3", channels, one(1, false));
    } else {
      y = net.conv(active, name + "_conv1", channels, three(stride));
      y = net.conv(net.relu(norm(y, "2")), name + "_conv2", channels, three(1));
    }
    return net.add(y, side, name + "_add");
  }
};

} // namespace

::onnx::ModelProto resnet(int depth, int version) {
  builder net("resnet" + std::to_string(depth) + "-v" + std::to_string(version));
  const bool bottleneck = depth >= 50;
  tensor x = net.input("data", 3, 224);
  if (version == 2) x = net.batch_norm(x, "data_bn");
  x = net.relu(net.batch_norm(net.conv(x, "conv0", 64, first), "bn0"));
  x = net.max_pool(x, "pool0", halve);
  std::int64_t channels = bottleneck ? 256 : 64;
  int stage = 1;
  for (const int units : units_of(depth)) {
    for (int i = 1; i <= units; ++i) {
      const std::int64_t stride = i == 1 && stage > 1 ? 2 : 1;
      const unit u{net, "stage" + std::to_string(stage) + "_unit" + std::to_string(i), channels,
                   stride, bottleneck};
      x = version == 1 ? u.version1(x) : u.version2(x);
    }
    channels *= 2;
    ++stage;
  }
  if (version == 2) x = net.relu(net.batch_norm(x, "bn1"));
  x = net.global_average_pool(x, "pool1");
  x = version == 1 ? net.flatten(x, "flatten") : net.reshape_flat(x, "flatten");
  return net.finish(net.gemm(x, "fc", 1000));
}

} // namespace benanza::generator::zoo
