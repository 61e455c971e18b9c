// SPDX-License-Identifier: Apache-2.0
// Are unsorted graphs sorted, and ambiguous or impossible ones refused with the nodes' names?
#include "text_model.hpp"

#include <algorithm>
#include <map>
#include <random>

using namespace benanza::test;
namespace bonnx = benanza::onnx;
namespace model = benanza::model;

namespace {
std::string order_refusal(std::string_view nodes, std::string_view tensors = {}) {
  return refusal([&] { bonnx::from(text_model(13, "float[1,8] x", nodes, tensors)); });
}

std::vector<std::string> names(const model::graph& g) {
  std::vector<std::string> out;
  for (const auto& n : g.nodes)
    out.push_back(n.name);
  return out;
}

/// Each node's layer and the names of those that it reads.
auto connections(const model::graph& g) {
  std::map<std::string, std::pair<std::string, std::vector<std::string>>> out;
  for (const auto& n : g.nodes) {
    std::vector<std::string> from;
    for (int i : n.inputs)
      from.push_back(g.nodes.at(static_cast<std::size_t>(i)).name);
    std::sort(from.begin(), from.end());
    CHECK(out.emplace(n.name, std::pair(layer_name(g, n), from)).second);
  }
  return out;
}
} // namespace

TEST_CASE("a sorted file keeps its order") {
  const auto g =
      graph_of(text_model(13, "float[1,8] x", "b = Relu(x) a = Sigmoid(x) y = Add(a, b)"));
  CHECK(names(g) == std::vector<std::string>{"b", "a", "y"});
  CHECK(g.nodes[2].inputs == std::vector<int>{0, 1});
}

TEST_CASE("an unsorted file is sorted: producers first, each edge once and ascending") {
  const auto g = graph_of(
      text_model(13, "float[1,8] x", "y = Sum(c, b, b, a) c = Mul(a, b) b = Relu(a) a = Tanh(x)"));
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    const auto& in = g.nodes[i].inputs;
    CHECK(std::is_sorted(in.begin(), in.end()));
    CHECK(std::adjacent_find(in.begin(), in.end()) == in.end());
    for (int from : in)
      CHECK(from < static_cast<int>(i));
  }
  CHECK(g.nodes.back().name == "y");
  CHECK(g.nodes.back().inputs.size() == 3);
}

TEST_CASE("however the nodes are shuffled, the graph is the same") {
  auto m = text_model(13, "float[N,3,16,16] x",
                      "s = Shape(x) n = Gather(s, zero) t = Unsqueeze(n, axes)"
                      "u = Concat<axis = 0>(t, rest) a = Conv<pads = [1,1,1,1]>(x, w)"
                      "b = Relu(a) c = Conv<pads = [1,1,1,1]>(b, v) d = Add(c, a)"
                      "e = MaxPool<kernel_shape = [2,2], strides = [2,2]>(d)"
                      "f = Reshape(e, u) y = Gemm(f, m) dead = Sigmoid(b)",
                      "int64 zero = {0}, int64[1] axes = {0}, int64[1] rest = {-1},"
                      "float[4,3,3,3] w, float[4,4,3,3] v, float[256,10] m");
  const auto expected = graph_of(m, {.batch = 2});
  REQUIRE(model::unresolved(expected).empty());
  std::mt19937 random(3);
  std::vector<std::string> sorted_once;
  for (int i = 0; i < 50; ++i) {
    auto& nodes = *m.mutable_graph()->mutable_node();
    for (int k = nodes.size(); k > 1; --k)
      nodes.SwapElements(k - 1, static_cast<int>(random() % static_cast<unsigned>(k)));
    const auto g = graph_of(m, {.batch = 2});
    CHECK(connections(g) == connections(expected));
    CHECK(g.layers == expected.layers);
    CHECK(g.folded == expected.folded);
    CHECK(g.parameters == expected.parameters);
    if (sorted_once.empty()) sorted_once = names(g);
    CHECK(names(g) == sorted_once);
  }
}

TEST_CASE("what has no order is refused by name") {
  CHECK_SAYS(order_refusal("a = Relu(b) b = Tanh(a) y = Add(x, b)"),
             "the nodes form a cycle: Tanh 'b' reads Relu 'a' reads Tanh 'b'");
  CHECK_SAYS(order_refusal("y = Add(x, y)"), "form a cycle: Add 'y' reads Add 'y'");
  CHECK_SAYS(order_refusal("a = Relu(nobody) y = Relu(a)"),
             "Relu 'a' reads 'nobody', which nothing produces");
  CHECK_SAYS(order_refusal("a = Relu(x) a = Tanh(x) y = Relu(a)"),
             "Relu 'a' and Tanh 'a' both produce 'a'");
  CHECK_SAYS(order_refusal("x = Relu(x) y = Relu(x)"), "is an input or an initializer");
  CHECK_SAYS(order_refusal("w = Relu(x) y = Relu(w)", "float[3] w"),
             "is an input or an initializer");
  CHECK_SAYS(order_refusal("y = Relu(x)", "float[3] w, float[3] w"), "two initializers");
  CHECK_SAYS(order_refusal("a = Relu(f) b = Relu(a) c = Relu(b) d = Relu(c) e = Relu(d)"
                           "f = Relu(e) y = Relu(x)"),
             "reads ...");
}

