// SPDX-License-Identifier: Apache-2.0
// Nodes that hold graphs, and sequences: what is decided by constants is resolved as it runs, what
// a run of the model decides is counted once, or as often as the caller says, and that is noted.
#include "text_model.hpp"

using namespace benanza::test;
namespace bonnx = benanza::onnx;
namespace model = benanza::model;

namespace {
std::string layers_in(const model::graph& g) {
  std::string out;
  for (const auto& n : g.nodes)
    out += (out.empty() ? "" : " ") + layer_name(g, n);
  return out;
}
std::string layers_of(std::string_view inputs, std::string_view nodes,
                      std::string_view tensors = {}, const bonnx::options& o = {}) {
  return layers_in(graph_of(text_model(13, inputs, nodes, tensors), o));
}
const std::string branches = "then_branch = t () => (float[1,8] a) { a = Relu(x) },"
                             "else_branch = e () => (float[1,8] b) { c = Exp(x) b = Tanh(c) }";
} // namespace

TEST_CASE("an If takes the branch that its constant says") {
  const auto taken = [](std::string_view condition) {
    return layers_of("float[1,8] x", "r = If<" + branches + ">(c) y = Neg(r)", condition);
  };
  CHECK(taken("bool c = {1}") == "Relu/1x8 Neg/1x8");
  CHECK(taken("bool c = {0}") == "Exp/1x8 Tanh/1x8 Neg/1x8");
}

TEST_CASE("of an If that decides when the model runs the costlier branch is counted, and noted") {
  const auto g = graph_of(
      text_model(13, "float[1,8] x, bool c", "w = Sign(x) r = If<" + branches + ">(c) y = Neg(r)"));
  CHECK(layers_in(g) == "Sign/1x8 Exp/1x8 Tanh/1x8 Neg/1x8");
  CHECK(g.nodes[1].name == "r/else/c");
  CHECK(g.nodes[2].inputs == std::vector<int>{1});
  CHECK(g.nodes[3].inputs == std::vector<int>{2});
  CHECK(g.layers.size() == 4); // that of the other branch is gone
  REQUIRE(g.assumptions.size() == 1);
  CHECK_SAYS(g.assumptions[0], "If 'r': a run of the model decides between then_branch and "
                               "else_branch; else_branch is counted");
}

const std::string adds_up =
    "r, s = Loop<body = b (int64 i, bool go, float[1,8] a) => (bool more, float[1,8] c, float[1,8] "
    "d) { more = Identity(go) c = Add(a, x) d = Exp(c) }>(n, t, x) y = Neg(s)";

TEST_CASE("a Loop's body is repeated as often as its count says") {
  CHECK(layers_of("float[1,8] x", adds_up, "int64 n = {2}, bool t = {1}") ==
        "Add/1x8 Exp/1x8 Add/1x8 Exp/1x8 Unsqueeze/1x8-1x1x8 Unsqueeze/1x8-1x1x8 "
        "Concat/2x1x8-a0-n2 Neg/2x1x8");
}

TEST_CASE("a Loop whose count a run decides is counted once, or as often as the caller says") {
  const auto m = text_model(13, "float[1,8] x, int64 n", adds_up, "bool t = {1}");
  const auto g = graph_of(m);
  CHECK(layers_in(g) == "Add/1x8 Exp/1x8 Unsqueeze/1x8-1x1x8 Neg/1x1x8");
  REQUIRE(g.assumptions.size() == 1);
  CHECK_SAYS(g.assumptions[0],
             "Loop 'r': a run of the model decides how often; its body is counted 1 "
             "time (--loop-count r=N");
  const auto three = graph_of(m, {.loops = {{"r", 3}, {"q", 2}}});
  CHECK(std::count_if(three.nodes.begin(), three.nodes.end(),
                      [](const auto& n) { return n.op == "Exp"; }) == 3);
  REQUIRE(three.assumptions.size() == 1);
  CHECK_SAYS(three.assumptions[0], "counted 3 times, as --loop-count says");
  CHECK_SAYS(three.repairs.at(0), "--loop-count q: the model has no such loop");
}

