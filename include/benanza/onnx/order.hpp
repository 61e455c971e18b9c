// SPDX-License-Identifier: Apache-2.0
// In which order can the nodes of a model run, and who reads whose result? Names become numbers
// once, so that resolving the model at several batch sizes does no look-ups. A file whose nodes are
// in a valid order keeps it; others are sorted. Refused: a value with two producers or none, and a
// cycle, each with the nodes' names.
//
//   program p = order(model.graph(), "net.onnx");
//   p.steps[7].inputs   // numbers of values; p.names[number]; -1: an optional input left out
#pragma once

#include "check.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace benanza::onnx {

/// One node, with its operands as numbers of values.
struct step {
  const ::onnx::NodeProto* node = nullptr;
  std::vector<int> inputs{};
  std::vector<int> outputs{};
  std::vector<int> captured{}; ///< values of this graph that its subgraphs read
};

/// A graph's nodes, producers first, and its values' names.
struct program {
  std::vector<step> steps{};
  std::vector<std::string_view> names{};
  std::unordered_map<std::string_view, int> numbers{};
  std::vector<int> around{}; ///< values that it reads from the graph around it

  int number_of(std::string_view name) const {
    const auto found = numbers.find(name);
    return found == numbers.end() ? -1 : found->second;
  }
};

/// What messages call a node: its name, or that of its first output, and its operator.
inline std::string described(const ::onnx::NodeProto& n) {
  const std::string& name = !n.name().empty() || n.output_size() == 0 ? n.name() : n.output(0);
  return printable(n.op_type(), detail::longest_name) + ' ' + detail::in_quotes(name);
}

namespace detail {
/// Finds the names that a graph reads and does not define itself, nor a graph around it.
class free_names {
public:
  /// Calls `see` with each, as often as it is read.
  template <class See>
  void visit(const ::onnx::GraphProto& g, const See& see) {
    count(g, 1);
    const auto report = [&](const std::string& name) {
      if (name.empty()) return;
      const auto found = defined_.find(name);
      if (found == defined_.end() || found->second == 0) see(name);
    };
    for (const auto& n : g.node()) {
      for (const auto& i : n.input())
        report(i);
      for (const auto& a : n.attribute()) {
        if (a.has_g()) visit(a.g(), see);
        for (const auto& inner : a.graphs())
          visit(inner, see);
      }
    }
    for (const auto& o : g.output())
      report(o.name());
    count(g, -1);
  }

private:
  /// Counts the definitions of a graph in, or out again.
  void count(const ::onnx::GraphProto& g, int by) {
    for (const auto& i : g.input())
      defined_[i.name()] += by;
    for (const auto& t : g.initializer())
      defined_[t.name()] += by;
    for (const auto& s : g.sparse_initializer())
      defined_[s.values().name()] += by;
    for (const auto& n : g.node())
      for (const auto& o : n.output())
        defined_[o] += by;
  }

  std::unordered_map<std::string_view, int> defined_{}; ///< how often, by the graphs being visited
};

class orderer {
public:
  using node_list = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

  orderer(const node_list& nodes, std::string_view where)
      : nodes_(nodes)
      , where_(where) {}

  void define_constants(const ::onnx::GraphProto& g) {
    for (const auto& t : g.initializer())
      define_constant(t.name());
    for (const auto& s : g.sparse_initializer())
      define_constant(s.values().name());
  }
  void define_input(std::string_view name) {
    if (name.empty()) throw error("a graph input has no name", where_);
    producer_at(name) = given;
  }
  void define_output(std::string_view name) { outputs_.push_back(name); }

  /// What nothing produces is refused, or comes from around the graph.
  program run(bool has_around) {
    for (int i = 0; i < nodes_.size(); ++i)
      add(i);
    if (has_around)
      take_from_around();
    else
      check_producers();
    if (!sorted()) sort();
    return std::move(out_);
  }

private:
  static constexpr int given = -1, nobody = -2;

  void take_from_around() {
    for (std::string_view name : outputs_)
      if (!name.empty()) (void)number(name);
    for (std::size_t v = 0; v < producer_.size(); ++v)
      if (producer_[v] == nobody) {
        producer_[v] = given;
        out_.around.push_back(static_cast<int>(v));
      }
  }

  int number(std::string_view name) {
    const auto [at, fresh] = out_.numbers.emplace(name, static_cast<int>(out_.names.size()));
    if (fresh) {
      out_.names.push_back(name);
      producer_.push_back(nobody);
    }
    return at->second;
  }

  void define_constant(std::string_view name) {
    if (name.empty()) throw error("an initializer has no name", where_);
    int& p = producer_at(name);
    if (p != nobody) throw error("two initializers are called " + in_quotes(name), where_);
    p = given;
  }
  int& producer_at(std::string_view name) {
    const int n = number(name); // may move the table
    return producer_[static_cast<std::size_t>(n)];
  }

  void add(int index) {
    const ::onnx::NodeProto& n = nodes_[index];
    step s{.node = &n};
    for (const auto& i : n.input())
      s.inputs.push_back(i.empty() ? -1 : number(i));
    for (const auto& o : n.output()) {
      s.outputs.push_back(o.empty() ? -1 : number(o));
      if (o.empty()) continue;
      int& p = producer_at(o);
      if (p == given)
        throw error(described(n) + " produces " + in_quotes(o) +
                        ", which is an input or an initializer of the graph",
                    where_);
      if (p != nobody)
        throw error(described(nodes_[p]) + " and " + described(n) + " both produce " + in_quotes(o),
                    where_);
      p = index;
    }
    free_names inside;
    const auto capture = [&](std::string_view name) { s.captured.push_back(number(name)); };
    for (const auto& a : n.attribute()) {
      if (a.has_g()) inside.visit(a.g(), capture);
      for (const auto& g : a.graphs())
        inside.visit(g, capture);
    }
    out_.steps.push_back(std::move(s));
  }

