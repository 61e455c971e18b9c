// SPDX-License-Identifier: Apache-2.0
// What is the Inception-v2 of the ONNX model zoo? GoogLeNet with batch normalization and two 3x3 in
// place of a 5x5, exported by Caffe2, where the learnt scale and shift are nodes of their own.
// Modules 3c and 4e halve the image and have no 1x1 branch.
#include "builder.hpp"
#include "families.hpp"

#include <array>

namespace benanza::generator::zoo {
namespace {

/// One inception module: its convolutions' output channels; no 1x1 branch where it halves (`c1` 0).
struct recipe {
  const char* name;
  std::int64_t c1, c3_reduce, c3, double_reduce, double3, pool_proj;
};

constexpr std::array<recipe, 10> modules{{
    {"3a", 64, 64, 64, 64, 96, 32},
    {"3b", 64, 64, 96, 64, 96, 64},
    {"3c", 0, 128, 160, 64, 96, 0},
    {"4a", 224, 64, 96, 96, 128, 128},
    {"4b", 192, 96, 128, 96, 128, 128},
    {"4c", 160, 128, 160, 128, 160, 96},
    {"4d", 96, 128, 192, 160, 192, 96},
    {"4e", 0, 128, 192, 192, 256, 0},
    {"5a", 352, 192, 320, 160, 224, 128},
    {"5b", 352, 192, 320, 192, 224, 128},
}};

constexpr window three{.kernel = 3, .pad = 1, .bias = false};
constexpr window three_halving{.kernel = 3, .stride = 2, .pad = 1, .bias = false};
constexpr window halve{.kernel = 3, .stride = 2, .pad_more = 1};

tensor conv(builder& net, const tensor& x, const std::string& name, std::int64_t channels,
            const window& w) {
  const tensor y = net.conv(x, name, channels, w);
  return net.relu(net.batch_norm_and_scale(y, name + "_bn"), name + "_relu");
}

tensor inception(builder& net, const tensor& x, const recipe& m) {
  const std::string at = std::string("inception_") + m.name;
  const bool halving = m.c1 == 0;
  const window one{.bias = false};
  const window last = halving ? three_halving : three;
  std::vector<tensor> branches;
  if (!halving) branches.push_back(conv(net, x, at + "_1x1", m.c1, one));
  tensor y = conv(net, x, at + "_3x3_reduce", m.c3_reduce, one);
  branches.push_back(conv(net, y, at + "_3x3", m.c3, last));
  y = conv(net, x, at + "_double3x3_reduce", m.double_reduce, one);
  y = conv(net, y, at + "_double3x3_1", m.double3, three);
  branches.push_back(conv(net, y, at + "_double3x3_2", m.double3, last));
  if (halving) {
    branches.push_back(net.max_pool(x, at + "_pool", halve));
  } else {
    const bool max = std::string_view(m.name) == "5b";
    y = max ? net.max_pool(x, at + "_pool", three) : net.average_pool(x, at + "_pool", three);
    branches.push_back(conv(net, y, at + "_pool_proj", m.pool_proj, one));
  }
  return net.concat(branches, at + "_output");
}

} // namespace

::onnx::ModelProto inception_v2() {
  builder net("inception-v2");
  tensor x = net.input("data", 3, 224);
  x = conv(net, x, "conv1", 64, {.kernel = 7, .stride = 2, .pad = 3, .bias = false});
  x = net.max_pool(x, "pool1", halve);
  x = conv(net, x, "conv2_reduce", 64, {.bias = false});
  x = conv(net, x, "conv2", 192, three);
  x = net.max_pool(x, "pool2", halve);
  for (const recipe& m : modules)
    x = inception(net, x, m);
  x = net.reshape_flat(net.average_pool(x, "global_pool", {.kernel = 7}), "global_pool_flat");
  return net.finish(net.softmax(net.gemm(x, "fc", 1000), "prob"));
}

} // namespace benanza::generator::zoo
