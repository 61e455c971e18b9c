// SPDX-License-Identifier: Apache-2.0
// What is a model of the zoo made of in protobuf? Nodes, attributes, constants, and weights without
// payload: ConstantOfShape fed by a shape, one initializer for all weights of equal shape. Opset
// 12, IR 7.
#include "builder.hpp"

#include <utility>

namespace benanza::generator::zoo {
namespace {

::onnx::AttributeProto& fresh(::onnx::NodeProto& node, const std::string& name,
                              ::onnx::AttributeProto::AttributeType type) {
  ::onnx::AttributeProto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(type);
  return a;
}

void describe(::onnx::ValueInfoProto& info, const std::string& name, const builder::dims& shape) {
  info.set_name(name);
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(::onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_param("N");
  for (const std::int64_t d : shape)
    type.mutable_shape()->add_dim()->set_dim_value(d);
}

} // namespace

void attribute(::onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  fresh(node, name, ::onnx::AttributeProto::INT).set_i(value);
}

void attribute(::onnx::NodeProto& node, const std::string& name, float value) {
  fresh(node, name, ::onnx::AttributeProto::FLOAT).set_f(value);
}

void attribute(::onnx::NodeProto& node, const std::string& name, const std::string& value) {
  fresh(node, name, ::onnx::AttributeProto::STRING).set_s(value);
}

void attribute(::onnx::NodeProto& node, const std::string& name, const builder::dims& values) {
  ::onnx::AttributeProto& a = fresh(node, name, ::onnx::AttributeProto::INTS);
  for (const std::int64_t v : values)
    a.add_ints(v);
}

builder::builder(std::string_view name)
    : graph_(*model_.mutable_graph()) {
  model_.set_ir_version(7);
  model_.set_producer_name("benanza");
  model_.set_doc_string("Topology only: every weight is a constant placeholder.");
  model_.add_opset_import()->set_version(12);
  graph_.set_name(std::string(name));
}

tensor builder::input(const std::string& name, std::int64_t channels, std::int64_t side) {
  describe(*graph_.add_input(), name, {channels, side, side});
  return {name, channels, side};
}

::onnx::NodeProto& builder::node(const std::string& op, std::initializer_list<std::string> inputs,
                                 const std::string& name) {
  ::onnx::NodeProto& n = *graph_.add_node();
  n.set_op_type(op);
  n.set_name(name);
  for (const std::string& i : inputs)
    n.add_input(i);
  n.add_output(name);
  return n;
}

std::string builder::integers(const std::string& name, const dims& values) {
  if (!initializers_.insert(name).second) return name;
  ::onnx::TensorProto& t = *graph_.add_initializer();
  t.set_name(name);
  t.set_data_type(::onnx::TensorProto::INT64);
  t.add_dims(static_cast<std::int64_t>(values.size()));
  for (const std::int64_t v : values)
    t.add_int64_data(v);
  return name;
}

std::string builder::constant(const std::string& name, const dims& shape,
                              std::span<const float> values) {
  if (!initializers_.insert(name).second) return name;
  ::onnx::TensorProto& t = *graph_.add_initializer();
  t.set_name(name);
  t.set_data_type(::onnx::TensorProto::FLOAT);
  for (const std::int64_t d : shape)
    t.add_dims(d);
  for (const float v : values)
    t.add_float_data(v);
  return name;
}

std::string builder::weight(const std::string& name, const dims& shape, float value) {
  std::string of = "shape";
  for (const std::int64_t d : shape)
    of += (of == "shape" ? "_" : "x") + std::to_string(d);
  ::onnx::NodeProto& n = node("ConstantOfShape", {integers(of, shape)}, name);
  ::onnx::TensorProto& t = *fresh(n, "value", ::onnx::AttributeProto::TENSOR).mutable_t();
  t.set_data_type(::onnx::TensorProto::FLOAT);
  t.add_dims(1);
  t.add_float_data(value);
  return name;
}

std::string builder::reshape(const std::string& x, const std::string& name, const dims& target) {
  node("Reshape", {x, integers(name + "_target", target)}, name);
  return name;
}

::onnx::ModelProto builder::finish(const tensor& output) {
  if (output.side == 0) return finish(output.name, dims{output.channels});
  return finish(output.name, dims{output.channels, output.side, output.side});
}

::onnx::ModelProto builder::finish(const std::string& output, const dims& shape) {
  describe(*graph_.add_output(), output, shape);
  return std::move(model_);
}

} // namespace benanza::generator::zoo
