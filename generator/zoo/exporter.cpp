// SPDX-License-Identifier: Apache-2.0
// What is an exported model made of in protobuf? IR version and opset as PyTorch's exporters pair
// them, initializers with external data, nodes named after their operator and a number.
#include "exporter.hpp"

#include <fmt/format.h>

#include <utility>

namespace benanza::generator::zoo {
namespace {

using TensorProto = ::onnx::TensorProto;

void describe(::onnx::ValueInfoProto& info, const std::string& name, const dim_list& shape,
              TensorProto::DataType element) {
  info.set_name(name);
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(element);
  auto& to = *type.mutable_shape();
  for (const dim& d : shape) {
    if (const auto* n = std::get_if<std::int64_t>(&d))
      to.add_dim()->set_dim_value(*n);
    else
      to.add_dim()->set_dim_param(std::get<std::string>(d));
  }
}

struct set_attribute {
  ::onnx::AttributeProto& a;
  void operator()(nothing) const {}
  void operator()(std::int64_t v) const {
    a.set_type(::onnx::AttributeProto::INT);
    a.set_i(v);
  }
  void operator()(float v) const {
    a.set_type(::onnx::AttributeProto::FLOAT);
    a.set_f(v);
  }
  void operator()(const std::string& v) const {
    a.set_type(::onnx::AttributeProto::STRING);
    a.set_s(v);
  }
  void operator()(const dims& v) const {
    a.set_type(::onnx::AttributeProto::INTS);
    for (const std::int64_t n : v)
      a.add_ints(n);
  }
};

std::int64_t ir_version(int opset) {
  return opset < 15 ? 7 : opset < 19 ? 8 : opset < 21 ? 9 : 10;
}

std::int64_t bytes_each(TensorProto::DataType element) {
  switch (element) {
  case TensorProto::INT64: return 8;
  case TensorProto::INT8:
  case TensorProto::UINT8:
  case TensorProto::BOOL: return 1;
  default: return 4;
  }
}

std::string joined(const dims& numbers) {
  std::string out;
  for (const std::int64_t n : numbers)
    out += (out.empty() ? "" : "_") + std::to_string(n);
  return out;
}

} // namespace

exporter::exporter(std::string_view name, int opset)
    : opset_(opset)
    , graph_(*model_.mutable_graph()) {
  model_.set_ir_version(ir_version(opset));
  model_.set_producer_name("benanza");
  model_.set_doc_string("Topology only: weights are external data that is not there.");
  model_.add_opset_import()->set_version(opset);
  graph_.set_name(std::string(name));
}

value exporter::input(const std::string& name, const dim_list& shape, type element) {
  describe(*graph_.add_input(), name, shape, element);
  return name;
}

void exporter::output(const value& v, const std::string& name, const dim_list& shape,
                      type element) {
  ::onnx::NodeProto* from = nullptr;
  for (auto& n : *graph_.mutable_node())
    for (std::string& o : *n.mutable_output())
      if (o == v) {
        o = name;
        from = &n;
      }
  if (from != nullptr)
    for (auto& n : *graph_.mutable_node())
      for (std::string& i : *n.mutable_input())
        if (i == v) i = name;
  describe(*graph_.add_output(), name, shape, element);
}

value exporter::node(const std::string& op, const std::vector<value>& inputs,
                     const std::vector<attr>& attributes) {
  return nodes(op, inputs, 1, attributes).front();
}

std::vector<value> exporter::nodes(const std::string& op, const std::vector<value>& inputs,
                                   int results, const std::vector<attr>& attributes) {
  ::onnx::NodeProto& n = *graph_.add_node();
  const std::size_t domain = op.find("::");
  const std::string kind = domain == std::string::npos ? op : op.substr(domain + 2);
  if (domain != std::string::npos) {
    n.set_domain(op.substr(0, domain));
    if (domains_.insert(n.domain()).second) {
      auto& import = *model_.add_opset_import();
      import.set_domain(n.domain());
      import.set_version(1);
    }
  }
  n.set_op_type(kind);
  n.set_name(fmt::format("/{}_{}", kind, nodes_++));
  std::size_t given = inputs.size();
  while (given > 0 && inputs[given - 1].empty()) // left out at the end
    --given;
  for (std::size_t i = 0; i < given; ++i)
    n.add_input(inputs[i]);
  std::vector<value> out;
  for (int i = 0; i < results; ++i) {
    out.push_back(fmt::format("{}_output_{}", n.name(), i));
    n.add_output(out.back());
  }
  for (const attr& a : attributes) {
    ::onnx::AttributeProto& to = *n.add_attribute();
    to.set_name(a.name);
    std::visit(set_attribute{to}, a.is);
  }
  return out;
}

TensorProto* exporter::fresh(const std::string& name, const dims& shape, type element) {
  if (!initializers_.insert(name).second) return nullptr;
  TensorProto& t = *graph_.add_initializer();
  t.set_name(name);
  t.set_data_type(element);
  for (const std::int64_t d : shape)
    t.add_dims(d);
  return &t;
}

value exporter::weight(const std::string& name, const dims& shape, type element) {
  TensorProto* t = fresh(name, shape, element);
  if (t == nullptr) return name;
  std::int64_t bytes = bytes_each(element);
  for (const std::int64_t d : shape)
    bytes *= d;
  t->set_data_location(TensorProto::EXTERNAL);
  const auto say = [&](const std::string& key, const std::string& what) {
    auto& e = *t->add_external_data();
    e.set_key(key);
    e.set_value(what);
  };
  say("location", graph_.name() + ".onnx.data");
  say("offset", std::to_string(bytes_of_weights_));
  say("length", std::to_string(bytes));
  bytes_of_weights_ += bytes;
  return name;
}

value exporter::table(const std::string& name, const dims& shape,
                      std::span<const std::int64_t> numbers, type element) {
  if (TensorProto* t = fresh(name, shape, element))
    for (const std::int64_t n : numbers) {
      if (element == TensorProto::INT64)
        t->add_int64_data(n);
      else // bytes are kept as these
        t->add_int32_data(static_cast<std::int32_t>(n));
    }
  return name;
}

value exporter::list(const dims& numbers) {
  return table("list_" + joined(numbers), {std::ssize(numbers)}, numbers);
}

value exporter::index(std::int64_t number) {
  return table("index_" + std::to_string(number), {}, dims{number});
}

value exporter::number(float x) {
  const std::string name = fmt::format("number_{}", x);
  if (TensorProto* t = fresh(name, {}, TensorProto::FLOAT)) t->add_float_data(x);
  return name;
}

value exporter::scales(const std::vector<float>& numbers) {
  const std::string name = fmt::format("scales_{}", fmt::join(numbers, "_"));
  if (TensorProto* t = fresh(name, {std::ssize(numbers)}, TensorProto::FLOAT))
    for (const float n : numbers)
      t->add_float_data(n);
  return name;
}

value exporter::size(const value& x, std::int64_t axis) {
  if (opset_ >= 15) return node("Shape", {x}, {{"start", axis}, {"end", axis + 1}});
  const value one = node("Gather", {node("Shape", {x}), index(axis)}, {{"axis", 0}});
  return unsqueeze(one, 0);
}

value exporter::sizes(const dim_list& parts) {
  std::vector<value> lists;
  dims numbers;
  const auto close = [&] {
    if (!numbers.empty()) lists.push_back(list(numbers));
    numbers.clear();
  };
  for (const dim& d : parts) {
    if (const auto* n = std::get_if<std::int64_t>(&d)) {
      numbers.push_back(*n);
    } else {
      close();
      lists.push_back(std::get<std::string>(d));
    }
  }
  close();
  return lists.size() == 1 ? lists.front() : concat(lists, 0);
}

value exporter::reshape(const value& x, const dim_list& shape) {
  return node("Reshape", {x, sizes(shape)});
}

value exporter::transpose(const value& x, const dims& order) {
  return node("Transpose", {x}, {{"perm", order}});
}

value exporter::mean(const value& x, const dims& axes, bool keep) {
  const std::int64_t keepdims = keep ? 1 : 0;
  if (opset_ >= 18) return node("ReduceMean", {x, list(axes)}, {{"keepdims", keepdims}});
  return node("ReduceMean", {x}, {{"axes", axes}, {"keepdims", keepdims}});
}

value exporter::unsqueeze(const value& x, std::int64_t axis) {
  return node("Unsqueeze", {x, list({axis})});
}

value exporter::slice(const value& x, std::int64_t axis, std::int64_t from, std::int64_t to,
                      std::int64_t step) {
  return node("Slice", {x, list({from}), list({to}), list({axis}), list({step})});
}

std::vector<value> exporter::split(const value& x, std::int64_t axis, const dims& parts) {
  return nodes("Split", {x, list(parts)}, static_cast<int>(parts.size()), {{"axis", axis}});
}

value exporter::concat(const std::vector<value>& xs, std::int64_t axis) {
  return node("Concat", xs, {{"axis", axis}});
}

value exporter::cast(const value& x, type element) {
  return node("Cast", {x}, {{"to", static_cast<std::int64_t>(element)}});
}

} // namespace benanza::generator::zoo
