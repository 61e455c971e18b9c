// SPDX-License-Identifier: Apache-2.0
// How much energy does a run of a model take? The sum over its layers, by the algorithms that a run
// should use, where all of them have one: a sum of only some of them would mean nothing. What
// changes of layout take is not in it. In nJ.
//
//   if (const layers_energy e = energy_of(model); e.whole()) ... e.nj
#pragma once

#include "../result/device.hpp"
#include "algorithm.hpp"

#include <range/v3/view/zip.hpp>

#include <cstdint>

namespace benanza::advice {

/// Of one execution in a run, at the power that its algorithm drew; 0: it is not known.
inline double energy_nj(const bound::layer_answer& l) {
  const bound::measurement* m = l.algorithms.chosen;
  return m != nullptr && m->median_ns > 0 ? m->energy_nj / m->median_ns * l.algorithms.prediction.ns
                                          : 0;
}

/// The energy of the layers of a run, and how many nodes have one.
struct layers_energy {
  double nj = 0, ns = 0; ///< of those that have one
  std::int64_t with = 0, nodes = 0;
  bool on_device = false; ///< a GPU's, else a processor's

  bool whole() const { return nodes > 0 && with == nodes; }
  double share() const {
    return nodes > 0 ? static_cast<double>(with) / static_cast<double>(nodes) : 0;
  }
};

inline layers_energy energy_of(const bound::model_bound& b) {
  layers_energy out;
  for (const model::node& n : b.graph->nodes)
    out.nodes += n.layer == model::no_layer; // nothing is known of it
  const std::vector<std::int64_t> all_uses = uses_as_fused(b);
  for (const auto& [l, uses] : ranges::views::zip(b.layers, all_uses)) {
    if (uses == 0 || l.rests_on == bound::basis::view) continue;
    out.nodes += uses;
    const double each = energy_nj(l);
    if (each <= 0) continue;
    out.with += uses;
    out.nj += static_cast<double>(uses) * each;
    out.ns += static_cast<double>(uses) * l.algorithms.prediction.ns;
    out.on_device = out.on_device || l.algorithms.chosen->device == result::gpu_device;
  }
  return out;
}

} // namespace benanza::advice
