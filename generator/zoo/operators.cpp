// SPDX-License-Identifier: Apache-2.0
// Which operators does the zoo use, and with which weights? Those of ai.onnx opset 12. A weight is
// constant and scaled by its fan-in and a variance is 1, so that values stay finite through the
// deepest model.
#include "builder.hpp"

namespace benanza::generator::zoo {
namespace {

constexpr float bias_value = 0.01F;
constexpr float norm_scale = 0.5F;

float fan_in(std::int64_t inputs) {
  return 1.0F / static_cast<float>(inputs);
}

void place(::onnx::NodeProto& node, const window& w) {
  attribute(node, "kernel_shape", builder::dims{w.kernel, w.kernel});
  attribute(node, "strides", builder::dims{w.stride, w.stride});
  const std::int64_t end = w.pad + w.pad_more;
  if (w.same)
    attribute(node, "auto_pad", std::string("SAME_UPPER"));
  else
    attribute(node, "pads", builder::dims{w.pad, w.pad, end, end});
}

} // namespace

std::int64_t window::output(std::int64_t side) const {
  if (same) return (side + stride - 1) / stride;
  return (side + 2 * pad + pad_more - dilation * (kernel - 1) - 1) / stride + 1;
}

tensor builder::conv(const tensor& x, const std::string& name, std::int64_t channels,
                     const window& w) {
  const std::int64_t reads = x.channels / w.groups;
  const std::string weights = weight(name + "_weight", {channels, reads, w.kernel, w.kernel},
                                     fan_in(reads * w.kernel * w.kernel));
  std::string bias;
  if (w.bias) bias = weight(name + "_bias", {channels}, bias_value);
  ::onnx::NodeProto& n = node("Conv", {x.name, weights}, name);
  if (w.bias) n.add_input(bias);
  place(n, w);
  if (w.dilation != 1) attribute(n, "dilations", dims{w.dilation, w.dilation});
  if (w.groups != 1) attribute(n, "group", w.groups);
  return {name, channels, w.output(x.side)};
}

tensor builder::pool(const std::string& op, const tensor& x, const std::string& name,
                     const window& w) {
  place(node(op, {x.name}, name), w);
  return {name, x.channels, w.output(x.side)};
}

tensor builder::max_pool(const tensor& x, const std::string& name, const window& w) {
  return pool("MaxPool", x, name, w);
}

tensor builder::average_pool(const tensor& x, const std::string& name, const window& w) {
  return pool("AveragePool", x, name, w);
}

tensor builder::global_average_pool(const tensor& x, const std::string& name) {
  node("GlobalAveragePool", {x.name}, name);
  return {name, x.channels, 1};
}

tensor builder::batch_norm(const tensor& x, const std::string& name, float epsilon) {
  const dims shape{x.channels};
  const std::string scale = weight(name + "_scale", shape, norm_scale);
  const std::string bias = weight(name + "_bias", shape, bias_value);
  const std::string mean = weight(name + "_mean", shape, 0.0F);
  const std::string variance = weight(name + "_var", shape, 1.0F);
  attribute(node("BatchNormalization", {x.name, scale, bias, mean, variance}, name), "epsilon",
            epsilon);
  return {name, x.channels, x.side};
}

tensor builder::batch_norm_and_scale(const tensor& x, const std::string& name) {
  const auto column = [&](const std::string& what, float value) {
    const std::string flat = weight(what + "_flat", {x.channels}, value);
    attribute(node("Unsqueeze", {flat}, what), "axes", dims{1, 2});
    return what;
  };
  const tensor normed = batch_norm(x, name);
  const tensor scaled = with("Mul", normed, column(name + "_gamma", norm_scale), name + "_mul");
  return with("Add", scaled, column(name + "_beta", bias_value), name + "_add");
}

tensor builder::lrn(const tensor& x, const std::string& name, float alpha, float bias) {
  ::onnx::NodeProto& n = node("LRN", {x.name}, name);
  attribute(n, "size", std::int64_t{5});
  attribute(n, "alpha", alpha);
  attribute(n, "beta", 0.75F);
  attribute(n, "bias", bias);
  return {name, x.channels, x.side};
}

tensor builder::gemm(const tensor& x, const std::string& name, std::int64_t channels) {
  const std::string weights = weight(name + "_weight", {channels, x.channels}, fan_in(x.channels));
  const std::string bias = weight(name + "_bias", {channels}, bias_value);
  attribute(node("Gemm", {x.name, weights, bias}, name), "transB", std::int64_t{1});
  return {name, channels, 0};
}

tensor builder::relu(const tensor& x) {
  return relu(x, x.name + "_relu");
}

tensor builder::relu(const tensor& x, const std::string& name) {
  node("Relu", {x.name}, name);
  return {name, x.channels, x.side};
}

tensor builder::leaky_relu(const tensor& x, const std::string& name, float alpha) {
  attribute(node("LeakyRelu", {x.name}, name), "alpha", alpha);
  return {name, x.channels, x.side};
}

tensor builder::softmax(const tensor& x, const std::string& name) {
  attribute(node("Softmax", {x.name}, name), "axis", std::int64_t{1});
  return {name, x.channels, x.side};
}

tensor builder::dropout(const tensor& x, const std::string& name, float ratio) {
  node("Dropout", {x.name, constant(name + "_ratio", {}, {&ratio, 1})}, name);
  return {name, x.channels, x.side};
}

tensor builder::with(const std::string& op, const tensor& x, const std::string& operand,
                     const std::string& name) {
  node(op, {x.name, operand}, name);
  return {name, x.channels, x.side};
}

tensor builder::add(const tensor& a, const tensor& b, const std::string& name) {
  return with("Add", a, b.name, name);
}

tensor builder::sum(std::span<const tensor> xs, const std::string& name) {
  ::onnx::NodeProto& n = node("Sum", {}, name);
  for (const tensor& x : xs)
    n.add_input(x.name);
  return {name, xs.front().channels, xs.front().side};
}

tensor builder::concat(std::span<const tensor> xs, const std::string& name) {
  ::onnx::NodeProto& n = node("Concat", {}, name);
  attribute(n, "axis", std::int64_t{1});
  tensor y{name, 0, xs.front().side};
  for (const tensor& x : xs) {
    n.add_input(x.name);
    y.channels += x.channels;
  }
  return y;
}

tensor builder::flatten(const tensor& x, const std::string& name) {
  attribute(node("Flatten", {x.name}, name), "axis", std::int64_t{1});
  return {name, x.side == 0 ? x.channels : x.channels * x.side * x.side, 0};
}

tensor builder::reshape_flat(const tensor& x, const std::string& name) {
  return {reshape(x.name, name, {0, -1}), x.channels * x.side * x.side, 0};
}

} // namespace benanza::generator::zoo
