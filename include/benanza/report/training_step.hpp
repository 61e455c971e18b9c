// SPDX-License-Identifier: Apache-2.0
// What is the lower bound of a step of training made of? Products forward, their gradients by what
// they read, and those by weights (model/training.hpp).
//
//   if (const auto s = step_times_of(model)) s->by_weights_ns
#pragma once

#include "../bound/layer_times.hpp"
#include "../bound/model.hpp"
#include "../bound/paths.hpp"
#include "../model/training.hpp"

#include <optional>
#include <range/v3/view/zip.hpp>

namespace benanza::report {

struct step_times {
  double forward_ns = 0, by_activations_ns = 0, by_weights_ns = 0;
};

/// Nothing: the model is not a step of training.
inline std::optional<step_times> step_times_of(const bound::model_bound& b) {
  if (!model::is_training_step(*b.graph)) return std::nullopt;
  step_times out;
  const std::vector<double> all = bound::on_nodes(*b.graph, bound::point_times(b.layers).bound);
  for (const auto& [n, ns] : ranges::views::zip(b.graph->nodes, all)) {
    const model::step_part part = model::part_of(n);
    (part == model::step_part::forward      ? out.forward_ns
     : part == model::step_part::by_weights ? out.by_weights_ns
                                            : out.by_activations_ns) += ns;
  }
  return out;
}

} // namespace benanza::report
