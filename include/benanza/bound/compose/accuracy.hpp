// SPDX-License-Identifier: Apache-2.0
// How good is what was put together, and what did it save? For each model n = constructed /
// measured; over models the geometric mean, which errors of both signs leave at 1, and so also the
// mean absolute error and the worst. The saving s is what the models take over what the unique
// sequences take, each once (DLBricks, ICPE 2020).
//
//   accuracy a = accuracy_of({{"resnet50", 1.02}, {"vgg16", 0.97}});   a.mean_absolute   // 0.025
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace benanza::bound {

struct accuracy {
  std::size_t models = 0;
  double geometric_mean = 0; ///< 0: there are no models
  double mean_absolute = 0;  ///< of n - 1
  std::string worst{};       ///< the model that is furthest off
  double worst_n = 0;
  std::size_t within_5 = 0, within_10 = 0; ///< percent
};

/// The accuracy of the n of some models.
inline accuracy accuracy_of(const std::vector<std::pair<std::string, double>>& n_of_models) {
  accuracy out{.models = n_of_models.size()};
  if (n_of_models.empty()) return out;
  double logs = 0;
  for (const auto& [name, n] : n_of_models) {
    const double off = std::abs(n - 1);
    logs += std::log(n);
    out.mean_absolute += off;
    if (out.worst.empty() || off > std::abs(out.worst_n - 1)) {
      out.worst = name;
      out.worst_n = n;
    }
    out.within_5 += off <= 0.05;
    out.within_10 += off <= 0.1;
  }
  const auto count = static_cast<double>(n_of_models.size());
  out.geometric_mean = std::exp(logs / count);
  out.mean_absolute /= count;
  return out;
}

/// Measuring time: of whole models, and of the unique sequences in their place.
struct saving {
  double models_ns = 0, sequences_ns = 0;
  double times() const { return sequences_ns > 0 ? models_ns / sequences_ns : 0; }
};

} // namespace benanza::bound
