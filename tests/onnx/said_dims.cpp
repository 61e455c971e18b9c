// SPDX-License-Identifier: Apache-2.0
// Dims that only a run of a model decides, said by the caller or by the file.
#include "text_model.hpp"

using namespace benanza::test;
namespace bonnx = benanza::onnx;
namespace model = benanza::model;
using benanza::shape;

namespace {
/// The layers of a model whose value `v` the caller says.
std::vector<std::string> said(const std::string& nodes, const shape& dims,
                              std::string_view inputs = "float[1,8,6,6] x, int64[M] n") {
  const auto g = graph_of(text_model(18, inputs, nodes), {.shapes = {{"n", {4}}, {"v", dims}}});
  std::vector<std::string> out;
  for (const auto& n : g.nodes)
    out.push_back(layer_name(g, n));
  return out;
}
using names = std::vector<std::string>;
} // namespace

TEST_CASE("a value that a run decides has the dims that the caller says") {
  CHECK(said("v = Slice(x, n, n) y = Relu(v)", {1, 8, 3, 6}) ==
        names{"Slice/1x8x6x6-1x8x3x6", "Relu/1x8x3x6"});
  CHECK(said("v = Reshape(x, n) y = Relu(v)", {8, 36}) ==
        names{"Reshape/1x8x6x6-8x36", "Relu/8x36"});
  CHECK(said("v = Expand(x, n) y = Relu(v)", {2, 8, 6, 6})[0] == "Expand/1x8x6x6-2x8x6x6");
  CHECK(said("v = Tile(x, n) y = Relu(v)", {1, 16, 6, 6})[0] == "Tile/1x8x6x6-1x16x6x6");
  CHECK(said("v = Pad<mode = \"edge\">(x, n) y = Relu(v)", {1, 8, 8, 8})[0] ==
        "Pad/1x8x6x6-b0x0x0x0-e0x0x2x2-edge");
  CHECK(said("v = Resize<mode = \"linear\">(x, , , n) y = Relu(v)", {1, 8, 12, 12})[0] ==
        "Resize/1x8x6x6-1x8x12x12-linear");
  CHECK(said("v = ConstantOfShape(n) y = Relu(v)", {3, 5}) == names{"Expand/1-3x5", "Relu/3x5"});
  CHECK(said("z = Constant<value_int = 0>() o = Constant<value_int = 1>()"
             "r = ReduceMax<keepdims = 0>(n) v = Range(z, r, o) y = Cast<to = 1>(v)",
             {7}) == names{"ReduceMax/4-a0-s64", "Expand/1-7-s64", "Cast/7-s64-real"});
}

TEST_CASE("what was said is told, for an operator that is not known too") {
  const auto g = graph_of(text_model(18, "float[1,8] x", "v = com.microsoft.Made(x) y = Relu(v)"),
                          {.shapes = {{"v", {3, 4}}}});
  CHECK(layer_name(g, g.nodes[1]) == "Relu/3x4");
  CHECK(g.nodes[0].layer == model::no_layer);
  REQUIRE(g.assumptions.size() == 1);
  CHECK(g.assumptions[0] ==
        "com.microsoft::Made 'v': a run of the model decides its dims; 3x4, as --shape says");
}

TEST_CASE("dims that cannot be, that follow anyway, or of nothing") {
  const auto refused = [](const std::string& nodes, const shape& dims) {
    try {
      (void)said(nodes, dims);
    } catch (const benanza::error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(refused("v = Slice(x, n, n) y = Relu(v)", {1, 9, 3, 6}).starts_with("--shape v: a Slice"));
  CHECK(refused("v = Reshape(x, n) y = Relu(v)", {5})
            .starts_with("--shape v: it makes 5 of 1x8x6x6, another number of elements"));
  CHECK(refused("v = Relu(x) y = Relu(v)", {1, 8, 6, 7})
            .starts_with("--shape v=1x8x6x7: it is 1x8x6x6, as follows from the model's inputs"));
  const auto told = [](const char* name, const shape& dims) {
    return graph_of(text_model(18, "float[1,8] x", "v = Relu(x) y = Relu(v)"),
                    {.shapes = {{name, dims}}})
        .repairs;
  };
  CHECK(told("v", {1, 8}) ==
        names{"--shape v: the model has no such value whose dims a run decides"});
  REQUIRE(told("w", {1, 8}).size() == 1);
  CHECK(told("w", {1, 8})[0].starts_with("--shape w: the model has no such input"));
}

TEST_CASE("the file's word makes a layer where nothing else does") {
  auto m = text_model(18, "float[1,8,6,6] x, int64[4] n", "v = Slice(x, n, n) y = Relu(v)");
  auto& v = *m.mutable_graph()->add_value_info();
  v.set_name("v");
  v.mutable_type()->mutable_tensor_type()->set_elem_type(::onnx::TensorProto::FLOAT);
  for (const int d : {1, 8, 2, 2})
    v.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(d);
  const auto g = graph_of(m);
  CHECK(layer_name(g, g.nodes[0]) == "Slice/1x8x6x6-1x8x2x2");
  CHECK(g.assumptions ==
        names{"1 result has the dims that the file says, where they follow from nothing else"});
}
