// SPDX-License-Identifier: Apache-2.0
// Is a rewritten model a model whose layers are those of the rewritten graph?
#include "../../generator/rewrite/written.hpp"
#include "../../generator/zoo/zoo.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace benanza;
using namespace benanza::generator;

namespace {
std::map<std::string, int> layers_of(const model::graph& g) {
  std::map<std::string, int> out;
  for (const model::node& n : g.nodes)
    if (const op::layer* l = model::layer_of(g, n); l != nullptr && !op::is_view(*l))
      ++out[op::name(*l)];
  return out;
}

written_model rewritten(const ::onnx::ModelProto& m) {
  return rewrite_model(m, benanza::onnx::from(m), {});
}
} // namespace

TEST_CASE("rewritten models are read back as their rewritten graphs") {
  for (const char* name : {"resnet50-v1", "densenet-121", "ddpm-unet", "yolo-n"}) {
    const ::onnx::ModelProto m = zoo::build(name);
    const written_model w = rewritten(m);
    const model::graph was = benanza::onnx::resolve(benanza::onnx::from(m), {}),
                       is = benanza::onnx::resolve(benanza::onnx::from(w.model), {});
    const auto wanted = model::rewritten_form(was);
    REQUIRE(wanted);
    CHECK(layers_of(is) == layers_of(*wanted));
    CHECK(layers_of(is) == layers_of(w.graph));
    // Sums of weights are more than there were, all else is as it was.
    if (std::string_view(name) == "ddpm-unet")
      CHECK(is.parameters > was.parameters);
    else
      CHECK(is.parameters == was.parameters);
    CHECK(model::work_of(is).flops < model::work_of(was).flops);
    REQUIRE(w.model.graph().output_size() == m.graph().output_size());
    CHECK(w.model.graph().output(0).name() == m.graph().output(0).name());
    // Nothing is left to be done.
    CHECK_THROWS_AS(rewritten(w.model), error);
  }
}

TEST_CASE("a model in which no rule fits is refused in one line") {
  CHECK_THROWS_WITH_AS(rewritten(zoo::build("vgg16")),
                       doctest::Contains("no rule fits: nothing is to be rewritten"), error);
}

TEST_CASE("what takes an output's place gets its name, and pads follow no stride") {
  ::onnx::ModelProto m;
  m.set_ir_version(8);
  m.add_opset_import()->set_version(17);
  ::onnx::GraphProto& g = *m.mutable_graph();
  g.set_name("small");
  const auto dims = [](::onnx::ValueInfoProto& v, const std::string& name, const shape& s) {
    v.set_name(name);
    auto& t = *v.mutable_type()->mutable_tensor_type();
    t.set_elem_type(::onnx::TensorProto::FLOAT);
    for (const std::int64_t d : s)
      t.mutable_shape()->add_dim()->set_dim_value(d);
  };
  dims(*g.add_input(), "x", {1, 8, 9, 9});
  dims(*g.add_output(), "y", {1, 4, 2, 2});
  dims(*g.add_value_info(), "a", {1, 8, 9, 9});
  const auto weights = [&](const std::string& name, const shape& s) {
    auto& t = *g.add_initializer();
    t.set_name(name);
    t.set_data_type(::onnx::TensorProto::FLOAT);
    for (const std::int64_t d : s)
      t.add_dims(d);
    for (std::int64_t i = 0; i < elements(s); ++i)
      t.add_float_data(1);
  };
  weights("w3", {8, 8, 3, 3});
  weights("w1", {8, 8, 1, 1});
  weights("w2", {4, 8, 1, 1});
  const auto add = [&](const char* op, std::vector<std::string> in, const char* out) -> auto& {
    ::onnx::NodeProto& n = *g.add_node();
    n.set_op_type(op);
    for (std::string& s : in)
      n.add_input(std::move(s));
    n.add_output(out);
    return n;
  };
  const auto list = [](::onnx::NodeProto& n, const char* name, std::vector<std::int64_t> values) {
    auto& a = *n.add_attribute();
    a.set_name(name);
    a.set_type(::onnx::AttributeProto::INTS);
    for (const std::int64_t v : values)
      a.add_ints(v);
  };
  auto& same = *add("Conv", {"x", "w3"}, "a").add_attribute();
  same.set_name("auto_pad");
  same.set_type(::onnx::AttributeProto::STRING);
  same.set_s("SAME_UPPER");
  list(add("Conv", {"a", "w1"}, "b"), "strides", {2, 2});
  add("Conv", {"b", "w2"}, "c");
  auto& pool = add("AveragePool", {"c"}, "y");
  list(pool, "kernel_shape", {2, 2});
  list(pool, "strides", {2, 2});

  const written_model w = rewritten(m);
  const auto& out = w.model.graph();
  REQUIRE(out.node_size() == 4);
  CHECK(out.node(0).op_type() == "Conv");
  CHECK(out.node(1).op_type() == "AveragePool");
  CHECK(out.node(3).output(0) == "y");
  CHECK(out.value_info_size() == 0); // "a" is smaller now
  bool pads = false;
  for (const auto& a : out.node(0).attribute()) {
    CHECK(a.name() != "auto_pad");
    pads = pads || (a.name() == "pads" && a.ints_size() == 4 && a.ints(0) == 1);
  }
  CHECK(pads);
  const model::graph is = benanza::onnx::resolve(benanza::onnx::from(w.model), {});
  CHECK(layers_of(is) == std::map<std::string, int>{{"Conv/1x8x9x9-8x3x3-s2-p1", 1},
                                                    {"Conv/1x8x2x2-8x1x1-s1", 1},
                                                    {"AveragePool/1x8x5x5-2x2-s2", 1},
                                                    {"Conv/1x8x2x2-4x1x1-s1", 1}});
}

TEST_CASE("a Resize by sizes is written with factors, which fit every batch") {
  ::onnx::ModelProto m = zoo::build("yolo-n");
  ::onnx::GraphProto& g = *m.mutable_graph();
  const std::vector<std::int64_t> sizes[] = {{1, 256, 40, 40}, {1, 128, 80, 80}};
  int resizes = 0;
  for (::onnx::NodeProto& n : *g.mutable_node()) {
    if (n.op_type() != "Resize") continue;
    ::onnx::TensorProto& t = *g.add_initializer();
    t.set_name("sizes" + std::to_string(resizes));
    t.set_data_type(::onnx::TensorProto::INT64);
    t.add_dims(4);
    for (const std::int64_t d : sizes[resizes++])
      t.add_int64_data(d);
    n.set_input(2, "");
    n.add_input(t.name());
  }
  REQUIRE(resizes == 2);
  const written_model w = rewritten(m);
  const model::graph is = benanza::onnx::resolve(benanza::onnx::from(w.model), {});
  CHECK(layers_of(is) == layers_of(w.graph));
  for (const ::onnx::NodeProto& n : w.model.graph().node())
    if (n.op_type() == "Resize") {
      CHECK(n.input_size() == 3);
      CHECK(n.input(2).ends_with("/scales"));
    }
}
