// SPDX-License-Identifier: Apache-2.0
// What does any set of a model's nodes take by the best that was measured? Fused where all parts of
// a fused layer are in the set, and that is faster. Times in ns.
//
//   work_table work(model);   work.take({3, 4, 5}, point_times(model.layers).prediction)
#pragma once

#include "../bound/figures.hpp"

#include <range/v3/algorithm/all_of.hpp>

#include <cstddef>
#include <map>
#include <vector>

namespace benanza::advice::detail {

/// What the model's nodes take by the best that was measured, for any set of nodes.
class work_table {
public:
  explicit work_table(const bound::model_bound& b)
      : b_(b) {}

  /// What a set of nodes takes, fused where all parts of a fused layer are in it. `layer_ns` is of
  /// each of b.layers.
  double take(const std::vector<int>& nodes, const std::vector<double>& layer_ns) const {
    double sum = 0;
    for (const auto& [layer, fused, count] : pieces(nodes, layer_ns))
      sum += static_cast<double>(count) * layer_ns[layer];
    return sum;
  }

  /// True if everything that the nodes do has a time.
  bool known(const std::vector<int>& nodes) const {
    return ranges::all_of(nodes, [&](int n) {
      const int l = b_.graph->nodes[bound::detail::at(n)].layer;
      return (l != model::no_layer && b_.layers[bound::detail::at(l)].known()) || in_known_group(n);
    });
  }

  /// The layer that takes most of a set of nodes; null: none has a time.
  const bound::layer_answer* main_layer(const std::vector<int>& nodes,
                                        const std::vector<double>& layer_ns) const {
    const bound::layer_answer* best = nullptr;
    double most = -1;
    for (const piece& p : pieces(nodes, layer_ns))
      if (layer_ns[p.layer] > most) {
        most = layer_ns[p.layer];
        best = &b_.layers[p.layer];
      }
    return best;
  }

private:
  struct piece {
    std::size_t layer = 0; ///< of b.layers
    bool fused = false;
    int count = 1;
  };

  bool in_known_group(int node) const {
    if (!b_.fused) return false;
    const int owner = b_.fused->pair.owner[bound::detail::at(node)];
    const model::node& f = b_.fused->graph->nodes[bound::detail::at(owner)];
    return f.layer != model::no_layer &&
           b_.layers[b_.fused->layers[bound::detail::at(f.layer)]].known();
  }

  std::vector<piece> pieces(const std::vector<int>& nodes,
                            const std::vector<double>& layer_ns) const {
    std::vector<piece> out;
    std::map<int, std::vector<int>> groups; // by the fused node
    for (int n : nodes)
      groups[b_.fused ? b_.fused->pair.owner[bound::detail::at(n)] : -1 - n].push_back(n);
    for (const auto& [owner, inside] : groups) {
      double parts_ns = 0;
      bool parts_known = true;
      std::vector<piece> parts;
      for (int n : inside) {
        const int l = b_.graph->nodes[bound::detail::at(n)].layer;
        const bool known = l != model::no_layer && b_.layers[bound::detail::at(l)].known();
        parts_known = parts_known && known;
        if (!known) continue;
        parts.push_back({static_cast<std::size_t>(l)});
        parts_ns += layer_ns[bound::detail::at(l)];
      }
      if (owner >= 0) {
        const auto f = bound::detail::at(owner);
        const model::node& node = b_.fused->graph->nodes[f];
        if (node.layer != model::no_layer && node.parts.size() == inside.size() &&
            b_.fused->pair.differs(f)) {
          const std::size_t l = b_.fused->layers[bound::detail::at(node.layer)];
          const bound::layer_answer& a = b_.layers[l];
          if ((a.timed() || b_.fused->pair.is_view(f)) &&
              (!parts_known || layer_ns[l] <= parts_ns)) {
            out.push_back({l, true});
            continue;
          }
        }
      }
      out.insert(out.end(), parts.begin(), parts.end());
    }
    return out;
  }

  const bound::model_bound& b_;
};

} // namespace benanza::advice::detail
