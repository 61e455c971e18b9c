// SPDX-License-Identifier: Apache-2.0
// How is a model of the zoo written down? One call an ONNX node: each takes the tensors it reads
// and the node's name, which is also the name of its output, and returns that output with its
// channels and its side (all images are square; a matrix [N, channels] has side 0).
//
//   builder net("toy");
//   tensor x = net.conv(net.input("data", 3, 224), "conv1", 64, {.kernel = 7, .stride = 2, .pad =
//   3}); ::onnx::ModelProto model = net.finish(net.relu(x));
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::generator::zoo {

/// A node's output: float, [N, channels, side, side], or [N, channels] where side is 0.
struct tensor {
  std::string name;
  std::int64_t channels = 0;
  std::int64_t side = 0;
};

/// A square window of a convolution or a pooling; `pad_more` is padding at the lower right on top
/// of `pad`.
struct window {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t pad = 0;
  std::int64_t pad_more = 0;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  bool same = false; ///< auto_pad SAME_UPPER in place of pads

  std::int64_t output(std::int64_t side) const;
};

/// Builds one model, node by node.
class builder {
public:
  using dims = std::vector<std::int64_t>;

  explicit builder(std::string_view name);
  builder(const builder&) = delete;
  builder& operator=(const builder&) = delete;

  tensor input(const std::string& name, std::int64_t channels, std::int64_t side);

  tensor conv(const tensor& x, const std::string& name, std::int64_t channels, const window& w);
  tensor max_pool(const tensor& x, const std::string& name, const window& w);
  tensor average_pool(const tensor& x, const std::string& name, const window& w);
  tensor global_average_pool(const tensor& x, const std::string& name);
  tensor batch_norm(const tensor& x, const std::string& name, float epsilon = 1e-5F);
  /// Caffe's pair of BatchNorm and Scale as Caffe2 exports it: the learnt scale and shift follow
  /// the BatchNormalization as Mul and Add, each of a weight that an Unsqueeze makes [channels, 1,
  /// 1].
  tensor batch_norm_and_scale(const tensor& x, const std::string& name);
  tensor lrn(const tensor& x, const std::string& name, float alpha, float bias);
  /// Gemm with a transposed weight and a bias, as fully connected layers are exported.
  tensor gemm(const tensor& x, const std::string& name, std::int64_t channels);

  tensor relu(const tensor& x);
  tensor relu(const tensor& x, const std::string& name);
  tensor leaky_relu(const tensor& x, const std::string& name, float alpha);
  tensor softmax(const tensor& x, const std::string& name);
  tensor dropout(const tensor& x, const std::string& name, float ratio = 0.5F);
  tensor add(const tensor& a, const tensor& b, const std::string& name);
  tensor sum(std::span<const tensor> xs, const std::string& name);
  tensor concat(std::span<const tensor> xs, const std::string& name);

  /// [N, channels, side, side] to [N, features], by Flatten or by Reshape to [0, -1].
  tensor flatten(const tensor& x, const std::string& name);
  tensor reshape_flat(const tensor& x, const std::string& name);
  /// Reshape to `target` of a tensor that is not [N, ...] afterwards, or not of this rank.
  std::string reshape(const std::string& x, const std::string& name, const dims& target);

  /// `op` of `x` and a second operand that broadcasts, a weight or a constant.
  tensor with(const std::string& op, const tensor& x, const std::string& operand,
              const std::string& name);
  /// Any operator; the caller adds attributes.
  ::onnx::NodeProto& node(const std::string& op, std::initializer_list<std::string> inputs,
                          const std::string& name);

  /// A weight without payload: ConstantOfShape of `value`.
  std::string weight(const std::string& name, const dims& shape, float value);
  /// A small constant with its real values.
  std::string constant(const std::string& name, const dims& shape, std::span<const float> values);

  ::onnx::ModelProto finish(const tensor& output);
  /// The same for an output [N, shape...] of any rank.
  ::onnx::ModelProto finish(const std::string& output, const dims& shape);

private:
  tensor pool(const std::string& op, const tensor& x, const std::string& name, const window& w);
  std::string integers(const std::string& name, const dims& values);

  ::onnx::ModelProto model_;
  ::onnx::GraphProto& graph_;
  std::set<std::string> initializers_;
};

/// Adds an attribute to a node.
void attribute(::onnx::NodeProto& node, const std::string& name, std::int64_t value);
void attribute(::onnx::NodeProto& node, const std::string& name, float value);
void attribute(::onnx::NodeProto& node, const std::string& name, const std::string& value);
void attribute(::onnx::NodeProto& node, const std::string& name, const builder::dims& values);

} // namespace benanza::generator::zoo