TEST_CASE("a Scan cuts its inputs up and stacks its results") {
  CHECK(layers_of("float[3,8] x",
                  "s, y = Scan<num_scan_inputs = 1, body = b (float[8] a, float[8] "
                  "p) => (float[8] c, float[8] d) { c = Add(a, p) d = Neg(c) }>(h, "
                  "x)",
                  "float[8] h", {.batch = 3}) ==
        "Split/3x8-a0-n3 Squeeze/1x8-8 Squeeze/1x8-8 Squeeze/1x8-8 Add/8 Neg/8 Add/8 Neg/8 Add/8 "
        "Neg/8 Unsqueeze/8-1x8 Unsqueeze/8-1x8 Unsqueeze/8-1x8 Concat/3x8-a0-n3");
}

TEST_CASE("a Scan before opset 9 takes each item of a batch by itself") {
  const auto scan = [](std::string_view inputs, bool lengths = false) {
    auto m = text_model(8, inputs,
                        "s, y = Scan<num_scan_inputs = 1, directions = [1], body = b (float[2] a, "
                        "float[2] p) => (float[2] c, float[2] d) { c = Add(a, p) d = Neg(c) }>"
                        "(l, h, x)");
    if (!lengths) m.mutable_graph()->mutable_node(0)->set_input(0, "");
    return graph_of(m, {.batch = 2});
  };
  const auto g = scan("float[2,3,2] x, float[2,2] h");
  for (const auto& n : g.nodes)
    CHECK(n.problem.empty());
  CHECK(std::count_if(g.nodes.begin(), g.nodes.end(),
                      [](const auto& n) { return n.op == "Add"; }) == 6);
  CHECK_SAYS(scan("float[2,3,2] x, float[2,2] h, int64[2] l", true).nodes.back().problem,
             "its sequences differ in length");
  CHECK_SAYS(scan("float[2] x, float[2,2] h").nodes.back().problem, "hold no sequence");
}

TEST_CASE("sequences are lists of tensors: only what cuts or joins them is a layer") {
  CHECK(layers_of("float[1,8] x",
                  "e = SequenceEmpty() a = Relu(x) s = SequenceInsert(e, a) t = SequenceInsert(s, "
                  "x, z) q = SequenceAt(t, m) u = Exp(q) n = SequenceLength(t) v = "
                  "ConcatFromSequence<axis = 0>(t) k = Unsqueeze(n, f) h = Concat<axis = 0>(k, o) "
                  "w = Reshape(v, h) y = Neg(w)",
                  "int64 z = {0}, int64 m = {-1}, int64[1] f = {0}, int64[1] o = {8}") ==
        "Relu/1x8 Exp/1x8 Concat/2x8-a0-n2 Reshape/2x8 Neg/2x8");
  CHECK(layers_of("float[5,8] x", "s = SplitToSequence(x, n) a = SequenceAt(s, k) y = Neg(a)",
                  "int64 n = {2}, int64 k = {2}", {.batch = 5}) == "Split/5x8-a0-n3 Neg/1x8");
  CHECK(layers_of("float[1,8] x, int64 k",
                  "s = SplitToSequence<keepdims = 0>(x) a = SequenceAt(s, k) y = Neg(a)") ==
        "Squeeze/1x8-8 Neg/8");
}

TEST_CASE("an initializer of a body's input is its default, and changes nothing that is given") {
  auto m =
      text_model(13, "float[1,8] x",
                 "r = Loop<body = b (int64 i, bool go, float[1,8] a) => (bool more, float[1,8] "
                 "c) { more = Identity(go) c = Exp(a) }>(n, t, x) y = Neg(x)",
                 "int64 n = {1}, bool t = {1}");
  auto& body = *m.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  auto& given = *body.add_initializer();
  given.set_name("a");
  given.set_data_type(onnx::TensorProto::FLOAT);
  given.add_dims(3);
  for (int i = 0; i < 3; ++i)
    given.add_float_data(1);
  CHECK(layers_in(graph_of(m)) == "Exp/1x8 Neg/1x8");
}

