// SPDX-License-Identifier: Apache-2.0
// What becomes of a whole model: folding, edges, parameters, its class, batches that exporters
// wrote into constants, and whose word on a shape counts.
#include "text_model.hpp"

using namespace benanza::test;
namespace bonnx = benanza::onnx;
namespace model = benanza::model;
using benanza::numeric;

TEST_CASE("what follows from constants is folded, and leaves no edge") {
  const auto g = graph_of(
      text_model(13, "float[N,8] x",
                 "c = Constant<value = float[1] {2}>() k = ConstantOfShape(s) t = Transpose(k)"
                 "d = Mul(t, c) a = MatMul(x, d) h = Shape(a) n = Gather(h, z) u = Unsqueeze(n, f)"
                 "v = Concat<axis = 0>(u, m) b = Relu(a) y = Reshape(b, v)",
                 "int64[2] s = {8, 8}, int64 z = {0}, int64[1] f = {0}, int64[1] m = {-1}"));
  REQUIRE(g.nodes.size() == 3);
  CHECK(g.folded == 8);
  CHECK(layer_name(g, g.nodes[0]) == "MatMul/1x8-8x8-w");
  CHECK(g.nodes[0].inputs.empty());
  CHECK(g.nodes[2].inputs == std::vector<int>{1});
  CHECK(g.parameters == 64);
  CHECK(g.parameter_bytes == 256);
}

TEST_CASE("numbers drawn by chance are no constants, and taken as given") {
  const auto g = graph_of(
      text_model(15, "float[N,8] x",
                 "r = RandomNormal<shape = [1, 8]>() a = Add(x, r) l = RandomUniformLike(a)"
                 "m = RandomUniformLike(l) b = Add(l, m) y = Bernoulli(b)"));
  REQUIRE(g.nodes.size() == 2);
  CHECK(layer_name(g, g.nodes[0]) == "Add/1x8");
  REQUIRE(g.nodes[1].operands.size() == 2);
  CHECK(g.nodes[0].operands[1].node == model::model_input);
  CHECK(g.nodes[1].operands[0].node == model::model_input);
  CHECK(g.folded == 0);
  CHECK(model::unresolved(g).empty());
  const std::string end =
      ": its numbers are taken as given; what drawing them takes is in no figure";
  CHECK(g.assumptions == std::vector<std::string>{"Bernoulli x1" + end, "RandomNormal x1" + end,
                                                  "RandomUniformLike x2" + end});
}

TEST_CASE("numbers drawn by chance whose dims are not known leave a hole") {
  const auto g = graph_of(text_model(15, "float[N,8] x, int64[2] s",
                                     "e = ConstantOfShape(s) r = RandomNormalLike(e) y = Relu(r)"));
  CHECK_FALSE(model::unresolved(g).empty());
  CHECK(g.assumptions.empty());
}

TEST_CASE("layers are unique and sorted; nodes keep their names") {
  const auto g =
      graph_of(text_model(13, "float[N,8] x", "z = Relu(x) b = Tanh(z) a = Relu(b) y = Relu(a)"));
  REQUIRE(g.layers.size() == 2);
  CHECK(benanza::op::name(g.layers[0]) == "Relu/1x8");
  CHECK(benanza::op::name(g.layers[1]) == "Tanh/1x8");
  CHECK(model::counts(g) == std::vector<std::int64_t>{3, 1});
  CHECK(g.nodes[0].name == "z");
  CHECK(g.nodes[0].op == "Relu");
  CHECK(g.name == "graph@batch=1");
  CHECK(g.model == "graph");
}

TEST_CASE("parameters are the weights that layers read, each once, as they are stored") {
  const auto g = graph_of(text_model(
      13, "float[N,8] x",
      "a = MatMul(x, w) b = MatMul(a, w) q = DequantizeLinear(i, s) c = MatMul(b, q)"
      "d = Mul(c, k) e = Clip(d, lo, hi) f = Add(e, bias) y = Reshape(f, t)",
      "float[8,8] w, int8[8,4] i, float s = {0.1}, float k = {2}, float lo = {0}, float hi = {6},"
      "float[4] bias, int64[1] t = {-1}"));
  CHECK(model::unresolved(g).empty());
  CHECK(g.parameters == 64 + 32 + 4);
  CHECK(g.parameter_bytes == 256 + 32 + 16);
}

