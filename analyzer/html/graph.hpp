// SPDX-License-Identifier: Apache-2.0
// Which graph does the page draw? That of the run that is predicted: each fused node that is faster
// as one is one, all others are their parts. Each node has one layer, and reads what its parts read
// of others.
//
//   drawn_graph g(model);   g.node_of(17)   g.json(known_texts)
#pragma once

#include "../report/node_times.hpp"
#include "numbers.hpp"

#include <benanza/bound/answers.hpp>
#include <benanza/bound/figures.hpp>
#include <benanza/result/json.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/zip.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace benanza::report::html {

/// The graph of a model's best run. Refers to the model.
class drawn_graph {
public:
  explicit drawn_graph(const bound::model_bound& b)
      : b_(b)
      , place_(b.graph->nodes.size(), 0) {
    if (!b.fused) {
      for (const auto& [i, n] : ranges::views::enumerate(b.graph->nodes))
        add(n, n.layer, {static_cast<int>(i)});
      return;
    }
    for (const auto& [f, as_one] : ranges::views::zip(b.fused->graph->nodes, b.fused->as_one)) {
      if (f.parts.size() > 1 && as_one != 0 && f.layer != model::no_layer) {
        add(f, static_cast<int>(b.fused->layers[at(f.layer)]), f.parts);
        continue;
      }
      for (int part : f.parts)
        add(b.graph->nodes[at(part)], b.graph->nodes[at(part)].layer, {part});
    }
  }

  /// The drawn node in which one of the unfused graph is.
  int node_of(int unfused) const { return place_[at(unfused)]; }
  /// The same of several, each once, ascending.
  std::vector<int> nodes_of(const std::vector<int>& unfused) const {
    std::vector<int> out;
    for (int n : unfused)
      out.push_back(node_of(n));
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  /// The drawn node that takes most of some nodes of the unfused graph; -1: none has a layer.
  int main_node(const std::vector<int>& unfused) const {
    int best = -1;
    double most = -1;
    for (int n : nodes_of(unfused)) {
      if (layer_of(n) == model::no_layer) continue;
      const double ns = b_.layers[at(layer_of(n))].algorithms.prediction.ns;
      if (ns <= most) continue;
      best = n;
      most = ns;
    }
    return best;
  }
  /// The layer of a drawn node.
  int layer_of(int node) const { return nodes_[at(node)].layer; }

  /// Columns, a row a node, producers first: names, each behind a letter that says how many letters
  /// it has in common with the one before; operators; layers or -1; and how far back the nodes are
  /// that it reads, a number where it is one.
  result::ordered_json json(texts& known) const {
    std::vector<std::string> names;
    result::ordered_json ops = result::ordered_json::array(),
                         layers = result::ordered_json::array(),
                         reads = result::ordered_json::array();
    std::string before;
    for (const auto& [i, n] : ranges::views::enumerate(nodes_)) {
      const std::string name = printable(n.of->name, 200);
      names.push_back(html::letters[shared_letters(before, name)] +
                      name.substr(shared_letters(before, name)));
      before = name;
      ops.push_back(known.of(n.of->op));
      layers.push_back(n.layer);
      std::vector<int> back;
      for (int part : n.parts)
        for (int from : b_.graph->nodes[at(part)].inputs)
          back.push_back(from);
      back = nodes_of(back);
      std::erase(back, static_cast<int>(i));
      for (int& from : back)
        from = static_cast<int>(i) - from;
      reads.push_back(back.size() == 1 ? result::ordered_json(back.front())
                                       : result::ordered_json(back));
    }
    return {{"names", std::move(names)},
            {"ops", std::move(ops)},
            {"layers", std::move(layers)},
            {"reads", std::move(reads)}};
  }

  /// What runs on several workers, where that is not what is drawn: some nodes end sooner as their
  /// parts. [[drawn node, layer or -1, tasks that it waits for], ...], or nothing.
  result::ordered_json tasks_json() const {
    if (!b_.fused) return nullptr;
    const std::vector<task> tasks = report::tasks_of(b_);
    if (tasks.size() == nodes_.size()) return nullptr;
    result::ordered_json out = result::ordered_json::array();
    for (const task& t : tasks) {
      const model::node& n = (t.part ? b_.graph : b_.fused->graph)->nodes[at(t.node)];
      int layer = n.layer;
      if (!t.part && layer != model::no_layer)
        layer = static_cast<int>(b_.fused->layers[at(layer)]);
      out.push_back({node_of(t.part ? t.node : n.parts.front()), layer, t.waits_for});
    }
    return out;
  }

private:
  struct drawn {
    const model::node* of = nullptr;
    int layer = model::no_layer; ///< of the model's layers
    std::vector<int> parts{};    ///< of the unfused graph
  };
  static std::size_t at(int v) { return static_cast<std::size_t>(v); }

  /// How many letters two names begin with alike, 63 at most; of one byte each, which JavaScript
  /// counts as C++ does.
  static std::size_t shared_letters(const std::string& a, const std::string& b) {
    std::size_t n = 0;
    while (n < 63 && n < a.size() && n < b.size() && a[n] == b[n] && (a[n] & 0x80) == 0)
      ++n;
    return n;
  }

  void add(const model::node& n, int layer, std::vector<int> parts) {
    for (int part : parts)
      place_[at(part)] = static_cast<int>(nodes_.size());
    nodes_.push_back({&n, layer, std::move(parts)});
  }

  const bound::model_bound& b_;
  std::vector<int> place_;
  std::vector<drawn> nodes_{};
};

} // namespace benanza::report::html
