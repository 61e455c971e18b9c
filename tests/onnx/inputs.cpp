// SPDX-License-Identifier: Apache-2.0
// Do symbols, batches and whole shapes end up as the right numbers, and is what is missing refused
// by name?
#include "text_model.hpp"

using namespace benanza::test;
namespace bonnx = benanza::onnx;
using benanza::shape;

namespace {
using dims = std::map<std::string, shape, std::less<>>;

bonnx::input_dims read(std::string_view inputs, const bonnx::options& o = {}) {
  return bonnx::dims_of_inputs(text_model(13, inputs, "y = Relu(x)"), o, "net.onnx");
}
std::string read_refusal(std::string_view inputs, const bonnx::options& o = {}) {
  return refusal([&] { read(inputs, o); });
}
} // namespace

TEST_CASE("the batch goes to dim 0") {
  CHECK(read("float[N,3,8,8] x", {.batch = 4}).shapes == dims{{"x", {4, 3, 8, 8}}});
  CHECK(read("float[1,3,8,8] x", {.batch = 4}).shapes == dims{{"x", {4, 3, 8, 8}}});
  CHECK(read("float[?,3,8,8] x", {.batch = 4}).shapes == dims{{"x", {4, 3, 8, 8}}});
  CHECK(read("float[0,3,8,8] x", {.batch = 4}).shapes == dims{{"x", {4, 3, 8, 8}}});
  CHECK(read("float[N,3,8,8] x").shapes == dims{{"x", {1, 3, 8, 8}}});
  auto m = text_model(13, "float[7,3] x", "y = Relu(x)");
  m.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_value(-1);
  CHECK(bonnx::dims_of_inputs(m, {.batch = 2}, "").shapes == dims{{"x", {2, 3}}});
}

TEST_CASE("a fixed batch is that of the first input; other numbers stay") {
  const auto d = read("float[2,16] x, float[2,4] a, float[5,4] b, float[2] c", {.batch = 3});
  CHECK(d.shapes == dims{{"a", {3, 4}}, {"b", {5, 4}}, {"c", {2}}, {"x", {3, 16}}});
  CHECK(d.old_batch == 2);
  CHECK(d.fixed_dim_changed);
  CHECK_FALSE(read("float[2,16] x", {.batch = 2}).fixed_dim_changed);
  CHECK_FALSE(read("float[N,16] x", {.batch = 2}).fixed_dim_changed);
  CHECK(read("float[N,16] x, float[1,4] a", {.batch = 3}).shapes ==
        dims{{"a", {1, 4}}, {"x", {3, 16}}});
}

TEST_CASE("numbers of the file stay where no batch is asked for") {
  const auto one = read("float[16,3,8,8] x");
  CHECK(one.shapes == dims{{"x", {16, 3, 8, 8}}});
  CHECK(one.batch == 16);
  CHECK(one.old_batch == 16);
  CHECK_FALSE(one.fixed_dim_changed);
  CHECK(one.changed.empty());
  // 10 steps of a recurrent layer and 2 directions: neither is the batch.
  const auto apart = read("float[10,1,80] x, float[2,1,256] h");
  CHECK(apart.shapes == dims{{"h", {2, 1, 256}}, {"x", {10, 1, 80}}});
  CHECK(apart.batch == 1);
  CHECK(apart.old_batch == 1);
  CHECK(read("float[50] x").batch == 1);

  const auto g =
      graph_of(text_model(13, "float[2048,256] x", "y = MatMul(x, w)", "float[256,512] w"));
  CHECK(layer_name(g, g.nodes[0]) == "MatMul/2048x256-256x512-w");
  CHECK(g.name == "graph@batch=2048");
  CHECK(g.batch == 2048);
  CHECK(g.repairs.empty());
}

TEST_CASE("a dim that a batch replaced, and one that was taken for it, are said") {
  const auto d = read("float[2,16] x, float[2,4] a, float[5,4] b", {.batch = 3});
  REQUIRE(d.changed.size() == 2);
  CHECK_SAYS(d.changed[0], "dim 0 of the input 'x' is 2 in the file and 3 here, as --batch says");
  CHECK(read("float[2,16] x", {.batch = 2}).changed.empty());
  CHECK(read("float[1,16] x", {.batch = 2}).changed.empty());
  CHECK(graph_of(text_model(13, "float[2,3] x", "y = Relu(x)"), {.batch = 3}).repairs.size() == 1);

  const auto g = graph_of(text_model(13, "float[time,4,32] x", "y = Relu(x)"));
  REQUIRE(g.assumptions.size() == 1);
  CHECK_SAYS(g.assumptions[0],
             "dim 0 of the input 'x', 'time', is taken for the batch, 1; --dim time=N");
  const auto said =
      graph_of(text_model(13, "float[time,4,32] x", "y = Relu(x)"), {.dims = {{"time", 20}}});
  CHECK(said.assumptions.empty());
  CHECK(layer_name(said, said.nodes[0]) == "Relu/20x4x32");
  CHECK(read("float[batch,4] x", {.batch = 2, .dims = {{"batch", 5}}}).batch == 5);
}

TEST_CASE("the batch's symbol is the batch wherever it is") {
  CHECK(read("float[seq,batch_size,4] x", {.batch = 2, .dims = {{"seq", 7}}}).shapes ==
        dims{{"x", {7, 2, 4}}});
  CHECK(read("float[M,4] x, float[3,M] a", {.batch = 2}).shapes ==
        dims{{"a", {3, 2}}, {"x", {2, 4}}});
  CHECK(read("float[batch,4] x", {.batch = 2, .dims = {{"batch", 5}}}).shapes ==
        dims{{"x", {5, 4}}});
}