TEST_CASE("graphs that make no sense, or never end, are refused in a line") {
  const auto problem = [](std::string_view nodes, std::string_view tensors = {}) {
    const auto g = graph_of(text_model(13, "float[1,8] x, bool u", nodes, tensors));
    return g.nodes.empty() ? std::string("none") : g.nodes.back().problem;
  };
  CHECK_SAYS(problem("y = If(u)"), "then_branch is missing");
  CHECK_SAYS(problem("y = Loop<body = b (int64 i) => (bool c) { c = Not(u) }>(x, u)"),
             "has 1 inputs and gets 2");
  CHECK_SAYS(
      problem("y = Loop<body = b (int64 i, bool g, float a) => (bool c) { c = Not(g) }>(x, u, x)"),
      "fewer outputs");
  CHECK_SAYS(problem("y = SequenceAt(x, k)", "int64 k = {0}"), "sequence that it reads");
  CHECK_SAYS(problem("s = SequenceEmpty() y = SequenceAt(s, k)", "int64 k = {7}"), "outside its");
  CHECK_SAYS(problem("s = SequenceEmpty() y = Relu(s)"), "not known");
  CHECK_SAYS(problem("s = SequenceEmpty() y = SplitToSequence(s)"), "is a sequence, not a tensor");
  CHECK_SAYS(refusal([] {
               graph_of(text_model(13, "float[1,8] x",
                                   "y = Loop<body = b (int64 i, bool g, float[1,8] a) => (bool c, "
                                   "float[1,8] r) { c = Identity(g) r = Relu(a) }>(n, t, x)",
                                   "int64 n = {9223372036854775807}, bool t = {1}"));
             }),
             "more than 500000 nodes and values");
}

TEST_CASE("sizes that depend on values: what follows is left out, refused, or as large as can be") {
  const std::string nodes = "n = NonZero(x) t = Transpose(n) y = Neg(t)";
  const auto sized = [&](bonnx::data_dependent d) {
    return graph_of(text_model(13, "float[1,8] x", nodes), {.sizes = d});
  };
  const auto g = sized(bonnx::data_dependent::largest);
  CHECK(layer_name(g, g.nodes.back()) == "Neg/8x2-s64");
  REQUIRE(g.assumptions.size() == 1);
  CHECK_SAYS(g.assumptions[0],
             "NonZero 'n': what the model reads decides the size; 2x8 is the largest");
  CHECK_SAYS(sized(bonnx::data_dependent::stop).nodes.back().problem, "since NonZero");
  REQUIRE(sized(bonnx::data_dependent::stop).repairs.size() == 1); // the way out
  CHECK_SAYS(sized(bonnx::data_dependent::stop).repairs[0],
             "--data-dependent=max takes the largest");
  CHECK_SAYS(refusal([&] { sized(bonnx::data_dependent::refuse); }),
             "the size of what NonZero 'n' gives depends on what the model reads");
  const auto most = [](std::string_view inputs, std::string_view text, std::string_view tensors) {
    return dims_of_y(13, inputs, text, tensors, {.sizes = bonnx::data_dependent::largest});
  };
  CHECK(most("float[1,20,4] x, float[1,3,20] s", "y = NonMaxSuppression(x, s, m)",
             "int64 m = {5}") == "15x3");
  CHECK(most("float[1,20] x, bool[20] s", "y = Compress<axis = 1>(x, s)", "") == "1x20");
  CHECK(most("float[1,20] x", "y, i, j, k = Unique(x)", "") == "20");
  CHECK(most("float[1,20] x, int64[1] k", "y, i = TopK(x, k)", "") == "1x20");
  const auto layer = [](std::string_view inputs, std::string_view text) {
    return last_layer(13, inputs, text, "", {.sizes = bonnx::data_dependent::largest});
  };
  CHECK(layer("float[1,8] x", "y = NonZero(x)") == "NonZero/1x8");
  auto no_outputs = text_model(13, "float[1,8] x", "y = NonZero(x)");
  no_outputs.mutable_graph()->mutable_node(0)->clear_output();
  CHECK_SAYS(graph_of(no_outputs, {.sizes = bonnx::data_dependent::largest}).nodes[0].problem,
             "no outputs");
  CHECK(layer("float[1,20] x, bool[7] s", "y = Compress<axis = 1>(x, s)") ==
        "Compress/1x20-n7-k7-a1");
  CHECK(layer("float[1,20] x", "y, i, j, k = Unique(x)") == "Unique/1x20-n4");
  CHECK(layer("float[1,20] x, int64[1] k", "y, i = TopK(x, k)") == "TopK/1x20-a1-k20");
}

