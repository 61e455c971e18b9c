// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include <benanza/bound/layer_times.hpp>
#include <benanza/model/training_parts.hpp>
#include <range/v3/view/zip.hpp>

#include <vector>

namespace benanza::report {

std::optional<step_times> step_times_of(const bound::model_bound& b) {
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
