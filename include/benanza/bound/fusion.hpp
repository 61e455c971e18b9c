// SPDX-License-Identifier: Apache-2.0
// How fast is a model if layers are fused where that is faster? A fused graph's node replaces some
// nodes of the unfused one, its parts, and takes the time of its own layer or that of its parts,
// whichever is less: so fusing never makes a figure worse. Times in ns.
//
//   fusion f = pair_up(fused, unfused);
//   f.sequential(own_ns, part_ns)   f.longest(own_ns, part_ns)
#pragma once

#include "../model/operands.hpp"
#include "paths.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace benanza::bound {

/// A fused graph and the graph that it is the fused form of.
struct fusion {
  const model::graph* fused = nullptr;
  const model::graph* unfused = nullptr;
  std::vector<int> owner; ///< of each node of the unfused graph: the fused node that it is part of

  /// True for a node that is another layer than its one part, or has several.
  bool differs(std::size_t node) const {
    const model::node& n = fused->nodes[node];
    if (n.parts.size() != 1) return true;
    const int part = unfused->nodes[detail::at(n.parts[0])].layer;
    if (n.layer == model::no_layer || part == model::no_layer) return n.layer != part;
    return fused->layers[detail::at(n.layer)] != unfused->layers[detail::at(part)];
  }
  /// True for a node of which nothing moves, so that it takes no time as one.
  bool is_view(std::size_t node) const {
    const int l = fused->nodes[node].layer;
    return l != model::no_layer && op::is_view(fused->layers[detail::at(l)]);
  }

  /// The same result, of the fused graph, as one of the unfused graph.
  model::operand unfused_result(model::operand o) const {
    if (o.node < 0) return o;
    const auto node = static_cast<std::size_t>(o.node);
    const std::vector<int>& parts = fused->nodes[node].parts;
    if (o.output == 1 && shows_sum(node)) return {parts.front(), 0, o.codes};
    o.node = parts.back();
    return o;
  }
  /// True for a node whose first part is an addition of which the sum is its second result.
  bool shows_sum(std::size_t node) const {
    const int l = fused->nodes[node].layer;
    return l != model::no_layer && op::shows_sum(fused->layers[detail::at(l)]);
  }

  /// What a fused node takes as one and as its parts, given what each node of the two graphs takes;
  /// infinite where a layer of it has no time.
  std::pair<double, double> times(std::size_t node, const std::vector<double>& own_ns,
                                  const std::vector<double>& part_ns) const {
    double parts = 0;
    for (int p : fused->nodes[node].parts)
      parts += part_ns[detail::at(p)];
    return {own_ns[node], parts};
  }

  /// The sum over all nodes, each as one or as its parts.
  double sequential(const std::vector<double>& own_ns, const std::vector<double>& part_ns) const {
    double sum = 0;
    for (std::size_t i = 0; i < fused->nodes.size(); ++i) {
      const auto [own, parts] = times(i, own_ns, part_ns);
      sum += std::min(own, parts);
    }
    return sum;
  }

  /// The longest path through the fused graph if every node ends as early as it can, as one or as
  /// its parts: a part that waits for one operand does not hold up the others, as a fused layer
  /// does, nor those who read what it makes.
  path longest(const std::vector<double>& own_ns, const std::vector<double>& part_ns) const {
    const std::size_t n = fused->nodes.size();
    std::vector<double> ends(n, 0), part_ends(unfused->nodes.size(), 0);
    std::vector<int> before(n, -1), part_before(unfused->nodes.size(), -1);
    const auto later = [](double ns, int from, double& start, int& wait) {
      if (wait >= 0 && ns <= start) return;
      start = std::max(start, ns);
      wait = from;
    };
    // A part that others read may end before the fused node does.
    const auto end_of = [&](int part) {
      const auto its = detail::at(owner[detail::at(part)]);
      return std::min(ends[its], part_ends[detail::at(part)]);
    };
    for (std::size_t i = 0; i < n; ++i) {
      double start = 0;
      for (const model::operand& o : model::known_operands(fused->nodes[i]))
        if (o.node >= 0) later(end_of(unfused_result(o).node), o.node, start, before[i]);
      ends[i] = start + own_ns[i];

      double all_ends = 0;
      int all_before = -1;
      for (int part : fused->nodes[i].parts) {
        const auto p = detail::at(part);
        double begin = 0;
        int wait = -1; // the fused node outside that it waits for in the end
        for (int from : unfused->nodes[p].inputs) {
          const auto f = detail::at(from);
          if (owner[f] == static_cast<int>(i))
            later(part_ends[f], part_before[f], begin, wait);
          else
            later(end_of(from), owner[f], begin, wait);
        }
        part_ends[p] = begin + part_ns[p];
        part_before[p] = wait;
        if (part_ends[p] >= all_ends) {
          all_ends = part_ends[p];
          all_before = wait;
        }
      }
      if (all_ends < ends[i]) {
        ends[i] = all_ends;
        before[i] = all_before;
      }
    }
    return path_to_last(ends, before);
  }
};

/// Pairs a fused graph with its unfused one. Refuses parts that do not fit: each node of the
/// unfused graph has to be a part of one fused node, and read nothing that comes after that.
inline fusion pair_up(const model::graph& fused, const model::graph& unfused) {
  fusion out{&fused, &unfused, std::vector<int>(unfused.nodes.size(), -1)};
  const auto refuse = [&](const std::string& what) {
    throw error(what, fused.name, "generate the models again");
  };
  for (std::size_t i = 0; i < fused.nodes.size(); ++i) {
    const std::vector<int>& parts = fused.nodes[i].parts;
    if (parts.empty() || !std::is_sorted(parts.begin(), parts.end()))
      refuse("a fused node has no parts, or not in their order");
    for (int p : parts) {
      if (p < 0 || p >= static_cast<int>(unfused.nodes.size()) ||
          std::exchange(out.owner[detail::at(p)], static_cast<int>(i)) != -1)
        refuse("a node of the unfused graph is part of two fused nodes, or not there");
    }
  }
  for (std::size_t u = 0; u < unfused.nodes.size(); ++u) {
    if (out.owner[u] < 0) refuse("a node of the unfused graph is part of no fused one");
    for (int from : unfused.nodes[u].inputs)
      if (out.owner[detail::at(from)] > out.owner[u])
        refuse("a fused node comes before one that its parts read");
  }
  return out;
}

} // namespace benanza::bound
