// SPDX-License-Identifier: Apache-2.0
// What is saved by choosing an algorithm for each layer, in place of the one that its library lists
// first? For a whole model that runs one layer after the other, with an interval, and layer by
// layer, the largest gain first. Times in ns.
//
//   figure g = algorithm_gain(model);   for (const layer_answer* l : by_gain(model)) gain_ns(*l)
//   ...
#pragma once

#include "../bound/figures.hpp"
#include "../bound/layer_times.hpp"
#include "ranking.hpp"

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace benanza::advice {

/// What the chosen algorithm saves over the library's first choice, in one use of the layer; zero
/// where they are the same.
inline double gain_of_one_ns(const bound::layer_answer& l) {
  const bound::choice& c = l.algorithms;
  return bound::chose_first(c) ? 0 : c.first_choice.ns - c.prediction.ns;
}

/// The same in all uses of the layer in the unfused form.
inline double gain_ns(const bound::layer_answer& l) {
  return static_cast<double>(l.uses) * gain_of_one_ns(l);
}

/// The nodes of the unfused graph behind each use of each of `b.layers` in the fused form, which
/// runs a group as one or as its parts, or else in the only one.
inline std::vector<std::vector<std::vector<int>>> nodes_as_fused(const bound::model_bound& b) {
  std::vector<std::vector<std::vector<int>>> out(b.layers.size());
  const std::vector<model::node>& nodes = b.graph->nodes;
  const auto alone = [&](int n) {
    if (const int l = nodes[static_cast<std::size_t>(n)].layer; l != model::no_layer)
      out[static_cast<std::size_t>(l)].push_back({n});
  };
  if (!b.fused) {
    for (std::size_t n = 0; n < nodes.size(); ++n)
      alone(static_cast<int>(n));
    return out;
  }
  for (std::size_t i = 0; i < b.fused->graph->nodes.size(); ++i) {
    const model::node& n = b.fused->graph->nodes[i];
    if (n.parts.size() > 1 && b.fused->as_one[i] != 0) {
      if (n.layer != model::no_layer)
        out[b.fused->layers[static_cast<std::size_t>(n.layer)]].push_back(n.parts);
    } else {
      for (int part : n.parts)
        alone(part);
    }
  }
  return out;
}

/// How often each of `b.layers` runs so.
inline std::vector<std::int64_t> uses_as_fused(const bound::model_bound& b) {
  std::vector<std::int64_t> out;
  for (const auto& uses : nodes_as_fused(b))
    out.push_back(std::ssize(uses));
  return out;
}

/// Layers at which another algorithm than the library's first choice wins, the largest gain first.
inline std::vector<const bound::layer_answer*> by_gain(const bound::model_bound& b) {
  return ranked(b.layers, gain_ns);
}

/// What the chosen algorithms of all layers save over the first choices.
inline bound::figure algorithm_gain(const bound::model_bound& b) {
  const std::vector<std::int64_t> uses = model::counts(*b.graph);
  const auto gain = [&uses](const bound::layer_times& t) {
    return bound::sequential(uses, t.first) - bound::sequential(uses, t.prediction);
  };
  const std::vector<bound::layer_times> redrawn = bound::redrawn_times(b.layers);
  return bound::between(redrawn | ranges::views::transform(gain) | ranges::to<std::vector>,
                        gain(bound::point_times(b.layers)));
}

} // namespace benanza::advice
