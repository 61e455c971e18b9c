// SPDX-License-Identifier: Apache-2.0
// How far is a framework's run from the lower bound? Its gap: the median of its runs over the bound
// of the model; over several models the geometric mean. Intervals are of the samples, which are
// drawn again; they do not say what other models would give.
//
//   factor f = gap_of(comparison);   f.value == 1.7   mean_gap({&a, &b}).high
#pragma once

#include "item.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace benanza::advice {

/// A factor, and the interval in which it is in 95 of 100 redraws.
struct factor {
  double value = 0, low = 0, high = 0;
};

/// True for a run of which the whole time is known, of a model that has a bound.
inline bool has_gap(const comparison& c) {
  return c.latency.ns > 0 && c.model->has_bound();
}

/// The geometric mean of the gaps of some runs, which all have one.
inline factor mean_gap(const std::vector<const comparison*>& runs) {
  const auto n = static_cast<double>(runs.size());
  bound::generator random{13};
  double sum = 0;
  std::vector<double> drawn(bound::redraws, 0.0);
  for (const comparison* c : runs) {
    const bound::figure& least = c->model->best_form().bound.sequential;
    const std::vector<double> sorted =
        detail::ascending(c->latency_profiled ? c->from->profiled_ns : c->from->latency_ns);
    sum += std::log(c->latency.ns / least.ns);
    for (double& d : drawn)
      d += std::log(bound::redrawn_median(sorted, random) /
                    std::lerp(least.low_ns, least.high_ns, random.uniform()));
  }
  for (double& d : drawn)
    d = std::exp(d / n);
  const bound::figure out = bound::between(std::move(drawn), std::exp(sum / n));
  return {out.ns, out.low_ns, out.high_ns};
}

inline factor gap_of(const comparison& c) {
  return mean_gap({&c});
}

/// `ONNX Runtime 1.32.0`, with the settings that were chosen: it distinguishes runs of a model.
inline std::string run_title(const comparison& c) {
  std::string out = detail::framework_of(c);
  for (const auto& [key, value] : c.from->settings)
    out += ' ' + key + '=' + value;
  return out;
}

} // namespace benanza::advice
