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

#include <cstdint>
#include <vector>

namespace benanza::advice {

/// What the chosen algorithm saves over the library's first choice, in all uses of the layer; zero
/// where they are the same.
inline double gain_ns(const bound::layer_answer& l) {
  const bound::choice& c = l.algorithms;
  if (bound::chose_first(c)) return 0;
  return static_cast<double>(l.uses) * (c.first_choice.ns - c.prediction.ns);
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