  /// Calls `see` with each value that a step needs.
  template <class See>
  static void operands(const step& s, const See& see) {
    for (int v : s.inputs)
      if (v >= 0) see(v);
    for (int v : s.captured)
      see(v);
  }
  int producer(int value) const { return producer_[static_cast<std::size_t>(value)]; }

  void check_producers() const {
    for (const step& s : out_.steps)
      operands(s, [&](int v) {
        if (producer(v) == nobody)
          throw error(described(*s.node) + " reads " +
                          in_quotes(out_.names[static_cast<std::size_t>(v)]) +
                          ", which nothing produces",
                      where_, "is the file a part of a model?");
      });
  }

  bool sorted() const {
    for (int i = 0; i < nodes_.size(); ++i) {
      bool fine = true;
      operands(out_.steps[static_cast<std::size_t>(i)],
               [&](int v) { fine = fine && producer(v) < i; });
      if (!fine) return false;
    }
    return true;
  }

  /// Depth first from the graph's outputs, then from what is left by name: the order does not
  /// depend on that of the file.
  void sort() {
    std::vector<int> roots;
    for (std::string_view o : outputs_)
      if (const int v = out_.number_of(o); v >= 0 && producer(v) >= 0) roots.push_back(producer(v));
    std::vector<int> rest(out_.steps.size());
    for (std::size_t i = 0; i < rest.size(); ++i)
      rest[i] = static_cast<int>(i);
    const auto first_output = [&](int i) -> std::string_view {
      const ::onnx::NodeProto& n = nodes_[i];
      return n.output_size() > 0 ? n.output(0) : n.name();
    };
    std::sort(rest.begin(), rest.end(),
              [&](int a, int b) { return first_output(a) < first_output(b); });
    roots.insert(roots.end(), rest.begin(), rest.end());

    std::vector<step> ordered;
    std::vector<char> state(out_.steps.size()); // 0: unseen, 1: on the path, 2: placed
    std::vector<waiting> path;
    for (int root : roots) {
      if (state[static_cast<std::size_t>(root)] == 0) path.push_back({root});
      while (!path.empty()) {
        const auto at = static_cast<std::size_t>(path.back().node);
        state[at] = 1;
        const int next = next_producer(path.back(), state);
        if (next == nobody) {
          state[at] = 2;
          path.pop_back();
          ordered.push_back(out_.steps[at]);
        } else if (state[static_cast<std::size_t>(next)] == 1) {
          refuse_cycle(path, next);
        } else {
          path.push_back({next});
        }
      }
    }
    out_.steps = std::move(ordered);
  }

  /// A node whose producers are being placed, and how many of its operands have theirs already.
  struct waiting {
    int node;
    std::size_t done = 0;
  };

  /// The producer of the next operand that is not placed yet; nobody: all are.
  int next_producer(waiting& w, const std::vector<char>& state) const {
    const step& s = out_.steps[static_cast<std::size_t>(w.node)];
    for (; w.done < s.inputs.size() + s.captured.size(); ++w.done) {
      const int v =
          w.done < s.inputs.size() ? s.inputs[w.done] : s.captured[w.done - s.inputs.size()];
      const int p = v < 0 ? nobody : producer(v);
      if (p >= 0 && state[static_cast<std::size_t>(p)] != 2) return p;
    }
    return nobody;
  }

  [[noreturn]] void refuse_cycle(const std::vector<waiting>& path, int from) const {
    constexpr std::size_t most_named = 4;
    std::string text;
    auto at =
        std::find_if(path.begin(), path.end(), [&](const waiting& w) { return w.node == from; });
    const auto length = static_cast<std::size_t>(path.end() - at);
    for (std::size_t i = 0; at != path.end() && i < most_named; ++at, ++i)
      text += described(nodes_[at->node]) + " reads ";
    text += length > most_named ? "..." : described(nodes_[from]);
    throw error("the nodes form a cycle: " + text, where_);
  }

  const node_list& nodes_;
  std::string_view where_;
  std::vector<std::string_view> outputs_{};
  program out_{};
  std::vector<int> producer_{}; ///< index of the node that makes a value, or one of the two above
};
} // namespace detail

/// The graph's nodes in an order in which each comes after what it reads. One that `has_around`, as
/// the branches of an If have, may read values of the graph that it is in.
inline program order(const ::onnx::GraphProto& g, std::string_view where, bool has_around = false) {
  detail::orderer o(g.node(), where);
  o.define_constants(g);
  for (const auto& i : g.input())
    o.define_input(i.name());
  for (const auto& out : g.output())
    o.define_output(out.name());
  return o.run(has_around);
}

/// The nodes of a function likewise.
inline program order(const ::onnx::FunctionProto& f, std::string_view where) {
  detail::orderer o(f.node(), where);
  for (const auto& i : f.input())
    o.define_input(i);
  for (const auto& out : f.output())
    o.define_output(out);
  return o.run(false);
}

} // namespace benanza::onnx