TEST_CASE("sizes that depend on values may be said, by the name of the node that decides them") {
  const auto sized = [](std::string_view inputs, std::string_view text, std::string_view tensors,
                        std::int64_t n) {
    return dims_of_y(13, inputs, text, tensors, {.known_sizes = {{"y", n}}});
  };
  CHECK(sized("float[2,8] x", "y = NonZero(x)", "", 3) == "2x3");
  CHECK(sized("float[1,20,4] x, float[1,3,20] s", "y = NonMaxSuppression(x, s, m)", "int64 m = {5}",
              4) == "4x3");
  CHECK(sized("float[1,20] x, bool[20] s", "y = Compress<axis = 1>(x, s)", "", 6) == "1x6");
  CHECK(sized("float[1,20] x, bool[20] s", "y = Compress(x, s)", "", 6) == "6");
  CHECK(sized("float[1,20] x", "y, i, j, k = Unique(x)", "", 5) == "5");
  CHECK(sized("float[4,5] x", "y, i, j, k = Unique<axis = 1>(x)", "", 2) == "4x2");
  CHECK(sized("float[4,5] x, int64[1] k", "y, i = TopK<axis = 0>(x, k)", "", 3) == "3x5");
  CHECK(sized("float[4,5] x", "i, j, y, k = Unique<axis = 1>(x)", "", 2) == "?"); // it is i's node
  const auto layer = [](std::string_view inputs, std::string_view text) {
    return last_layer(13, inputs, text, "", {.known_sizes = {{"y", 6}}});
  };
  CHECK(layer("float[1,20] x, bool[7] s", "y = Compress<axis = 1>(x, s)") ==
        "Compress/1x20-n7-k6-a1");
  CHECK(layer("float[1,20] x, int64[1] k", "y, i = TopK(x, k)") == "TopK/1x20-a1-k6");
  CHECK_SAYS(layer("float[1,5] x", "y = NonZero(x)"), "its size is 5 at most, not 6");

  // One is said, another one is not, a third is not there; what is said wins over the largest.
  const auto both = [](bonnx::data_dependent others) {
    return graph_of(text_model(13, "float[1,8] x, float[1,9] z",
                               "n = NonZero(x) t = Neg(n) m = NonZero(z) y = Neg(m)"),
                    {.sizes = others, .known_sizes = {{"n", 3}, {"q", 2}}});
  };
  const auto g = both(bonnx::data_dependent::stop);
  CHECK(layer_name(g, g.nodes[1]) == "Neg/2x3-s64");
  CHECK_SAYS(g.nodes.back().problem, "since NonZero");
  REQUIRE(g.assumptions.size() == 1);
  CHECK_SAYS(g.assumptions[0], "2x3, as --size says");
  REQUIRE(g.repairs.size() == 2);
  CHECK_SAYS(g.repairs[0], "NonZero 'm': what the model reads decides the size");
  CHECK_SAYS(g.repairs[1], "--size q: the model has no such node");
  const auto all = graph_of(text_model(13, "float[1,8] x, float[1,9] z",
                                       "na = NonZero(x) t = Neg(na) nb = NonZero(z) y = Neg(nb)"),
                            {.known_sizes = {{"n*", 4}, {"na", 5}}});
  CHECK(layer_name(all, all.nodes[1]) == "Neg/2x5-s64");
  CHECK(layer_name(all, all.nodes[3]) == "Neg/2x4-s64");
  CHECK(all.repairs.empty());
  const auto largest = both(bonnx::data_dependent::largest);
  CHECK(layer_name(largest, largest.nodes[1]) == "Neg/2x3-s64");
  CHECK(layer_name(largest, largest.nodes[3]) == "Neg/2x9-s64");
}
