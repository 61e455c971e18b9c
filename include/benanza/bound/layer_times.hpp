// SPDX-License-Identifier: Apache-2.0
// What does each layer of a model take, by its bound, by its prediction, and by the library's first
// choice? At the point estimates, and for each redraw of all layers' samples: the same redraws at
// every call, so that figures that are made of them can be compared. Times in ns.
//
//   for (const layer_times& t : redrawn_times(layers)) ...   // t.bound[3]
#pragma once

#include "answers.hpp"
#include "interval.hpp"

#include <cstddef>
#include <vector>

namespace benanza::bound {

/// A time of each layer.
struct layer_times {
  std::vector<double> bound, prediction, first;
};

/// True where the first choice is the chosen one, or was not measured.
inline bool chose_first(const choice& c) {
  return c.first == nullptr || c.first == c.chosen;
}

/// The times that are reported; zero of layers without one.
inline layer_times point_times(const std::vector<layer_answer>& layers) {
  layer_times out;
  for (const layer_answer& l : layers) {
    const choice& c = l.algorithms;
    out.bound.push_back(c.bound.ns);
    out.prediction.push_back(c.prediction.ns);
    out.first.push_back(chose_first(c) ? c.prediction.ns : c.first_choice.ns);
  }
  return out;
}

/// The least times where Winograds that are less exact than the type run too.
inline std::vector<double> times_with_winograd(const std::vector<layer_answer>& layers) {
  std::vector<double> out;
  for (const layer_answer& l : layers)
    out.push_back(l.winograd != nullptr ? l.winograd->min_ns : l.algorithms.bound.ns);
  return out;
}

/// Each redraw of the samples of all layers; others have the time that is reported.
inline std::vector<layer_times> redrawn_times(const std::vector<layer_answer>& layers) {
  std::vector<layer_times> out(redraws, point_times(layers));
  generator random{1};
  for (layer_times& t : out)
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (!layers[i].timed()) continue;
      const choice& c = layers[i].algorithms;
      t.bound[i] = redrawn_minimum(c.bound.sorted_ns, random);
      t.prediction[i] = redrawn_median(c.prediction.sorted_ns, random);
      t.first[i] =
          chose_first(c) ? t.prediction[i] : redrawn_median(c.first_choice.sorted_ns, random);
    }
  return out;
}

} // namespace benanza::bound
