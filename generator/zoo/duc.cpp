// SPDX-License-Identifier: Apache-2.0
// What is the DUC of the ONNX model zoo? TuSimple's ResNet-101 for Cityscapes (MXNet): from stage 4
// on, dilation in place of stride, in the hybrid pattern of that paper, then four dilated
// convolutions whose sum is the dense upsampling: 16 pixels of 19 classes at each point of a
// 100x100 grid.
#include "builder.hpp"
#include "families.hpp"

#include <array>

namespace benanza::generator::zoo {
namespace {

constexpr float epsilon = 1e-6F;

tensor conv_norm(builder& net, const tensor& x, const std::string& name, std::int64_t channels,
                 const window& w) {
  return net.batch_norm(net.conv(x, name, channels, w), name + "_bn", epsilon);
}

window three(std::int64_t stride, std::int64_t dilation) {
  return {.kernel = 3, .stride = stride, .pad = dilation, .dilation = dilation, .bias = false};
}

tensor bottleneck(builder& net, const tensor& x, const std::string& at, std::int64_t channels,
                  std::int64_t stride, std::int64_t dilation) {
  const window strided{.stride = stride, .bias = false};
  const window one{.bias = false};
  tensor y = net.relu(conv_norm(net, x, at + "_1x1_reduce", channels / 4, strided));
  y = net.relu(conv_norm(net, y, at + "_3x3", channels / 4, three(1, dilation)));
  y = conv_norm(net, y, at + "_1x1_increase", channels, one);
  const tensor side =
      x.channels == channels ? x : conv_norm(net, x, at + "_1x1_proj", channels, strided);
  return net.relu(net.sum(std::array{y, side}, at), at + "_relu");
}

/// The dilation of unit `i` (from 0): none in stages 2 and 3, then repeating 2, 5, 9, 1, then 5,
/// 9, 17.
std::int64_t dilation_of(int stage, int i) {
  constexpr std::array<std::int64_t, 4> stage4{2, 5, 9, 1};
  constexpr std::array<std::int64_t, 3> stage5{5, 9, 17};
  const auto at = static_cast<std::size_t>(i);
  if (stage == 4) return i == 0 ? 2 : stage4[(at - 1) % 4];
  if (stage == 5) return stage5[at];
  return 1;
}

} // namespace

::onnx::ModelProto duc() {
  builder net("duc");
  tensor x = net.input("data", 3, 800);
  x = net.relu(conv_norm(net, x, "conv1_1", 64, three(2, 1)));
  x = net.relu(conv_norm(net, x, "conv1_2", 64, three(1, 1)));
  x = net.relu(conv_norm(net, x, "conv1_3", 128, three(1, 1)));
  x = net.max_pool(x, "pool1", {.kernel = 3, .stride = 2});
  std::int64_t channels = 256;
  int stage = 2;
  for (const int units : {3, 4, 23, 3}) {
    for (int i = 0; i < units; ++i)
      x = bottleneck(net, x, "conv" + std::to_string(stage) + "_" + std::to_string(i + 1), channels,
                     stage == 3 && i == 0 ? 2 : 1, dilation_of(stage, i));
    channels *= 2;
    ++stage;
  }
  constexpr std::int64_t classes = 19;
  constexpr std::int64_t cell = 16;
  std::vector<tensor> pyramid;
  for (const std::int64_t dilation : {6, 12, 18, 24}) {
    window w = three(1, dilation);
    w.bias = true;
    pyramid.push_back(net.conv(x, "fc1_dilated" + std::to_string(dilation), classes * cell, w));
  }
  x = net.sum(pyramid, "fc1");
  x.name = net.reshape(x.name, "score", {0, classes, -1});
  return net.finish(net.softmax(x, "prob").name, {classes, cell * x.side * x.side});
}

} // namespace benanza::generator::zoo