TEST_CASE("a weight that is read through what only moves its elements is counted once") {
  const auto g = graph_of(text_model(
      13, "int64[N,4] x", "e = Gather(w, x) t = Transpose(w) i = Identity(t) y = MatMul(e, i)",
      "float[16,8] w"));
  CHECK(model::unresolved(g).empty());
  CHECK(g.parameters == 128);
  CHECK(g.parameter_bytes == 512);
}

TEST_CASE("weights that every run reads whole are counted once, tables of rows are not") {
  const auto g = graph_of(text_model(
      13, "int64[N,4] x",
      "e = Gather(w, x) t = Transpose(w) a = MatMul(e, t) b = MatMul(a, v) c = MatMul(b, v)"
      "k = Expand(s, d) f = Add(c, k) q = DequantizeLinear(i, z) y = MatMul(f, q)",
      "float[16,8] w, float[16,16] v, float[1] s, int64[1] d = {16}, int8[16,4] i, float z = {1}"));
  CHECK(model::unresolved(g).empty());
  // w is a table and a product's weight too, v is read twice, k is made from one number, i is int8.
  CHECK(g.streamed_weight_bytes == 16 * 8 * 4 + 16 * 16 * 4 + 16 * 4);
  CHECK(graph_of(text_model(13, "int64[N,4] x", "y = Gather(w, x)", "float[16,8] w"))
            .streamed_weight_bytes == 0);
  // What has the size of an activation is no weight.
  const auto made = graph_of(text_model(13, "float[N,4] x",
                                        "k = ConstantOfShape(s) a = Add(x, k) h = Shape(x)"
                                        "m = ConstantOfShape(h) y = Mul(a, m)",
                                        "int64[2] s = {1, 4}"));
  CHECK(made.streamed_weight_bytes == 4 * 4);
}

TEST_CASE("inputs that a run makes longer and gives back are caches of earlier tokens") {
  const auto with_output = [](std::string_view outputs) {
    return graph_of(text_model(13, "float[N,2,6,8] past, float[N,2,1,8] new, float[N,2,6,8] other",
                               "k = Concat<axis = 2>(past, new) o = Concat<axis = 2>(other, new)"
                               "y = Relu(k) z = Relu(o)",
                               "", outputs));
  };
  CHECK(with_output("float[1] y, float[1] z, float[1] k").cache ==
        model::token_cache{.bytes = 6 * 2 * 8 * 4, .sequences = 1, .past = 6, .added = 1});
  CHECK(with_output("float[1] y, float[1] z, float[1] k, float[1] o").cache.bytes ==
        2 * 6 * 2 * 8 * 4);
  CHECK(with_output("float[1] y, float[1] z").cache == model::token_cache{});
}

TEST_CASE("caches of no tokens are caches: the run reads a prompt") {
  const auto g = graph_of(text_model(13, "float[N,2,past,8] kept, float[N,2,5,8] new",
                                     "k = Concat<axis = 2>(kept, new) y = Relu(k)", "",
                                     "float[1] y, float[1] k"),
                          {.batch = {}, .dims = {{"past", 0}}});
  CHECK_THROWS_WITH_AS(
      graph_of(text_model(13, "float[N,8] x", "y = Relu(x)"), {.batch = {}, .dims = {{"N", 0}}}),
      doctest::Contains("a batch must be 1 or more"), benanza::error);
  CHECK(g.cache == model::token_cache{.bytes = 0, .sequences = 1, .past = 0, .added = 5});
}

TEST_CASE("codes of weights are parameters, other whole numbers are none") {
  const auto g = graph_of(text_model(
      13, "uint8[N,8] x",
      "a = MatMulInteger(x, w, z, v) f = Cast<to = 1>(a) p = Add(f, b) k = Gather(p, i)"
      "y = Mul(k, s)",
      "int8[8,4] w, uint8 z = {3}, int8 v = {0}, float[4] b, int64[1] i = {0}, float s = {2}"));
  CHECK(model::unresolved(g).empty());
  CHECK(g.parameters == 32 + 4);
  CHECK(g.parameter_bytes == 32 + 16);
  CHECK(g.type == numeric::f32);
  const auto table =
      graph_of(text_model(13, "int64[N,4] x", "e = Gather(w, x) y = DequantizeLinear(e, s)",
                          "int8[16,8] w, float s = {1}"));
  CHECK(table.parameters == 128);
}