TEST_CASE("a chain of 100,000 nodes, last one first, needs no deep stack") {
  auto m = text_model(13, "float[1,8] x", "y = Relu(n0)");
  auto& g = *m.mutable_graph();
  constexpr int count = 100000;
  for (int i = 0; i < count; ++i) {
    auto& n = *g.add_node();
    n.set_op_type("Relu");
    n.add_input(i + 1 == count ? "x" : "n" + std::to_string(i + 1));
    n.add_output("n" + std::to_string(i));
  }
  const auto graph = graph_of(std::move(m));
  CHECK(graph.nodes.size() == count + 1);
  CHECK(graph.nodes.back().name == "y");
  CHECK(graph.layers.size() == 1);
}

TEST_CASE("a sum of 100,000 values, their producers behind it, takes no time that is squared") {
  auto m = text_model(13, "float[1,8] x", "y = Sum(x)");
  auto& g = *m.mutable_graph();
  constexpr int count = 100000;
  for (int i = 0; i < count; ++i) {
    const std::string name = "n" + std::to_string(i);
    g.mutable_node(0)->add_input(name);
    auto& n = *g.add_node();
    n.set_op_type("Relu");
    n.add_input("x");
    n.add_output(name);
  }
  const auto graph = graph_of(std::move(m));
  REQUIRE(graph.nodes.size() == count + 1);
  CHECK(graph.nodes.back().inputs.size() == count);
  CHECK(graph.nodes.front().name == "n0");
}

TEST_CASE("names that a subgraph defines itself, and graphs around it, are no edges") {
  auto m = text_model(13, "float[1,8] x, bool c", "a = Relu(x) y = If(c)");
  const auto branch = [](onnx::NodeProto& n, const char* name) -> onnx::GraphProto& {
    auto& a = *n.add_attribute();
    a.set_name(name);
    a.set_type(onnx::AttributeProto::GRAPH);
    return *a.mutable_g();
  };
  const auto node = [](onnx::GraphProto& g, const std::string& from, const std::string& to) {
    auto& n = *g.add_node();
    n.set_op_type("If");
    n.add_input(from);
    n.add_output(to);
    return &n;
  };
  auto& outer = branch(*m.mutable_graph()->mutable_node(1), "then_branch");
  node(outer, "c", "mine");
  // 20,000 of them made this slow when each subgraph was given a copy of all names around it.
  for (int i = 0; i < 20000; ++i) {
    auto& inner = branch(*node(outer, "c", "o" + std::to_string(i)), "then_branch");
    node(inner, i == 0 ? "a" : "mine", "deep");
    node(inner, "deep", "deeper");
  }
  REQUIRE(graph_of(m).nodes.back().op == "If");
  CHECK(graph_of(m).nodes.back().inputs == std::vector<int>{0}); // a; mine, o* and deep are inside
  // What one subgraph defines is not there for its neighbour.
  outer.mutable_node(2)->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_output(0, "own");
  CHECK_SAYS(refusal([&] { bonnx::from(m); }), "'deep', which nothing produces");
}

TEST_CASE("a subgraph's reads of the outer graph are edges") {
  auto m = text_model(13, "float[1,8] x, bool c", "a = Relu(x) b = Tanh(x) y = If(c)");
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto& a = *m.mutable_graph()->mutable_node(2)->add_attribute();
    a.set_name(branch);
    a.set_type(onnx::AttributeProto::GRAPH);
    auto& n = *a.mutable_g()->add_node();
    n.set_op_type("Relu");
    n.add_input(branch[0] == 't' ? "a" : "b");
    n.add_output("inner");
    a.mutable_g()->add_output()->set_name("inner");
  }
  auto& nodes = *m.mutable_graph()->mutable_node();
  nodes.SwapElements(0, 2); // If comes first, and must be moved behind what its branches read
  const auto g = graph_of(m);
  REQUIRE(g.nodes.size() == 3); // of branches that cost the same the first
  REQUIRE(g.nodes.back().inputs.size() == 1);
  CHECK(g.nodes.at(static_cast<std::size_t>(g.nodes.back().inputs[0])).op == "Relu");

  m.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_input(
      0, "lost");
  CHECK_SAYS(refusal([&] { bonnx::from(std::move(m)); }), "'lost', which nothing produces");
}
