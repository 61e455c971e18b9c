// SPDX-License-Identifier: Apache-2.0
// Files made to break a reader: each ends in one clear refusal, or in a node with a problem.
#include "text_model.hpp"

#include <cstdint>
#include <limits>
#include <random>
#include <string>

using namespace benanza::test;
namespace bonnx = benanza::onnx;
namespace model = benanza::model;

namespace {
/// Resolves; what comes out must be whole: a problem exactly where there is no layer.
void survive(const onnx::ModelProto& m) {
  model::graph g;
  try {
    g = graph_of(m);
  } catch (const benanza::error& e) {
    CHECK_FALSE(std::string(e.what()).empty());
    return;
  }
  for (const auto& n : g.nodes) {
    CHECK((n.layer == model::no_layer) == !n.problem.empty());
    for (int i : n.inputs)
      CHECK((i >= 0 && i < static_cast<int>(&n - g.nodes.data())));
  }
  for (const auto& l : g.layers)
    CHECK(benanza::op::parse(benanza::op::name(l)) == l);
}

std::string problem(std::string_view inputs, std::string_view nodes, std::string_view tensors = {},
                    int opset = 13) {
  return last_layer(opset, inputs, nodes, tensors);
}
} // namespace

TEST_CASE("operators that libonnx crashes on are refused before it sees them") {
  CHECK_SAYS(problem("uint8[1,3] x", "y = ConvInteger(x, w)", "uint8[4,3] w"),
             "one to three spatial dims");
  CHECK_SAYS(problem("uint8[1,3,8] x", "y = ConvInteger(x, w)", "uint8[4,3] w"),
             "weights 4x3 do not fit");
  CHECK_SAYS(problem("uint8[1,3,8] x", "y = ConvInteger<strides = [0]>(x, w)", "uint8[4,3,3] w"),
             "too small");
  CHECK_SAYS(problem("float[1,3,8] x", "y = LpPool<kernel_shape = [2,2]>(x)"), "do not match");
  CHECK_SAYS(problem("float[1,3,8] x", "y = LpPool(x)"), "kernel_shape is missing");
  CHECK_SAYS(problem("float[1,3,8] x", "y = LpPool<kernel_shape = [2], pads = [1]>(x)"),
             "do not match");
  CHECK_SAYS(problem("float[1,3] x", "y = GlobalLpPool(x)"), "one to three spatial dims");
  CHECK_SAYS(problem("float[1,3] x", "y = TopK(x)"), "which its operator does not");
  CHECK_SAYS(problem("float[1,3] x", "y = Det<axis = 4611686018427387904>(x)"), "square matrices");
  CHECK_SAYS(problem("float[2,3] x", "y = EyeLike<k = 1>(x, x)"), "which its operator does not");
}

TEST_CASE("sizes that overflow are refused") {
  CHECK_SAYS(refusal([] { problem("float[N,1099511627776,1099511627776] x", "y = Relu(x)"); }),
             "the input 'x' is too large: a size passes 2^56");
  CHECK_SAYS(
      problem("float[N,1] x", "y = Expand(x, s)", "int64[2] s = {1099511627776, 1099511627776}"),
      "2^56");
  CHECK_SAYS(problem("float[N,1] x", "y = Expand(x, s)", "int64[1] s = {4611686018427387904}"),
             "2^40");
  CHECK_SAYS(problem("float[1,1] x", "y = Pad(x, p)", "int64[4] p = {0,4611686018427387904,0,0}"),
             "2^40");
  CHECK_SAYS(
      problem("float[1,3,8] x", "y = Conv<dilations = [1099511627776]>(x, w)", "float[4,3,3] w"),
      "larger than its padded input");
  CHECK_SAYS(problem("int64[1] x", "y = ConstantOfShape(s) z = Add(y, x)",
                     "int64[2] s = {1099511627776, 1099511627776}"),
             "since ConstantOfShape (a size passes 2^56)");
  CHECK_SAYS(problem("float[1,3] x", "y = Einsum<equation = \"ij,kl,mn,op,qr,st,uv,wx->"
                                     "ijklmnopqrstuvwx\">(x, x, x, x, x, x, x, x)"),
             "at most 8");
}

