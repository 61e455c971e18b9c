// SPDX-License-Identifier: Apache-2.0
// How are a model's nodes distinguished while its graph is rewritten, and how are windows changed?
// By numbers as their names, with nodes of our own behind inputs and outputs, so that each has a
// node; by attributes that say what they said before in another way.
//
//   with_numbers(m).graph().node(3).name() == "benanza@3"
#pragma once

#include <benanza/onnx/load.hpp>
#include <benanza/op/kinds.hpp>

#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::generator {
namespace detail {
/// Names of nodes that are numbers: of a node of the model, and of those behind an input or output.
inline constexpr std::string_view node_mark = "benanza@", input_mark = "benanza<",
                                  output_mark = "benanza>", picked_mark = "/picked";

inline std::string marked(std::string_view mark, int i) {
  return std::string(mark) + std::to_string(i);
}
inline std::optional<int> number_in(std::string_view mark, std::string_view name) {
  if (!name.starts_with(mark)) return std::nullopt;
  name.remove_prefix(mark.size());
  int n = 0;
  const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), n);
  if (bad != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return n;
}

/// `name` without `mark` at its end.
inline std::string_view unmarked(std::string_view name, std::string_view mark) {
  if (name.ends_with(mark)) name.remove_suffix(mark.size());
  return name;
}

/// `m` with numbers as names of its nodes, and a node behind each input and output.
inline ::onnx::ModelProto with_numbers(::onnx::ModelProto m) {
  ::onnx::GraphProto& g = *m.mutable_graph();
  std::set<std::string> made, held;
  for (const auto& t : g.initializer())
    held.insert(t.name());
  for (int i = 0; i < g.node_size(); ++i) {
    g.mutable_node(i)->set_name(marked(node_mark, i));
    made.insert(g.node(i).output().begin(), g.node(i).output().end());
  }
  const int nodes = g.node_size();
  const auto pass = [&g](std::string name, std::string from, std::string to) {
    ::onnx::NodeProto& n = *g.add_node();
    n.set_op_type("Identity");
    n.set_name(std::move(name));
    n.add_input(std::move(from));
    n.add_output(std::move(to));
  };
  for (int i = 0; i < g.input_size(); ++i) {
    const std::string name = g.input(i).name(), inner = marked(input_mark, i) + " result";
    if (held.contains(name)) continue; // a constant
    for (int k = 0; k < nodes; ++k)
      for (std::string& s : *g.mutable_node(k)->mutable_input())
        if (s == name) s = inner;
    pass(marked(input_mark, i), name, inner);
  }
  for (int i = 0; i < g.output_size(); ++i) {
    const std::string name = g.output(i).name();
    if (!made.contains(name)) continue;
    g.mutable_output(i)->set_name(marked(output_mark, i) + " result");
    pass(marked(output_mark, i), name, g.output(i).name());
  }
  return m;
}

inline void set_list(::onnx::NodeProto& n, const std::string& name,
                     const std::vector<std::int64_t>& values) {
  ::onnx::AttributeProto* a = nullptr;
  for (auto& known : *n.mutable_attribute())
    if (known.name() == name) a = &known;
  if (a == nullptr) a = n.add_attribute();
  a->Clear();
  a->set_name(name);
  a->set_type(::onnx::AttributeProto::INTS);
  for (const std::int64_t v : values)
    a->add_ints(v);
}

/// The strides of a window, and pads that would depend on them.
template <class Window>
void set_window(::onnx::NodeProto& n, const op::layer& was, const op::layer& is) {
  const auto *old = op::as<Window>(was), *now = op::as<Window>(is);
  if (old == nullptr || now == nullptr || old->strides == now->strides) return;
  std::vector<std::int64_t> strides, pads;
  for (int d = 0; d < now->kernel.size; ++d)
    strides.push_back(op::entry(now->strides, d, 1));
  for (int d = 0; d < 2 * now->kernel.size; ++d)
    pads.push_back(op::entry(now->pads, d, 0));
  set_list(n, "strides", strides);
  for (int i = 0; i < n.attribute_size(); ++i)
    if (n.attribute(i).name() == "auto_pad") {
      n.mutable_attribute()->DeleteSubrange(i, 1);
      set_list(n, "pads", pads);
      break;
    }
}
} // namespace detail
} // namespace benanza::generator
