// SPDX-License-Identifier: Apache-2.0
// What are the small networks of the ONNX model zoo? MobileNet-v2 of width 1.0 as MXNet Gluon first
// had it (plain ReLU, and 28x28 pixels up to 64 channels, hence 429M and not 300M
// multiply-accumulates), Gluon's SqueezeNet 1.1, and Caffe2's ShuffleNet-v1 with four groups, whose
// channel shuffle is Reshape, Transpose, Reshape.
#include "builder.hpp"
#include "families.hpp"

#include <array>

namespace benanza::generator::zoo {
namespace {

constexpr window one{.bias = false};

tensor conv_norm(builder& net, const tensor& x, const std::string& name, std::int64_t channels,
                 const window& w) {
  return net.batch_norm(net.conv(x, name, channels, w), name + "_bn");
}

/// A stage of inverted bottlenecks: `units` of them, the first with `stride`.
struct stage {
  std::int64_t expand, channels;
  int units;
  std::int64_t stride;
};

constexpr std::array<stage, 7> stages{{
    {1, 16, 1, 1},
    {6, 24, 2, 2},
    {6, 32, 3, 2},
    {6, 64, 4, 1},
    {6, 96, 3, 2},
    {6, 160, 3, 2},
    {6, 320, 1, 1},
}};

tensor inverted_bottleneck(builder& net, const tensor& x, const std::string& at, const stage& s,
                           std::int64_t stride) {
  const std::int64_t wide = x.channels * s.expand;
  const window depthwise{.kernel = 3, .stride = stride, .pad = 1, .groups = wide, .bias = false};
  tensor y = net.relu(conv_norm(net, x, at + "_expand", wide, one));
  y = net.relu(conv_norm(net, y, at + "_depthwise", wide, depthwise));
  y = conv_norm(net, y, at + "_project", s.channels, one);
  return stride == 1 && x.channels == s.channels ? net.add(y, x, at + "_add") : y;
}

tensor fire(builder& net, const tensor& x, const std::string& at, std::int64_t squeeze) {
  const tensor s = net.relu(net.conv(x, at + "_squeeze", squeeze, {}));
  const std::array<tensor, 2> expanded{
      net.relu(net.conv(s, at + "_expand1x1", 4 * squeeze, {})),
      net.relu(net.conv(s, at + "_expand3x3", 4 * squeeze, {.kernel = 3, .pad = 1}))};
  return net.concat(expanded, at + "_concat");
}

constexpr std::int64_t groups = 4;

tensor shuffle(builder& net, const tensor& x, const std::string& at) {
  const std::string split =
      net.reshape(x.name, at + "_groups", {0, groups, x.channels / groups, x.side, x.side});
  attribute(net.node("Transpose", {split}, at + "_transpose"), "perm",
            builder::dims{0, 2, 1, 3, 4});
  net.reshape(at + "_transpose", at, {0, x.channels, x.side, x.side});
  return {at, x.channels, x.side};
}

/// A ShuffleNet unit; where it changes the channels it halves the image and keeps the input by
/// Concat.
tensor shuffle_unit(builder& net, const tensor& x, const std::string& at, std::int64_t channels) {
  const bool halving = x.channels != channels;
  const std::int64_t inner = halving ? channels - x.channels : channels;
  const window grouped{.groups = groups, .bias = false};
  const window depthwise{
      .kernel = 3, .stride = halving ? 2 : 1, .pad = 1, .groups = inner, .bias = false};
  tensor y = net.relu(conv_norm(net, x, at + "_conv1", inner, grouped));
  y = conv_norm(net, shuffle(net, y, at + "_shuffle"), at + "_conv2", inner, depthwise);
  y = conv_norm(net, y, at + "_conv3", inner, grouped);
  if (halving) {
    const tensor kept = net.average_pool(x, at + "_pool", {.kernel = 3, .stride = 2, .pad = 1});
    return net.relu(net.concat(std::array{y, kept}, at + "_concat"));
  }
  return net.relu(net.sum(std::array{y, x}, at + "_sum"));
}

} // namespace

::onnx::ModelProto mobilenet() {
  builder net("mobilenet-v2");
  tensor x = net.input("data", 3, 224);
  const window first{.kernel = 3, .stride = 2, .pad = 1, .bias = false};
  x = net.relu(conv_norm(net, x, "conv0", 32, first));
  int unit = 0;
  for (const stage& s : stages)
    for (int i = 0; i < s.units; ++i)
      x = inverted_bottleneck(net, x, "bottleneck" + std::to_string(unit++), s,
                              i == 0 ? s.stride : 1);
  x = net.relu(conv_norm(net, x, "conv1", 1280, one));
  x = net.conv(net.global_average_pool(x, "pool"), "pred", 1000, one);
  return net.finish(net.reshape_flat(x, "output"));
}

::onnx::ModelProto squeezenet() {
  builder net("squeezenet-v1.1");
  const window halve{.kernel = 3, .stride = 2};
  tensor x = net.input("data", 3, 224);
  x = net.relu(net.conv(x, "conv1", 64, halve));
  x = net.max_pool(x, "pool1", halve);
  int at = 2;
  for (const std::int64_t squeeze : {16, 16, 32, 32, 48, 48, 64, 64}) {
    x = fire(net, x, "fire" + std::to_string(at), squeeze);
    if (at == 3 || at == 5) x = net.max_pool(x, "pool" + std::to_string(at), halve);
    ++at;
  }
  x = net.relu(net.conv(net.dropout(x, "fire9_dropout"), "conv10", 1000, {}));
  x = net.average_pool(x, "pool10", {.kernel = 13, .stride = 13});
  return net.finish(net.reshape_flat(x, "output"));
}

::onnx::ModelProto shufflenet() {
  builder net("shufflenet");
  tensor x = net.input("data", 3, 224);
  x = conv_norm(net, x, "conv1", 24, {.kernel = 3, .stride = 2, .pad = 1});
  x = net.max_pool(net.relu(x), "pool1", {.kernel = 3, .stride = 2, .pad = 1});
  std::int64_t channels = 136;
  int block = 2;
  for (const int units : {4, 8, 4}) {
    for (int i = 1; i <= units; ++i)
      x = shuffle_unit(net, x, "stage" + std::to_string(block) + "_unit" + std::to_string(i),
                       channels);
    channels *= 2;
    ++block;
  }
  x = net.reshape_flat(net.average_pool(x, "pool5", {.kernel = 7}), "pool5_flat");
  return net.finish(net.softmax(net.gemm(x, "fc", 1000), "prob"));
}

} // namespace benanza::generator::zoo
