// SPDX-License-Identifier: Apache-2.0
// Are two files the same model, whatever became of its weights? The SHA-256 of its structure, which
// scripts/frameworks/structure.py computes too, of a file with weights or without. It covers, in
// the file's order: versions of opsets; inputs and results with their types and dims; names, types
// and dims of stored tensors; of each node operator, domain, names of what it reads and makes, and
// attributes, graphs within them too (of tensors type and dims); functions. It does not cover
// weights, nodes' names, remarks, who wrote the file, what was said of values between nodes, and
// what attributes of functions are by default (older libonnx does not know).
//
//   structure_of(model)   // "9f86d0…", 64 digits; model::graph::structure
#pragma once

#include "../core/sha256.hpp"

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace benanza::onnx {

namespace detail {
/// Writes each text with its length before it, so that no two structures have one text.
class structure_text {
public:
  void model(const ::onnx::ModelProto& m) {
    opsets(m.opset_import());
    graph(m.graph());
    number(m.functions_size());
    for (const auto& f : m.functions()) {
      text(f.domain()), text(f.name());
      opsets(f.opset_import());
      texts(f.input()), texts(f.output()), texts(f.attribute());
      nodes(f.node());
    }
  }
  const std::string& out() const { return out_; }

private:
  void text(std::string_view t) {
    number(static_cast<std::int64_t>(t.size()));
    out_ += t;
  }
  void number(std::int64_t n) { (out_ += std::to_string(n)) += ':'; }
  void real(float f) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &f, sizeof bits);
    number(bits);
  }
  template <class List>
  void texts(const List& list) {
    number(list.size());
    for (const auto& t : list)
      text(t);
  }
  template <class List>
  void opsets(const List& list) {
    number(list.size());
    for (const auto& o : list)
      text(o.domain()), number(o.version());
  }
  /// Of a tensor all but its elements.
  void tensor(const ::onnx::TensorProto& t) {
    text(t.name()), number(t.data_type()), number(t.dims_size());
    for (const std::int64_t d : t.dims())
      number(d);
  }
  template <class List>
  void values(const List& list) {
    number(list.size());
    for (const auto& v : list) {
      const auto& type = v.type().tensor_type();
      text(v.name()), number(type.elem_type()), number(type.shape().dim_size());
      for (const auto& d : type.shape().dim())
        d.has_dim_value() ? number(d.dim_value()) : text(d.dim_param());
    }
  }
  void attribute(const ::onnx::AttributeProto& a) {
    text(a.name()), real(a.f()), number(a.i()), text(a.s()), text(a.ref_attr_name());
    number(a.floats_size());
    for (const float f : a.floats())
      real(f);
    number(a.ints_size());
    for (const std::int64_t i : a.ints())
      number(i);
    texts(a.strings());
    number(a.tensors_size() + a.has_t());
    if (a.has_t()) tensor(a.t());
    for (const auto& t : a.tensors())
      tensor(t);
    number(a.graphs_size() + a.has_g());
    if (a.has_g()) graph(a.g());
    for (const auto& g : a.graphs())
      graph(g);
  }
  template <class List>
  void nodes(const List& list) {
    number(list.size());
    for (const auto& n : list) {
      text(n.op_type()), text(n.domain());
      texts(n.input()), texts(n.output());
      number(n.attribute_size());
      for (const auto& a : n.attribute())
        attribute(a);
    }
  }
  void graph(const ::onnx::GraphProto& g) {
    values(g.input()), values(g.output());
    number(g.initializer_size() + g.sparse_initializer_size());
    for (const auto& t : g.initializer())
      tensor(t);
    for (const auto& t : g.sparse_initializer())
      tensor(t.values());
    nodes(g.node());
  }

  std::string out_{};
};
} // namespace detail

/// The hash of a model's structure.
inline std::string structure_of(const ::onnx::ModelProto& m) {
  detail::structure_text all;
  all.model(m);
  return sha256(all.out());
}

} // namespace benanza::onnx