TEST_CASE("a model's class is that of most weights, or of its input") {
  const auto type = [](std::string_view in, std::string_view w) {
    return graph_of(text_model(13, std::string(in) + "[N,8] x", "y = MatMul(x, w)",
                               std::string(w) + "[8,8] w"))
        .type;
  };
  CHECK(type("float", "float") == numeric::f32);
  CHECK(type("float16", "float16") == numeric::f16);
  CHECK(type("bfloat16", "bfloat16") == numeric::bf16);
  CHECK(type("double", "double") == numeric::f32);
  CHECK(graph_of(text_model(13, "float16[N,8] x", "y = Relu(x)")).type == numeric::f16);
}

TEST_CASE("a batch that the exporter wrote into a Reshape is repaired, and said") {
  const auto run = [](std::string_view target, std::int64_t batch,
                      std::string_view in = "float[1,8,2,2] x") {
    const auto n = std::count(target.begin(), target.end(), ',') + 1;
    return graph_of(
        text_model(9, in, "a = Relu(x) y = Reshape(a, t)",
                   "int64[" + std::to_string(n) + "] t = {" + std::string(target) + "}"),
        {.batch = batch});
  };
  auto g = run("1,32", 8);
  CHECK(layer_name(g, g.nodes[1]) == "Reshape/8x8x2x2-8x32");
  REQUIRE(g.repairs.size() == 1);
  CHECK_SAYS(g.repairs[0], "Reshape 'y': the target 1x32 became 8x32");
  g = run("1,-1", 8);
  CHECK(layer_name(g, g.nodes[1]) == "Reshape/8x8x2x2-8x32");
  g = run("-1,32", 8);
  CHECK(layer_name(g, g.nodes[1]) == "Reshape/8x8x2x2-8x32");
  CHECK(g.repairs.empty());
  g = run("1,32", 1);
  CHECK(g.repairs.empty());
  g = run("4,8", 8); // 4 x 8 elements of one image: eight times as many of eight
  CHECK(layer_name(g, g.nodes[1]) == "Reshape/8x8x2x2-32x8");
  CHECK_SAYS(g.repairs.at(0), "the target 4x8 became 32x8");
  g = run("4,32", 2, "float[4,8,2,2] x");
  CHECK(layer_name(g, g.nodes[1]) == "Reshape/2x8x2x2-2x32");
  g = run("1,-1", 8, "float[N,8,2,2] x"); // a symbol: this is what the model says
  CHECK(layer_name(g, g.nodes[1]) == "Reshape/8x8x2x2-1x256");
  g = run("1,32", 8, "float[N,8,2,2] x"); // a symbolic batch, but written down all the same
  CHECK(layer_name(g, g.nodes[1]) == "Reshape/8x8x2x2-8x32");
  CHECK_SAYS(layer_name(run("5,5", 8), run("5,5", 8).nodes[1]), "exported with a fixed batch");
}

TEST_CASE("a Reshape whose target follows from shapes, or of a weight, is not repaired") {
  auto g = graph_of(text_model(13, "float[1,8] x",
                               "s = Shape(x) h = Slice(s, z, o) t = Concat<axis = 0>(h, r)"
                               "y = Reshape(x, t) w2 = Reshape(w, q) v = MatMul(x, w2)",
                               "int64[1] z = {0}, int64[1] o = {1}, int64[1] r = {-1},"
                               "float[1,8,8] w, int64[2] q = {8, 8}"),
                    {.batch = 4});
  CHECK(g.repairs.empty());
  CHECK(model::unresolved(g).empty());
}

