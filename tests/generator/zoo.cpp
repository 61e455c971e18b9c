// SPDX-License-Identifier: Apache-2.0
// Are the zoo's models valid, and are they the paper's? Each passes libonnx's checker and strict
// shape inference at two batches; its multiply-accumulates, counted here from the inferred shapes,
// and its nodes are compared with the paper's Table I and with exact figures from the per-layer
// shapes that the paper's authors published.
#include "generator/zoo/zoo.hpp"
#include "generator/zoo/modern.hpp"

#include <benanza/core/error.hpp>

#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

namespace zoo = benanza::generator::zoo;

using dims = std::vector<std::int64_t>;
using shapes = std::map<std::string, dims>;

/// Multiply-accumulates of Conv, Gemm and MatMul at batch 1. Ours for Tiny YOLO counts 13x13
/// pixels.
const std::map<std::string_view, std::int64_t> exact_macs{
    {"arcface", 12'089'606'144},
    {"bvlc-alexnet", 654'560'384},
    {"bvlc-caffenet", 720'608'384},
    {"bvlc-googlenet", 1'582'671'872},
    {"bvlc-rcnn-ilsvrc13", 717'331'584},
    {"densenet-121", 2'834'161'664},
    {"duc", 673'074'204'672},
    {"emotion-ferplus", 875'831'296},
    {"inception-v1", 1'431'556'352},
    {"inception-v2", 2'018'851'840},
    {"lenet", 786'560},
    {"mobilenet-v2", 429'111'936},
    {"resnet18-v1", 1'814'073'344},
    {"resnet18-v2", 1'814'073'344},
    {"resnet34-v1", 3'663'761'408},
    {"resnet34-v2", 3'663'761'408},
    {"resnet50-v1", 3'857'973'248},
    {"resnet50-v2", 4'089'184'256},
    {"resnet101-v1", 7'570'194'432},
    {"resnet101-v2", 7'801'405'440},
    {"resnet152-v1", 11'282'415'616},
    {"resnet152-v2", 11'513'626'624},
    {"shufflenet", 124'664'528},
    {"squeezenet-v1.1", 349'151'936},
    {"tiny-yolo-v2", 3'485'520'896},
    {"vgg16-bn", 15'470'264'320},
    {"vgg16", 15'470'264'320},
    {"vgg19-bn", 19'632'062'464},
    {"vgg19", 19'632'062'464},
    {"zfnet512", 1'481'727'008},
};

dims known(const onnx::TypeProto& type) {
  dims shape;
  for (const auto& d : type.tensor_type().shape().dim())
    shape.push_back(d.has_dim_value() ? d.dim_value() : -1);
  return shape;
}

/// Shapes of all values at a batch, by strict inference; a symbol left over is -1.
shapes infer(::onnx::ModelProto model, std::int64_t batch) {
  onnx::GraphProto& graph = *model.mutable_graph();
  const auto fix = [&](onnx::ValueInfoProto& value) {
    value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(
        batch);
  };
  fix(*graph.mutable_input(0));
  fix(*graph.mutable_output(0));
  const onnx::ShapeInferenceOptions strict{true, 1, false};
  onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), strict);
  shapes all;
  for (const auto& v : graph.value_info())
    all[v.name()] = known(v.type());
  for (const auto& v : graph.input())
    all[v.name()] = known(v.type());
  for (const auto& v : graph.output())
    all[v.name()] = known(v.type());
  return all;
}

std::int64_t count(const dims& shape) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape)
    n *= d;
  return n;
}

std::int64_t macs(const onnx::GraphProto& graph, const shapes& at) {
  std::int64_t total = 0;
  for (const onnx::NodeProto& node : graph.node()) {
    const std::string& op = node.op_type();
    if (op != "Conv" && op != "Gemm" && op != "MatMul") continue;
    const dims& weights = at.at(node.input(1));
    const std::int64_t outputs = op == "MatMul" ? weights.back() : weights.front();
    total += count(at.at(node.output(0))) * (count(weights) / outputs);
  }
  return total;
}

int layers(const onnx::GraphProto& graph) {
  return static_cast<int>(
      std::count_if(graph.node().begin(), graph.node().end(), [](const onnx::NodeProto& node) {
        return node.op_type() != "ConstantOfShape";
      }));
}

} // namespace

TEST_CASE("zoo: the list is the paper's table") {
  REQUIRE(zoo::list().size() == 30);
  std::set<std::string_view> names;
  int layers_of_all = 0;
  for (const zoo::entry& e : zoo::list()) {
    names.insert(e.name);
    layers_of_all += e.paper_layers;
    CHECK(e.year >= 1998);
    CHECK(e.year <= 2018);
    CHECK_FALSE(e.task.empty());
  }
  CHECK(names.size() == 30);
  CHECK(zoo::year_of("lenet") == 1998);
  CHECK(zoo::year_of("resnet50-v1") == 2015);
  CHECK(zoo::year_of("resnet50-v2") == 2016);
  CHECK(zoo::year_of("resnet50-qdq") == 2015);
  CHECK(zoo::year_of("mine") == 0);
  // The paper's text says 5,754: its tool counts the eight Dropouts with a mask output twice.
  CHECK(layers_of_all == 5754 - 8);
}

TEST_CASE("zoo: each model is valid and has the paper's layers and multiply-accumulates") {
  for (const zoo::entry& e : zoo::list()) {
    CAPTURE(e.name);
    const ::onnx::ModelProto model = zoo::build(e.name);
    REQUIRE_NOTHROW(onnx::checker::check_model(model));
    CHECK(model.ByteSizeLong() < 300'000);
    CHECK(layers(model.graph()) == e.paper_layers);

    const shapes one = infer(model, 1);
    const shapes eight = infer(model, 8);
    const std::int64_t ours = macs(model.graph(), one);
    CHECK(ours == exact_macs.at(e.name));
    CHECK(macs(model.graph(), eight) == 8 * ours);
    const double off = std::abs(static_cast<double>(ours) / e.paper_macs - 1);
    CHECK_MESSAGE((off < 0.01 || !e.note.empty()), "off by ", off);
  }
}

TEST_CASE("zoo: every value has a shape, names are unique, the batch is a symbol") {
  for (const zoo::entry& e : zoo::list()) {
    CAPTURE(e.name);
    const ::onnx::ModelProto model = zoo::build(e.name);
    const auto& first = model.graph().input(0).type().tensor_type().shape().dim(0);
    CHECK(first.dim_param() == "N");
    const shapes eight = infer(model, 8);
    std::set<std::string> names;
    for (const onnx::NodeProto& node : model.graph().node()) {
      CHECK(names.insert(node.name()).second);
      const auto shape = eight.find(node.output(0));
      REQUIRE(shape != eight.end());
      CHECK(std::count(shape->second.begin(), shape->second.end(), -1) == 0);
      if (node.op_type() == "Conv") CHECK(shape->second.front() == 8);
    }
  }
}

TEST_CASE("zoo: newer models are as exporters write them, without weights") {
  std::set<std::string_view> names;
  for (const zoo::entry& e : zoo::list())
    names.insert(e.name);
  for (const zoo::modern_entry& e : zoo::modern()) {
    CAPTURE(e.name);
    CHECK(names.insert(e.name).second);
    CHECK(!e.source.empty());
    CHECK(e.year() >= 2014);
    CHECK(e.year() <= 2024);
    const ::onnx::ModelProto model = zoo::build(e.name);
    CHECK(model.ByteSizeLong() < 300'000);
    bool batch = false;
    for (const auto& input : model.graph().input())
      for (const auto& d : input.type().tensor_type().shape().dim())
        batch = batch || d.dim_param() == "batch";
    CHECK(batch);
    // Each name is given once, and used where it is there: producers come first.
    std::set<std::string> values;
    for (const auto& input : model.graph().input())
      CHECK(values.insert(input.name()).second);
    for (const auto& t : model.graph().initializer()) {
      CHECK(values.insert(t.name()).second);
      const bool stored = t.data_location() != ::onnx::TensorProto::EXTERNAL;
      CHECK(stored == t.external_data().empty());
    }
    for (const onnx::NodeProto& node : model.graph().node()) {
      for (const std::string& i : node.input())
        CHECK((i.empty() || values.contains(i)));
      for (const std::string& o : node.output())
        CHECK(values.insert(o).second);
    }
    for (const auto& output : model.graph().output())
      CHECK(values.contains(output.name()));
  }
}

TEST_CASE("zoo: an unknown name is refused") {
  CHECK_THROWS_AS(zoo::build("resnet51"), benanza::error);
  CHECK_THROWS_WITH(zoo::build(""), "no model of that name in the zoo; zoo --list shows the names");
}