TEST_CASE("attributes of the wrong type or value are that node's problem") {
  auto m = text_model(13, "float[1,8] x", "y = Softmax<axis = 1>(x)");
  m.mutable_graph()->mutable_node(0)->mutable_attribute(0)->set_type(onnx::AttributeProto::STRING);
  CHECK_SAYS(graph_of(m).nodes[0].problem, "axis is not a whole number");
  CHECK_SAYS(problem("float[1,8] x", "y = Softmax<axis = -9223372036854775807>(x)"), "axis");
  CHECK_SAYS(problem("float[1,8] x", "y = Flatten<axis = 9223372036854775807>(x)"), "axis");
  CHECK_SAYS(problem("float[1,8] x", "y = LRN<size = 9223372036854775807>(x)"), "2^40");
  CHECK_SAYS(problem("float[1,8] x", "y = Cast<to = 999>(x)"), "not one that ONNX knows");
  CHECK_SAYS(problem("float[1,8] x", "y = Constant() z = Add(x, y)"), "since Constant");
}

TEST_CASE("a node without outputs, or with names of no text, stays in its place") {
  auto m = text_model(13, "float[1,8] x", "y = Relu(x)");
  m.mutable_graph()->add_node()->set_op_type("Relu");
  *m.mutable_graph()->add_node() = m.graph().node(0);
  m.mutable_graph()->mutable_node(2)->set_output(0, "\xff\xfe");
  m.mutable_graph()->mutable_node(2)->set_op_type("");
  const auto g = graph_of(m);
  REQUIRE(g.nodes.size() == 3);
  CHECK_SAYS(g.nodes[1].problem, "no outputs");
  CHECK_FALSE(g.nodes[2].problem.empty());
}

TEST_CASE("an operator's name is cut and cleaned before anybody sees it") {
  auto m = text_model(13, "float[1,8] x", "a = Relu(x) y = Relu(a)");
  m.mutable_graph()->mutable_node(0)->set_op_type("\x1b[31m\n" + std::string(1'000'000, 'o'));
  const auto g = graph_of(m);
  CHECK(g.nodes[0].op == "?[31m?" + std::string(71, 'o') + "...");
  CHECK_SAYS(g.nodes[1].problem, "since ?[31m?ooo");
  CHECK(g.nodes[1].problem.size() < 200);
  m.mutable_graph()->mutable_node(0)->set_input(0, "\u202e\u009b");
  CHECK_SAYS(refusal([&] { bonnx::from(m); }), "reads '?"
                                               "?', which nothing produces");
}

TEST_CASE("functions that call themselves are never opened") {
  auto m = text_model(13, "float[1,8] x", "y = loop.f(x)");
  m.add_opset_import()->set_domain("loop");
  m.mutable_opset_import(2)->set_version(1);
  auto& f = *m.add_functions();
  f.set_domain("loop");
  f.set_name("f");
  auto& n = *f.add_node();
  n.set_domain("loop");
  n.set_op_type("f");
  survive(m);
}

TEST_CASE("thousands of dims, inputs and attributes are no harm") {
  auto m = text_model(13, "float[1,8] x", "y = Relu(x)");
  auto& shape =
      *m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < 100000; ++i)
    shape.add_dim()->set_dim_value(1);
  CHECK_SAYS(refusal([&] { graph_of(m); }), "more than 8 dims");

  auto wide = text_model(13, "float[1,8] x", "y = Sum(x)");
  for (int i = 0; i < 100000; ++i)
    wide.mutable_graph()->mutable_node(0)->add_input("x");
  CHECK(layer_name(graph_of(wide), graph_of(wide).nodes[0]) == "Sum/1x8-n100001");

  auto tensor = text_model(13, "float[1,8] x", "y = Add(x, w)", "float[8] w");
  for (int i = 0; i < 100; ++i)
    tensor.mutable_graph()->mutable_initializer(0)->add_dims(1);
  CHECK_SAYS(graph_of(tensor).nodes[0].problem, "a tensor of more than 8 dims");
}

TEST_CASE("dims next to a 0 are no larger than others, and sums stop at what 64 bits hold") {
  CHECK_SAYS(
      problem("float[1,8] x", "y = Concat<axis = 0>(x, w)", "float[0,4611686018427387904] w"),
      "a tensor with a dim over 2^40");
  std::string nodes, tensors;
  for (int i = 0; i < 300; ++i) {
    const std::string n = std::to_string(i);
    nodes += "y" + n + " = Gather(w" + n + ", x) ";
    tensors += (i == 0 ? "" : ", ") + ("float[1099511627776,32768] w" + n);
  }
  const auto g = graph_of(text_model(13, "int64[1] x", nodes, tensors));
  CHECK(g.parameters == std::numeric_limits<std::int64_t>::max());
  CHECK(g.parameter_bytes == std::numeric_limits<std::int64_t>::max());
}

