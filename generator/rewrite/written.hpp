// SPDX-License-Identifier: Apache-2.0
// How does a rewritten graph become an ONNX model again? The model is resolved with a number as
// each node's name, and nodes of our own behind its inputs and outputs; what the rules change in
// that graph is then done in the model: strides, what nodes read, new pools. All else stays as it
// is, weights too, whether they are there or not.
//
//   written_model w = rewrite_model(whole, source, options);   w.model   w.graph.rewrites
#pragma once

#include <benanza/model/operands.hpp>
#include <benanza/model/rewrite/rewrite.hpp>
#include <benanza/onnx/load.hpp>
#include <benanza/onnx/resolve.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::generator {

/// A rewritten model, and its graph with what was rewritten.
struct written_model {
  ::onnx::ModelProto model;
  model::graph graph;
};

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

/// Does in a model what was done from one of its graphs to the other.
class onnx_rewriter {
public:
  onnx_rewriter(::onnx::ModelProto& m, const model::graph& from, const model::graph& to)
      : graph_(*m.mutable_graph())
      , nodes_(graph_.node_size())
      , from_(from)
      , to_(to) {
    for (const auto& n : graph_.node()) {
      names_.insert(n.input().begin(), n.input().end());
      names_.insert(n.output().begin(), n.output().end());
    }
  }

  void follow() {
    learn();
    for (const model::node& n : to_.nodes) {
      known_.push_back(number_of(n));
      change(n, known_.back());
    }
    place();
    rename_outputs();
    for (int i = 0; i < graph_.value_info_size(); ++i)
      if (changed_.contains(graph_.value_info(i).name()))
        graph_.mutable_value_info()->DeleteSubrange(i--, 1);
  }

private:
  [[noreturn]] void refuse() const {
    throw error("what could be rewritten lies in a function, a branch or a composite operator",
                from_.name, "write these out in the model first");
  }
  static bool numbered(const std::string& name) {
    return number_in(node_mark, name) || number_in(input_mark, name) ||
           number_in(output_mark, name);
  }

  /// What each node of the model was. Refuses changes of nodes that are none of the model's own.
  void learn() {
    std::map<std::string, int> uses;
    for (const model::node& n : from_.nodes)
      ++uses[n.name];
    for (const model::node& n : from_.nodes)
      if (uses.at(n.name) == 1 && numbered(n.name)) was_.emplace(n.name, &n);
    const auto hidden = [this](const model::graph& g) {
      std::multiset<std::string> out;
      for (const model::node& n : g.nodes)
        if (!was_.contains(n.name) && !(&g == &to_ && n.name.ends_with(picked_mark)))
          out.insert(n.name + ' ' + (n.layer < 0 ? n.op : op::name(*model::layer_of(g, n))));
      return out;
    };
    if (hidden(from_) != hidden(to_)) refuse();
    std::set<std::string> left;
    for (const model::node& n : to_.nodes)
      left.insert(n.name);
    for (const auto& [name, n] : was_)
      if (const auto number = number_in(node_mark, name); number && !left.contains(name))
        dropped_.insert(*number);
  }

  static std::string source_of(const model::graph& g, const model::operand& o) {
    if (o.node < 0) return std::to_string(o.node);
    return g.nodes[static_cast<std::size_t>(o.node)].name + '/' + std::to_string(o.output);
  }

  /// The number of the model's node that `n` is, a new one if it has to be made; -1: it is none.
  int number_of(const model::node& n) {
    if (was_.contains(n.name)) return number_in(node_mark, n.name).value_or(-1);
    if (!n.name.ends_with(picked_mark)) return -1;
    const auto& p = std::get<op::pool>(*model::layer_of(to_, n));
    const std::string from = tensor_of(n.operands.at(0));
    ::onnx::NodeProto& pool = *graph_.add_node();
    pool.set_op_type("MaxPool");
    pool.add_input(from);
    pool.set_name(fresh(from + std::string(picked_mark)));
    pool.add_output(pool.name());
    set_list(pool, "kernel_shape", {p.kernel.begin(), p.kernel.end()});
    set_list(pool, "strides", {p.strides.begin(), p.strides.end()});
    return graph_.node_size() - 1;
  }

  std::string fresh(std::string name) {
    while (!names_.insert(name).second)
      name += '_';
    return name;
  }

