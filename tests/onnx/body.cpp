// SPDX-License-Identifier: Apache-2.0
// Functions that a model brings are resolved in place of their calls: nested ones, in opsets of
// their own, with attributes that refer to the caller's. Those that would never end are refused.
#include "text_model.hpp"

using namespace benanza::test;
namespace bonnx = benanza::onnx;
namespace model = benanza::model;

namespace {
/// A model with functions of the domain `f`; each is written `name (inputs) => (outputs) {nodes}`.
onnx::ModelProto with_functions(std::string_view nodes, std::initializer_list<const char*> texts,
                                std::string_view tensors = {}) {
  auto m = text_model(13, "float[1,8] x", nodes, tensors);
  auto& opset = *m.add_opset_import();
  opset.set_domain("f");
  opset.set_version(1);
  for (const std::string text : texts) {
    const std::string head = "<opset_import: [\"\" : 13, \"f\" : 1], domain: \"f\"> ";
    const auto status = onnx::OnnxParser::Parse(*m.add_functions(), (head + text).c_str());
    REQUIRE_MESSAGE(status.IsOK(), status.ErrorMessage());
  }
  return m;
}

std::vector<std::string> layers_of(const model::graph& g) {
  std::vector<std::string> out;
  for (const auto& n : g.nodes)
    out.push_back(layer_name(g, n));
  return out;
}
using names = std::vector<std::string>;
} // namespace

TEST_CASE("a function's nodes take the place of its call") {
  auto m = with_functions("a = f.block(x, w) b = f.block(a, w) y = Relu(b)",
                          {"block (x, w) => (r) { t = MatMul(x, w) r = Tanh(t) }"}, "float[8,8] w");
  m.mutable_graph()->mutable_node(0)->set_name("first");
  const auto g = graph_of(m);
  CHECK(layers_of(g) ==
        names{"MatMul/1x8-8x8-w", "Tanh/1x8", "MatMul/1x8-8x8-w", "Tanh/1x8", "Relu/1x8"});
  CHECK(g.nodes[0].name == "first/t");
  CHECK(g.nodes[2].name == "b/t");
  CHECK(g.nodes[2].inputs == std::vector<int>{1});
  CHECK(g.nodes[4].inputs == std::vector<int>{3});
  CHECK(g.parameters == 64); // the same ones twice
}

TEST_CASE("functions call others, give inputs back, leave results out, and fold") {
  const auto g = graph_of(with_functions(
      "p, , q = f.outer(x) s = f.rows(x) y = Reshape(q, s)",
      {"outer (x) => (same, unused, twice) { unused = Exp(x) same = f.inner(x) twice = Add(same, "
       "x) }",
       "inner (x) => (x) { }",
       "rows (x) => (s) { n = Shape(x) m = Constant<value_ints = [1]>() k = Constant<value_ints = "
       "[-1]>() s = Concat<axis = 0>(k, m) }"}));
  CHECK(layers_of(g) == names{"Exp/1x8", "Add/1x8", "Reshape/1x8-8x1"});
  CHECK(g.nodes[1].inputs.empty());
  CHECK(g.folded == 4);
}

TEST_CASE("attributes refer to the caller's, also through another function") {
  auto m = with_functions("a = f.outer<size = 5>(x) y = f.inner(a)",
                          {"outer <size> (x) => (r) { r = f.inner<width: int = @size>(x) }",
                           "inner <width> (x) => (r) { r = LRN<size: int = @width>(x) }"});
  m.mutable_graph()->mutable_input(0)->CopyFrom(
      text_model(13, "float[1,8,4,4] x", "y = Relu(x)").graph().input(0));
  REQUIRE(layers_of(graph_of(m)) ==
          names{"LRN/1x8x4x4-n5", "? LRN takes three dims or more and a size of 1 to 2^40"});
  // A default, in a field that libonnx 1.12 does not know of.
  onnx::AttributeProto width;
  width.set_name("width");
  width.set_type(onnx::AttributeProto::INT);
  width.set_i(3);
  auto& inner = *m.mutable_functions(1);
  inner.clear_attribute();
  std::string bytes = inner.SerializeAsString();
  const std::string held = width.SerializeAsString();
  bytes += "\x5a";
  bytes += static_cast<char>(held.size());
  bytes += held;
  REQUIRE(inner.ParseFromString(bytes));
  CHECK(layers_of(graph_of(m)) == names{"LRN/1x8x4x4-n5", "LRN/1x8x4x4-n3"});
}

TEST_CASE("an input that a call leaves out is left out inside") {
  const auto g = graph_of(with_functions(
      "y = f.clip(x, , h)", {"clip (x, lo, hi) => (r) { r = Clip(x, lo, hi) }"}, "float h = {6}"));
  REQUIRE(g.nodes.size() == 1);
  CHECK(g.nodes[0].problem.empty());
}

TEST_CASE("functions that call themselves, or do not fit their call, are a problem of the call") {
  const auto problem = [](std::string_view nodes, std::initializer_list<const char*> texts) {
    const auto g = graph_of(with_functions(nodes, texts));
    return g.nodes.at(0).problem;
  };
  CHECK_SAYS(problem("y = f.a(x)", {"a (x) => (r) { r = f.a(x) }"}), "'a' calls itself");
  CHECK_SAYS(problem("y = f.a(x)", {"a (x) => (r) { r = f.b(x) }", "b (x) => (r) { r = f.a(x) }"}),
             "'a' calls itself");
  CHECK_SAYS(problem("y = f.a(x, x)", {"a (x) => (r) { r = Relu(x) }"}), "has 1 inputs");
  CHECK_SAYS(problem("y = f.a(x)", {"a (x) => (r) { r = Relu(z) }"}), "which nothing produces");
  CHECK_SAYS(problem("y = f.a(x)", {"a (x) => (r) { z = Relu(x) }"}),
             "nothing produces its output");
}

TEST_CASE("functions that double at each level end at the budget") {
  auto m = with_functions("y = f.f0(x)", {});
  for (int i = 0; i < 40; ++i) {
    const std::string next = i == 39 ? "Relu" : "f.f" + std::to_string(i + 1);
    const std::string text = "<opset_import: [\"\" : 13, \"f\" : 1], domain: \"f\"> f" +
                             std::to_string(i) + " (x) => (r) { a = " + next + "(x) r = " + next +
                             "(a) }";
    REQUIRE(onnx::OnnxParser::Parse(*m.add_functions(), text.c_str()).IsOK());
  }
  CHECK_SAYS(refusal([&] { graph_of(m); }), "more than 500000 nodes and values");
}