// 500 mutants: bytes of the file, and fields of the model, where damage goes deeper.
TEST_CASE("mutants never crash") {
  std::vector<onnx::ModelProto> models{
      text_model(13, "float[1,3,8,8] x",
                 "a = Conv<pads = [1,1,1,1], strides = [2,2]>(x, w) b = Relu(a)"
                 "c = MaxPool<kernel_shape = [2,2]>(b) d = Reshape(c, t) y = Gemm(d, g)",
                 "float[4,3,3,3] w, int64[2] t = {1, -1}, float[36,10] g"),
      text_model(11, "float[1,4,6] x",
                 "s = Shape(x) g = Gather(s, i) u = Unsqueeze<axes = [0]>(g)"
                 "v = Concat<axis = 0>(u, r) a, b = Split<axis = 1>(x) c = Transpose(a)"
                 "d = ReduceMean<axes = [1]>(b) e = Reshape(x, v) f = Slice(e, o, p)"
                 "q = Pad(f, z) y = Resize(c, , k)",
                 "int64 i = {0}, int64[1] r = {-1}, int64[2] o = {0,1}, int64[2] p = {1,9},"
                 "int64[4] z = {0,1,0,2}, float[3] k = {1,2,2.5}"),
      text_model(13, "float[2,3,8] x, uint8[1,3,8,8] q",
                 "a = LpPool<kernel_shape = [2]>(x) b = ConvInteger(q, w) c, d = TopK(x, k)"
                 "e = ArgMax<axis = 1>(x) f = GatherElements(x, h) y = Einsum<equation = "
                 "\"bij->bji\">(x)",
                 "uint8[4,3,3,3] w, int64[1] k = {2}, int64[2,3,8] h"),
      text_model(13, "float[2,8] x, bool u",
                 "b, s = Loop<body = l (int64 i, bool go, float[2,8] p) => (bool m, float[2,8] q, "
                 "float[2,8] r) { m = Identity(go) q = Add(p, x) r = Neg(q) }>(n, t, x)"
                 "c = If<then_branch = y () => (float[2,8] d) { d = Exp(b) }, else_branch = o () "
                 "=> (float[2,8] e) { e = Neg(b) }>(u)"
                 "f, h = Scan<num_scan_inputs = 1, body = k (float[8] v, float[8] w) => (float[8] "
                 "a, float[8] z) { a = Add(v, w) z = Exp(a) }>(j, c)"
                 "g = SplitToSequence(h, n) y = SequenceAt(g, n)",
                 "int64 n = {1}, bool t = {1}, float[8] j")};
  const std::int64_t odd[] = {0,         1,         -1,        2,
                              -7,        64,        1000,      65536,
                              -2,        3,         7,         300,
                              INT32_MAX, INT64_MAX, INT64_MIN, 1099511627776,
                              19,        23,        -8,        1099511627777};
  std::mt19937 random(2020);
  const auto pick = [&](auto size) {
    return static_cast<int>(random() % static_cast<unsigned>(size));
  };
  const auto number = [&] { return odd[pick(std::size(odd))]; };
  for (int i = 0; i < 500; ++i) {
    onnx::ModelProto m = models[static_cast<std::size_t>(pick(models.size()))];
    if (i % 2 == 0) {
      std::string bytes = m.SerializeAsString();
      for (int k = 0; k < 3; ++k)
        bytes[random() % bytes.size()] = static_cast<char>(random());
      if (!m.ParseFromString(bonnx::without_payloads(bytes))) continue;
      survive(m);
      continue;
    }
    auto& g = *m.mutable_graph();
    for (int k = 0; k < 3; ++k) {
      auto& n = *g.mutable_node(pick(g.node_size()));
      auto* a = n.attribute_size() == 0 ? nullptr : n.mutable_attribute(pick(n.attribute_size()));
      auto& t = *g.mutable_initializer(pick(g.initializer_size()));
      auto& s = *g.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
      switch (pick(10)) {
      case 0:
        if (a) a->set_i(number());
        break;
      case 1:
        if (a && a->ints_size() > 0) a->set_ints(pick(a->ints_size()), number());
        break;
      case 2:
        if (a) a->add_ints(number());
        break;
      case 3:
        if (a) n.mutable_attribute()->RemoveLast();
        break;
      case 4: s.mutable_dim(pick(s.dim_size()))->set_dim_value(number()); break;
      case 5: t.add_dims(number()); break;
      case 6:
        if (t.int64_data_size() > 0) t.set_int64_data(pick(t.int64_data_size()), number());
        break;
      case 7: n.set_op_type(g.node(pick(g.node_size())).op_type()); break;
      case 8:
        if (n.input_size() > 1) n.mutable_input()->RemoveLast();
        break;
      default: m.mutable_opset_import(0)->set_version(1 + pick(22));
      }
    }
    survive(m);
  }
}