  /// The name in the model of what an operand of the rewritten graph reads.
  std::string tensor_of(const model::operand& o) const {
    if (o.node < 0) refuse();
    const std::string& name = to_.nodes[static_cast<std::size_t>(o.node)].name;
    if (const auto input = number_in(input_mark, name)) return graph_.input(*input).name();
    const int node = known_[static_cast<std::size_t>(o.node)];
    if (node < 0 || o.output >= graph_.node(node).output_size()) refuse();
    return graph_.node(node).output(o.output);
  }

  static void set_list(::onnx::NodeProto& n, const std::string& name,
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
    const auto *old = std::get_if<Window>(&was), *now = std::get_if<Window>(&is);
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

  void change(const model::node& n, int number) {
    const auto was = was_.find(n.name);
    if (was == was_.end()) return;
    const std::vector<model::operand> old = model::known_operands(*was->second);
    if (const auto output = number_in(output_mark, n.name)) {
      const model::operand& o = n.operands.at(0);
      if (source_of(to_, o) != source_of(from_, old.at(0))) outputs_[*output] = tensor_of(o);
      return;
    }
    if (number < 0) return;
    ::onnx::NodeProto& its = *graph_.mutable_node(number);
    if (const op::layer* before = model::layer_of(from_, *was->second),
        *now = model::layer_of(to_, n);
        before != nullptr && now != nullptr) {
      if (!(op::output(*before) == op::output(*now)))
        changed_.insert(its.output().begin(), its.output().end());
      set_window<op::conv>(its, *before, *now);
      set_window<op::pool>(its, *before, *now);
    }
    for (std::size_t k = 0; k < n.operands.size() && k < old.size(); ++k) {
      if (source_of(to_, n.operands[k]) == source_of(from_, old[k])) continue;
      if (k >= static_cast<std::size_t>(its.input_size())) refuse();
      its.set_input(static_cast<int>(k), tensor_of(n.operands[k]));
    }
  }

  /// Each node behind those that it reads, the others in their order; without those that are
  /// dropped.
  void place() {
    std::map<int, std::vector<int>> reads;
    for (std::size_t i = 0; i < to_.nodes.size(); ++i)
      for (const model::operand& o : to_.nodes[i].operands)
        if (o.node >= 0 && known_[static_cast<std::size_t>(o.node)] >= 0)
          reads[known_[i]].push_back(known_[static_cast<std::size_t>(o.node)]);
    ::onnx::GraphProto sorted;
    std::set<int> done = dropped_;
    const auto add = [&](const auto& self, int i) -> void {
      if (!done.insert(i).second) return;
      for (const int first : reads[i])
        self(self, first);
      sorted.add_node()->Swap(graph_.mutable_node(i));
    };
    for (int i = 0; i < nodes_; ++i)
      add(add, i);
    graph_.mutable_node()->Swap(sorted.mutable_node());
  }

  /// What takes the place of one of the model's outputs gets its name.
  void rename_outputs() {
    for (const auto& [output, tensor] : outputs_) {
      const std::string name = graph_.output(output).name(), other = fresh(name + "/before");
      changed_.insert({name, tensor});
      for (auto& n : *graph_.mutable_node()) {
        for (const auto& a : n.attribute())
          if (a.has_g()) refuse(); // it may read either by name
        for (auto* list : {n.mutable_input(), n.mutable_output()})
          for (std::string& s : *list)
            s = s == name ? other : s == tensor ? name : s;
      }
    }
  }

  ::onnx::GraphProto& graph_;
  int nodes_;
  const model::graph &from_, &to_;
  std::map<std::string, const model::node*> was_{};
  std::vector<int> known_{}; ///< of each node of the rewritten graph its number in the model
  std::map<int, std::string> outputs_{};
  std::set<std::string> names_{}, changed_{};
  std::set<int> dropped_{};
};
} // namespace detail

/// `whole`, whose checked form without weights is `source`, rewritten wherever a rule fits; refuses
/// a model in which none does.
inline written_model rewrite_model(::onnx::ModelProto whole, const onnx::source& source,
                                   const onnx::options& o) {
  const model::graph from = onnx::resolve(
      onnx::source(detail::with_numbers(source.model()), source.where(), source.name()), o);
  auto to = model::rewritten_form(from);
  if (!to)
    throw error("no rule fits: nothing is to be rewritten", source.where(),
                "benanza_generate --help names what is looked for");
  detail::onnx_rewriter(whole, from, *to).follow();
  for (model::node& n : to->nodes)
    if (const auto number = detail::number_in(detail::node_mark, n.name)) {
      const auto& its = source.model().graph().node(*number);
      n.name = its.name().empty() && its.output_size() > 0 ? its.output(0) : its.name();
    }
  return {std::move(whole), std::move(*to)};
}

} // namespace benanza::generator
