// SPDX-License-Identifier: Apache-2.0
// Is this an ONNX model that can be read at all? What no later step could make sense of is refused
// here, before libonnx sees any of it: no graph, no opset, payloads that do not match their dims.
// What is wrong with one node only is that node's problem, and is found when the node is resolved.
//
//   check(model, "net.onnx");   // throws benanza::error: what, where, what to do
#pragma once

#include "../core/printable.hpp"
#include "tensor.hpp"

namespace benanza::onnx {

namespace detail {
inline constexpr int deepest_subgraph = 32;
inline constexpr std::int64_t newest_opset = 1000;

/// Bytes of a name from a file that are shown at most.
inline constexpr std::size_t longest_name = 80;

/// A name from a file as messages show it: short, and nothing in it steers a terminal.
inline std::string in_quotes(std::string_view name) {
  return '\'' + printable(name, longest_name) + '\'';
}

inline void check_tensor(const ::onnx::TensorProto& t, std::string_view where) {
  const auto refuse = [&](const std::string& what) {
    throw error("the tensor " + in_quotes(t.name()) + ' ' + what, where,
                "the file is damaged, export it again");
  };
  if (!declared_elements(t)) refuse("has a negative dim, or more than 2^56 elements");
  if (find_element_type(t.data_type()) == nullptr && !stored_elsewhere(t))
    refuse("has element type " + std::to_string(t.data_type()) + ", which ONNX does not know");
  if (const payload p = payload_of(t); p.held != p.asked)
    refuse("holds " + std::to_string(p.held) + ' ' + std::string(p.unit) + ", its dims ask for " +
           std::to_string(p.asked));
}

inline void check_graph(const ::onnx::GraphProto& g, std::string_view where, int depth);

inline void check_sparse(const ::onnx::SparseTensorProto& s, std::string_view where) {
  check_tensor(s.values(), where);
  check_tensor(s.indices(), where);
}

inline void check_nodes(const auto& nodes, std::string_view where, int depth) {
  for (const ::onnx::NodeProto& n : nodes)
    for (const ::onnx::AttributeProto& a : n.attribute()) {
      if (a.has_t()) check_tensor(a.t(), where);
      for (const auto& t : a.tensors())
        check_tensor(t, where);
      if (a.has_sparse_tensor()) check_sparse(a.sparse_tensor(), where);
      for (const auto& s : a.sparse_tensors())
        check_sparse(s, where);
      if (a.has_g()) check_graph(a.g(), where, depth + 1);
      for (const auto& g : a.graphs())
        check_graph(g, where, depth + 1);
    }
}

inline void check_graph(const ::onnx::GraphProto& g, std::string_view where, int depth) {
  if (depth > deepest_subgraph)
    throw error("graphs are nested more than " + std::to_string(deepest_subgraph) + " deep", where,
                "simplify the model");
  for (const auto& t : g.initializer())
    check_tensor(t, where);
  for (const auto& s : g.sparse_initializer())
    check_sparse(s, where);
  check_nodes(g.node(), where, depth);
}
} // namespace detail

/// Refuses a model that is none.
inline void check(const ::onnx::ModelProto& m, std::string_view where) {
  constexpr std::string_view remedy = "give a complete .onnx file";
  if (!m.has_graph()) throw error("the model has no graph", where, remedy);
  if (m.ir_version() < 1) throw error("the model has no ir_version", where, remedy);
  if (m.graph().node_size() == 0) throw error("the model's graph has no nodes", where, remedy);
  if (m.opset_import_size() == 0)
    throw error("the model does not say which opset it uses (no opset_import)", where,
                "export it again");
  for (const auto& o : m.opset_import())
    if (o.version() < 1 || o.version() > detail::newest_opset)
      throw error("the model uses opset " + std::to_string(o.version()) + " of " +
                      (o.domain().empty() ? "ai.onnx" : detail::in_quotes(o.domain())) +
                      ", which does not exist",
                  where, "export it again");
  detail::check_graph(m.graph(), where, 0);
  for (const auto& f : m.functions())
    detail::check_nodes(f.node(), where, 0);
}

} // namespace benanza::onnx
