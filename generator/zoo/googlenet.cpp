// SPDX-License-Identifier: Apache-2.0
// What are the GoogLeNets of the ONNX model zoo? Two exports by Caffe2 with the same weights'
// shapes. BVLC's rounds its pooling up (56, 28, 14, 7 pixels); the one called Inception-v1 rounds
// down (55, 27, 13, 6), and stores its classifier as [1, 1, 1000, 1024], which a Reshape flattens
// at run time.
#include "builder.hpp"
#include "families.hpp"

#include <array>

namespace benanza::generator::zoo {
namespace {

/// One inception module: the output channels of its convolutions, in the paper's order.
struct recipe {
  const char* name;
  std::int64_t c1, c3_reduce, c3, c5_reduce, c5, pool_proj;
};

constexpr std::array<recipe, 9> modules{{
    {"3a", 64, 96, 128, 16, 32, 32},
    {"3b", 128, 128, 192, 32, 96, 64},
    {"4a", 192, 96, 208, 16, 48, 64},
    {"4b", 160, 112, 224, 24, 64, 64},
    {"4c", 128, 128, 256, 24, 64, 64},
    {"4d", 112, 144, 288, 32, 64, 64},
    {"4e", 256, 160, 320, 32, 128, 128},
    {"5a", 256, 160, 320, 32, 128, 128},
    {"5b", 384, 192, 384, 48, 128, 128},
}};

tensor inception(builder& net, const tensor& x, const recipe& m) {
  const std::string at = std::string("inception_") + m.name;
  const auto conv = [&](const tensor& from, const std::string& which, std::int64_t channels,
                        const window& w) {
    return net.relu(net.conv(from, at + which, channels, w));
  };
  const std::array<tensor, 4> branches{
      conv(x, "_1x1", m.c1, {}),
      conv(conv(x, "_3x3_reduce", m.c3_reduce, {}), "_3x3", m.c3, {.kernel = 3, .pad = 1}),
      conv(conv(x, "_5x5_reduce", m.c5_reduce, {}), "_5x5", m.c5, {.kernel = 5, .pad = 2}),
      conv(net.max_pool(x, at + "_pool", {.kernel = 3, .pad = 1}), "_pool_proj", m.pool_proj, {})};
  return net.concat(branches, at + "_output");
}

tensor features(builder& net, bool round_up) {
  const window halve{.kernel = 3, .stride = 2, .pad_more = round_up ? 1 : 0};
  tensor x = net.input("data", 3, 224);
  x = net.relu(net.conv(x, "conv1", 64, {.kernel = 7, .stride = 2, .pad = 3}));
  x = net.lrn(net.max_pool(x, "pool1", halve), "norm1", 1e-4F, 1.0F);
  x = net.relu(net.conv(x, "conv2_reduce", 64, {}));
  x = net.relu(net.conv(x, "conv2", 192, {.kernel = 3, .pad = 1}));
  x = net.max_pool(net.lrn(x, "norm2", 1e-4F, 1.0F), "pool2", halve);
  for (const recipe& m : modules) {
    x = inception(net, x, m);
    const std::string_view done = m.name;
    if (done == "3b") x = net.max_pool(x, "pool3", halve);
    if (done == "4e") x = net.max_pool(x, "pool4", halve);
  }
  x = net.average_pool(x, "pool5", {.kernel = 7, .pad_more = round_up ? 0 : 1});
  return net.reshape_flat(net.dropout(x, "pool5_dropout", 0.4F), "pool5_flat");
}

} // namespace

::onnx::ModelProto googlenet() {
  builder net("bvlc-googlenet");
  const tensor x = features(net, true);
  return net.finish(net.softmax(net.gemm(x, "classifier", 1000), "prob"));
}

::onnx::ModelProto inception_v1() {
  builder net("inception-v1");
  const tensor x = features(net, false);
  const std::int64_t classes = 1000;
  const std::string stored =
      net.weight("classifier_stored", {1, 1, classes, x.channels}, 1.0F / 1024.0F);
  const std::string weights = net.reshape(stored, "classifier_weight", {classes, x.channels});
  const std::string bias = net.weight("classifier_bias", {classes}, 0.01F);
  attribute(net.node("Gemm", {x.name, weights, bias}, "classifier"), "transB", std::int64_t{1});
  return net.finish(net.softmax({"classifier", classes, 0}, "prob"));
}

} // namespace benanza::generator::zoo
