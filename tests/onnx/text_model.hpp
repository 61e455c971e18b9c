// SPDX-License-Identifier: Apache-2.0
// Models for tests, from ONNX's text syntax. In: opset, inputs, nodes, and tensors (`float[4,3] w`
// is a weight without payload, `int64[2] s = {1, 2}` a constant). Out: a model, its graph, or the
// name of its last layer, with the problem in its place if there is none.
//
//   last_layer(13, "float[1,3,8,8] x", "y = Relu(x)") == "Relu/1x3x8x8"
#pragma once

// Before <sys/mman.h>: its macro MAP_TYPE is an enumerator there.
#include <onnx/defs/parser.h>

#include <benanza/core/text.hpp>
#include <benanza/onnx/load.hpp>
#include <benanza/onnx/resolve.hpp>
#include <benanza/op/kinds.hpp>

#include <doctest/doctest.h>
#include <range/v3/view/transform.hpp>

#include <set>
#include <string>
#include <string_view>

namespace benanza::test {

/// At batch 2.
inline const onnx::options two{.batch = 2};

/// A model that is not checked yet.
inline ::onnx::ModelProto text_model(int opset, std::string_view inputs, std::string_view nodes,
                                     std::string_view tensors = {},
                                     std::string_view outputs = "float[1] y") {
  std::string text = "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) +
                     ", \"com.microsoft\" : 1]> graph (";
  text.append(inputs).append(") => (").append(outputs).append(")");
  if (!tensors.empty()) text.append(" <").append(tensors).append(">");
  text.append(" {").append(nodes).append("}");
  ::onnx::ModelProto m;
  const auto status = ::onnx::OnnxParser::Parse(m, text.c_str());
  if (!status.IsOK()) throw error("test text: " + status.ErrorMessage(), text);
  auto& g = *m.mutable_graph();
  for (auto& o : *g.mutable_output())
    o.mutable_type()->mutable_tensor_type()->clear_shape();
  for (const auto& v : g.value_info()) { // tensors without values are weights
    auto& t = *g.add_initializer();
    t.set_name(v.name());
    t.set_data_type(v.type().tensor_type().elem_type());
    t.set_data_location(::onnx::TensorProto::EXTERNAL);
    for (const auto& d : v.type().tensor_type().shape().dim())
      t.add_dims(d.dim_value());
  }
  g.clear_value_info();
  return m;
}

inline model::graph graph_of(::onnx::ModelProto m, const onnx::options& o = {}) {
  return onnx::resolve(onnx::from(std::move(m)), o);
}

inline std::string layer_name(const model::graph& g, const model::node& n) {
  if (n.layer == model::no_layer) return "? " + n.problem;
  return op::name(g.layers.at(static_cast<std::size_t>(n.layer)));
}

/// The last layer of such a model.
inline std::string last_layer(int opset, std::string_view inputs, std::string_view nodes,
                              std::string_view tensors = {}, const onnx::options& o = {}) {
  const model::graph g = graph_of(text_model(opset, inputs, nodes, tensors), o);
  return g.nodes.empty() ? "nothing" : layer_name(g, g.nodes.back());
}

/// The layers of such a model at opset 20 and batch 2, in order.
inline std::string all_layers(std::string_view inputs, std::string_view nodes) {
  const model::graph g = graph_of(text_model(20, inputs, nodes), two);
  return join(g.nodes |
                  ranges::views::transform([&](const model::node& n) { return layer_name(g, n); }),
              " ");
}

/// The dims of the value `y` of such a model, or "?".
inline std::string dims_of_y(int opset, std::string_view inputs, std::string_view nodes,
                             std::string_view tensors = {}, const onnx::options& o = {}) {
  const auto dims = onnx::known_dims(onnx::from(text_model(opset, inputs, nodes, tensors)), o);
  const auto found = dims.find("y");
  return found == dims.end() ? "?" : onnx::text(found->second);
}

/// The text of the refusal that `f` ends in; empty if it ends in none.
template <class F>
std::string refusal(const F& f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return {};
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

} // namespace benanza::test

/// Checks that a text names what it should.
#define CHECK_SAYS(text, part)                                                                     \
  do {                                                                                             \
    const std::string all_of_it = (text);                                                          \
    CHECK_MESSAGE(benanza::test::contains(all_of_it, part), all_of_it);                            \
  } while (false)