TEST_CASE("a fixed batch that cannot be repaired is a problem that says so") {
  const auto g =
      graph_of(text_model(13, "float[1,4,8] x", "y = Concat<axis = 1>(c, x)", "float[1,1,8] c"),
               {.batch = 8});
  CHECK_SAYS(g.nodes[0].problem,
             "1x1x8 and 8x4x8 do not fit together: exported with a fixed batch");
}

TEST_CASE("a model without a batch dim says so") {
  const auto m = text_model(13, "float[8] x", "y = Relu(x)");
  CHECK(graph_of(m).repairs.empty());
  CHECK_SAYS(graph_of(m, {.batch = 8}).repairs.at(0), "no batch dim");
  CHECK(layer_name(graph_of(m, {.batch = 8}), graph_of(m, {.batch = 8}).nodes[0]) == "Relu/8");
}

TEST_CASE("sizes of a Resize are repaired like targets") {
  const auto g =
      graph_of(text_model(13, "float[1,3,4,4] x", "y = Resize(x, , , z)", "int64[4] z = {1,3,8,8}"),
               {.batch = 4});
  CHECK(layer_name(g, g.nodes[0]) == "Resize/4x3x4x4-4x3x8x8");
  CHECK(g.repairs.size() == 1);
}

TEST_CASE("the file's own word on a shape counts where nothing else is known, and is not stale") {
  auto m = text_model(13, "float[N,8] x", "a = custom.Thing(x) y = Relu(a)");
  m.add_opset_import()->set_domain("custom");
  m.mutable_opset_import(2)->set_version(1);
  auto describe = [&](std::initializer_list<const char*> dims) {
    m.mutable_graph()->clear_value_info();
    auto& v = *m.mutable_graph()->add_value_info();
    v.set_name("a");
    auto& t = *v.mutable_type()->mutable_tensor_type();
    t.set_elem_type(1);
    for (std::string_view d : dims)
      if (d[0] >= '0' && d[0] <= '9')
        t.mutable_shape()->add_dim()->set_dim_value(std::stoll(std::string(d)));
      else
        t.mutable_shape()->add_dim()->set_dim_param(std::string(d));
  };
  const auto relu = [&](std::int64_t batch) {
    const auto g = graph_of(m, {.batch = batch});
    return layer_name(g, g.nodes[1]);
  };
  describe({"N", "5"});
  CHECK(relu(3) == "Relu/3x5");
  CHECK(graph_of(m).nodes[0].op == "custom::Thing");
  describe({"unknown", "5"});
  CHECK_SAYS(relu(3), "since custom::Thing");
  m.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_value(2);
  describe({"2", "5"});
  CHECK(relu(2) == "Relu/2x5");
  CHECK_SAYS(relu(3), "since custom::Thing");
}

TEST_CASE("stale value_info never wins over what follows from the nodes") {
  auto m = text_model(13, "float[1,8] x", "a = Relu(x) y = Relu(a)");
  auto& v = *m.mutable_graph()->add_value_info();
  v.set_name("a");
  v.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(77);
  const auto g = graph_of(m);
  CHECK(layer_name(g, g.nodes[1]) == "Relu/1x8");
}

TEST_CASE("a domain that is not imported is a problem of its nodes") {
  auto m = text_model(13, "float[1,8] x", "y = Relu(x)");
  m.mutable_graph()->mutable_node(0)->set_domain("elsewhere");
  CHECK_SAYS(graph_of(m).nodes[0].problem, "'elsewhere' is not imported");
}

TEST_CASE("the domain ai.onnx is ONNX's own by another name") {
  auto m = text_model(13, "float[1,8] x", "y = Relu(x)");
  m.mutable_opset_import(0)->set_domain("ai.onnx");
  const auto g = graph_of(m);
  CHECK(layer_name(g, g.nodes[0]) == "Relu/1x8");
  m.mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
  CHECK(graph_of(m).nodes[0].op == "Relu");
}

TEST_CASE("dims of every value can be asked for") {
  const auto dims = bonnx::known_dims(
      bonnx::from(text_model(13, "float[N,8] x", "a = Relu(x) y = NonZero(a)")), {.batch = 2});
  CHECK(dims.at("x") == benanza::shape{2, 8});
  CHECK(dims.at("a") == benanza::shape{2, 8});
  CHECK_FALSE(dims.contains("y"));
}
