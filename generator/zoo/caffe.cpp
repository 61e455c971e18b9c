// SPDX-License-Identifier: Apache-2.0
// What are the five-convolution networks of the ONNX model zoo? Caffe's models as Caffe2 exports
// them: 224x224 inputs (not 227), pooling that rounds up as one more pad at the lower right,
// Reshape before the first fully connected layer.
#include "builder.hpp"
#include "families.hpp"

namespace benanza::generator::zoo {
namespace {

constexpr window pool3{.kernel = 3, .stride = 2};
constexpr window pool3_up{.kernel = 3, .stride = 2, .pad_more = 1};

/// AlexNet normalizes before it pools; CaffeNet and its descendants pool first.
tensor alexnet_features(builder& net, bool pool_first) {
  const auto shrink = [&](const tensor& x, const std::string& at, const window& w) {
    const auto norm = [&](const tensor& t) { return net.lrn(t, "norm" + at, 1e-4F, 1.0F); };
    const auto pool = [&](const tensor& t) { return net.max_pool(t, "pool" + at, w); };
    return pool_first ? norm(pool(x)) : pool(norm(x));
  };
  tensor x = net.input("data", 3, 224);
  x = net.relu(net.conv(x, "conv1", 96, {.kernel = 11, .stride = 4}));
  x = shrink(x, "1", pool_first ? pool3_up : pool3);
  x = net.relu(net.conv(x, "conv2", 256, {.kernel = 5, .pad = 2, .groups = 2}));
  x = shrink(x, "2", pool3);
  x = net.relu(net.conv(x, "conv3", 384, {.kernel = 3, .pad = 1}));
  x = net.relu(net.conv(x, "conv4", 384, {.kernel = 3, .pad = 1, .groups = 2}));
  x = net.relu(net.conv(x, "conv5", 256, {.kernel = 3, .pad = 1, .groups = 2}));
  x = net.max_pool(x, "pool5", pool_first ? pool3 : pool3_up);
  x = net.reshape_flat(x, "pool5_flat");
  x = net.dropout(net.relu(net.gemm(x, "fc6", 4096)), "fc6_dropout");
  return net.dropout(net.relu(net.gemm(x, "fc7", 4096)), "fc7_dropout");
}

::onnx::ModelProto alexnet_classifier(std::string_view name, bool pool_first) {
  builder net(name);
  const tensor x = alexnet_features(net, pool_first);
  return net.finish(net.softmax(net.gemm(x, "fc8", 1000), "prob"));
}

} // namespace

::onnx::ModelProto alexnet() {
  return alexnet_classifier("bvlc-alexnet", false);
}

::onnx::ModelProto caffenet() {
  return alexnet_classifier("bvlc-caffenet", true);
}

::onnx::ModelProto rcnn() {
  builder net("bvlc-rcnn-ilsvrc13");
  const tensor x = alexnet_features(net, true);
  return net.finish(net.gemm(x, "fc_rcnn", 200));
}

::onnx::ModelProto zfnet() {
  builder net("zfnet512");
  tensor x = net.input("data", 3, 224);
  x = net.relu(net.conv(x, "conv1", 96, {.kernel = 7, .stride = 2}));
  x = net.max_pool(net.lrn(x, "norm1", 5e-4F, 2.0F), "pool1", pool3);
  x = net.relu(net.conv(x, "conv2", 256, {.kernel = 5, .stride = 2}));
  x = net.max_pool(net.lrn(x, "norm2", 5e-4F, 2.0F), "pool2", pool3);
  for (const std::string conv : {"conv3", "conv4", "conv5"})
    x = net.relu(net.conv(x, conv, 512, {.kernel = 3, .pad = 1}));
  x = net.reshape_flat(net.max_pool(x, "pool5", {.kernel = 2, .stride = 2}), "pool5_flat");
  x = net.relu(net.gemm(x, "fc6", 4096));
  x = net.relu(net.gemm(x, "fc7", 1024));
  return net.finish(net.softmax(net.gemm(x, "fc8", 1000), "prob"));
}

} // namespace benanza::generator::zoo
