// SPDX-License-Identifier: Apache-2.0
// How long does a model take if its layers run one after the other? The sum over all nodes: the
// sequential lower bound of Benanza (IPDPS 2020). Layers are timed apart, so the sum is "unfused":
// a framework that runs two layers as one can beat it.
//
//   double ns = sequential(counts(graph), layer_ns);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace benanza::bound {

/// The sum of what the layers take, each as often as nodes use it.
inline double sequential(const std::vector<std::int64_t>& counts,
                         const std::vector<double>& layer_ns) {
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    sum += static_cast<double>(counts[i]) * layer_ns[i];
  return sum;
}

} // namespace benanza::bound
