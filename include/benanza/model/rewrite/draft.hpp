// SPDX-License-Identifier: Apache-2.0
// How is a graph changed in place? A draft holds its nodes with their layers: a rule gives nodes
// other layers, inserts some and drops others, and what comes out is a graph again, its nodes in a
// valid order, with a row of what was changed and what that saves.
//
//   draft d(g);   d.set_layer(3, halved);   graph r = d.finished("strides moved back", {3});
#pragma once

#include "../graph.hpp"
#include "../layer_table.hpp"
#include "../operands.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::model {

/// Operations and bytes of all known layers of a graph, in its own type.
struct graph_work {
  std::int64_t flops = 0, bytes = 0;
};

inline graph_work work_of(const graph& g) {
  graph_work out;
  for (const node& n : g.nodes)
    if (const op::layer* l = layer_of(g, n)) {
      out.flops = capped_add(out.flops, op::cost(*l).flops());
      out.bytes = capped_add(out.bytes, op::least_bytes(*l, g.type));
    }
  return out;
}

class draft {
public:
  /// A node that reads a result, and as which operand.
  struct reader {
    int node = 0;
    std::size_t operand = 0;
    bool operator==(const reader&) const = default;
  };

  explicit draft(const graph& g)
      : from_(g) {
    for (const node& n : g.nodes) {
      place p{.its = n, .layer = {}, .before = -1, .gone = false};
      p.its.operands = known_operands(n);
      if (const op::layer* l = layer_of(g, n)) p.layer = *l;
      nodes_.push_back(std::move(p));
    }
    readers_.resize(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (std::size_t k = 0; k < nodes_[i].its.operands.size(); ++k)
        if (const operand& o = nodes_[i].its.operands[k]; o.node >= 0)
          readers_[static_cast<std::size_t>(o.node)].push_back({static_cast<int>(i), k});
  }

  int size() const { return static_cast<int>(from_.nodes.size()); }
  const node& at(int i) const { return nodes_[static_cast<std::size_t>(i)].its; }
  /// Null: the node is unresolved.
  const op::layer* layer(int i) const {
    const auto& l = nodes_[static_cast<std::size_t>(i)].layer;
    return l ? &*l : nullptr;
  }
  /// Of the graph as it was.
  const std::vector<reader>& readers(int i) const { return readers_[static_cast<std::size_t>(i)]; }
  /// True if node `i` has one result that only nodes of this graph read.
  bool inner(int i) const {
    return layer(i) != nullptr && !at(i).given && !readers(i).empty() &&
           op::results(*layer(i)).size == 1;
  }

  void set_layer(int i, op::layer l) { nodes_[static_cast<std::size_t>(i)].layer = std::move(l); }
  void set_operand(const reader& r, operand o) {
    nodes_[static_cast<std::size_t>(r.node)].its.operands[r.operand] = o;
  }
  /// A new node before node `i`.
  int insert_before(int i, std::string name, op::layer l, std::vector<operand> operands) {
    node n{.name = std::move(name), .op = std::string(op::family(l))};
    n.operands = std::move(operands);
    nodes_.push_back({.its = std::move(n), .layer = std::move(l), .before = i, .gone = false});
    return static_cast<int>(nodes_.size()) - 1;
  }
  /// Drops node `i`: its readers read `by`, which the caller gets if it got that.
  void replace(int i, operand by) {
    for (const reader& r : readers(i))
      set_operand(r, by);
    if (at(i).given && by.node >= 0) nodes_[static_cast<std::size_t>(by.node)].its.given = true;
    drop(i);
  }
  /// Drops node `i`, which is not read any more.
  void drop(int i) { nodes_[static_cast<std::size_t>(i)].gone = true; }

  /// The graph, with one more row of what was rewritten.
  graph finished(std::string_view rule, const std::vector<int>& changed) const {
    graph out = from_;
    if (out.original.empty()) out.original = from_.name;
    out.name = out.original + std::string(rewritten_suffix);
    out.nodes.clear();
    std::vector<int> order;
    std::multimap<int, int> inserted; // by the node that they are before
    for (std::size_t i = from_.nodes.size(); i < nodes_.size(); ++i)
      inserted.emplace(nodes_[i].before, static_cast<int>(i));
    for (int i = 0; i < size(); ++i) {
      const auto [first, last] = inserted.equal_range(i);
      for (auto it = first; it != last; ++it)
        order.push_back(it->second);
      if (!nodes_[static_cast<std::size_t>(i)].gone) order.push_back(i);
    }
    std::map<int, int> number;
    for (const int i : order)
      number.emplace(i, static_cast<int>(number.size()));
    std::vector<op::layer> layers;
    for (const int i : order) {
      const place& p = nodes_[static_cast<std::size_t>(i)];
      node n = p.its;
      for (operand& o : n.operands)
        if (o.node >= 0) o.node = number.at(o.node);
      n.inputs = inputs_of(n.operands);
      n.layer = p.layer ? static_cast<int>(layers.size()) : no_layer;
      if (p.layer) layers.push_back(*p.layer);
      out.nodes.push_back(std::move(n));
    }
    number_layers(out, layers);
    for (rewrite& r : out.rewrites)
      r.nodes = renumbered(r.nodes, number);
    const graph_work before = work_of(from_), after = work_of(out);
    out.rewrites.push_back({.rule = std::string(rule),
                            .nodes = renumbered(changed, number),
                            .flops = before.flops - after.flops,
                            .bytes = before.bytes - after.bytes});
    return out;
  }

private:
  static std::vector<int> renumbered(const std::vector<int>& nodes,
                                     const std::map<int, int>& number) {
    std::vector<int> out;
    for (const int i : nodes)
      if (const auto found = number.find(i); found != number.end()) out.push_back(found->second);
    std::sort(out.begin(), out.end());
    return out;
  }

  struct place {
    node its;
    std::optional<op::layer> layer;
    int before; ///< of an inserted one: the node that it is before
    bool gone;
  };
  const graph& from_;
  std::vector<place> nodes_{};
  std::vector<std::vector<reader>> readers_{};
};

} // namespace benanza::model
