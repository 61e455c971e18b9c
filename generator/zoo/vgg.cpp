// SPDX-License-Identifier: Apache-2.0
// What are the VGGs of the ONNX model zoo? Those of MXNet Gluon: five blocks of 3x3 convolutions,
// each followed by a halving max pool, then three fully connected layers with a Flatten before
// each.
#include "builder.hpp"
#include "families.hpp"

namespace benanza::generator::zoo {

::onnx::ModelProto vgg(int depth, bool normed) {
  builder net("vgg" + std::to_string(depth) + (normed ? "-bn" : ""));
  tensor x = net.input("data", 3, 224);
  std::int64_t channels = 64;
  for (int block = 1; block <= 5; ++block) {
    const int convs = block <= 2 ? 2 : depth == 16 ? 3 : 4;
    for (int i = 1; i <= convs; ++i) {
      const std::string at = std::to_string(block) + "_" + std::to_string(i);
      x = net.conv(x, "conv" + at, channels, {.kernel = 3, .pad = 1});
      if (normed) x = net.batch_norm(x, "bn" + at);
      x = net.relu(x, "relu" + at);
    }
    x = net.max_pool(x, "pool" + std::to_string(block), {.kernel = 2, .stride = 2});
    if (channels < 512) channels *= 2;
  }
  for (const std::string fc : {"fc6", "fc7"}) {
    x = net.gemm(net.flatten(x, fc + "_flatten"), fc, 4096);
    x = net.dropout(net.relu(x), fc + "_dropout");
  }
  return net.finish(net.gemm(net.flatten(x, "fc8_flatten"), "fc8", 1000));
}

} // namespace benanza::generator::zoo