TEST_CASE("symbols take the caller's numbers, and sums of them") {
  auto m = text_model(13, "float[batch,past] x, int64[batch,total] a", "y = Relu(x)");
  m.mutable_graph()
      ->mutable_input(1)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(1)
      ->set_dim_param("past + 1");
  CHECK_SAYS(refusal([&] { bonnx::dims_of_inputs(m, {.batch = 2}, ""); }), "set --dim past=N");
  CHECK(refusal([&] { bonnx::dims_of_inputs(m, {.batch = 2}, ""); }).find("past + 1") ==
        std::string::npos);
  const bonnx::options o{.batch = 2, .dims = {{"past", 8}}};
  CHECK(bonnx::dims_of_inputs(m, o, "").shapes == dims{{"a", {2, 9}}, {"x", {2, 8}}});
}

TEST_CASE("a whole shape wins, and its numbers are those of its symbols") {
  const bonnx::options o{.shapes = {{"x", {4, 3, 20, 30}}}};
  CHECK(read("float[N,3,H,W] x, float[N,H] a", o).shapes ==
        dims{{"a", {4, 20}}, {"x", {4, 3, 20, 30}}});
  CHECK_SAYS(read_refusal("float[N,3] x", o), "has 2 dims, 4 were given");
  CHECK(read("float[1,3,8,8] x", o).fixed_dim_changed);
  CHECK(read("float[1,3,8,8] x", o).batch == 4);
  CHECK(read("float[1,3,8,8] x, float[2,4] a", o).batch == 1);
}

TEST_CASE("what is missing is refused by name") {
  CHECK_SAYS(read_refusal("float[N,3,height,width] x"),
             "have dims without a number: 'height' (of 'x', dim 2), 'width' (of 'x', dim 3) "
             "(net.onnx); set --dim height=N --dim width=N");
  // All at once: those without a name too.
  CHECK_SAYS(read_refusal("float[N,?,8] x, float[2,?] h, float[N,time] t", {.batch = 2}),
             "'time' (of 't', dim 1), of the input 'h', of the input 'x' (net.onnx); set --dim "
             "time=N --shape h=2xN "
             "--shape x=2xNx8");
  for (std::int64_t bad : {0, -1, 65537})
    CHECK_SAYS(read_refusal("float[N] x", {.batch = bad}), "a batch must be from 1 to 65536");
  CHECK_SAYS(read_refusal("float[N,2,2,2,2,2,2,2,2] x"), "more than 8 dims");
  CHECK_SAYS(read_refusal("float[N,4611686018427387904] x"), "over 2^40");
}

TEST_CASE("an initializer among the inputs is no input") {
  auto m = text_model(8, "float[N,3] x, float[5,3] w", "y = Add(x, w)");
  auto& t = *m.mutable_graph()->add_initializer();
  t.set_name("w");
  t.set_data_type(onnx::TensorProto::FLOAT);
  t.add_dims(1);
  t.add_dims(3);
  for (int i = 0; i < 3; ++i)
    t.add_float_data(1);
  const auto g = graph_of(m, {.batch = 2});
  CHECK(layer_name(g, g.nodes[0]) == "Add/2x3-1x3");
  CHECK(g.parameters == 3);
}

TEST_CASE("options that name nothing are said") {
  const auto g = graph_of(text_model(13, "float[N,3] x", "y = Relu(x)"),
                          {.dims = {{"typo", 3}}, .shapes = {{"z", {1}}}});
  REQUIRE(g.repairs.size() == 2);
  CHECK_SAYS(g.repairs[0], "--dim typo");
  CHECK_SAYS(g.repairs[1], "--shape z");
}

TEST_CASE("an input that is no tensor leaves its readers unresolved") {
  auto m = text_model(13, "float[3] x", "y = SequenceLength(x)");
  m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_sequence_type();
  const auto g = graph_of(m);
  CHECK(layer_name(g, g.nodes[0]) == "? an input's dims are not known since the input 'x'");
}

TEST_CASE("symbols and inputs that a model does not have are named, with those that it has") {
  auto m = text_model(13, "float[N,4] x, float[4] w", "y = Relu(x)");
  m.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(1)
      ->set_dim_param("past + 1");
  auto& t = *m.mutable_graph()->add_initializer();
  t.set_name("w");
  t.add_dims(4);
  t.set_data_type(::onnx::TensorProto::FLOAT);
  const auto unused = [&](bonnx::options o) {
    o.dims.emplace("past", 3);
    return bonnx::unused_options(m, bonnx::dims_of_inputs(m, o, ""), o);
  };
  CHECK(unused({}).empty());
  CHECK(unused({.dims = {{"N", 2}}, .shapes = {{"x", {2, 4}}}}).empty());
  // Half a name is none; a weight that an old file lists among its inputs is none either.
  const auto all = unused({.dims = {{"pas", 2}}, .shapes = {{"w", {4}}}});
  REQUIRE(all.size() == 2);
  CHECK_SAYS(all[0], "--dim pas: the model has no such symbol; it has: N, past, past + 1");
  CHECK_SAYS(all[1], "--shape w: the model has no such input; it has: x");
}
