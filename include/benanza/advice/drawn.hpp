// SPDX-License-Identifier: Apache-2.0
// How sure is a sum of many medians, or a difference of two? All samples are drawn again, as for
// the bounds (bound/interval.hpp). Times in ns.
//
//   drawn_total sum;   sum.add(samples, random);   sum.figure()   // {ns, low_ns, high_ns}
#pragma once

#include "../bound/interval.hpp"
#include "compared.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace benanza::advice::detail {
/// What the same redraws make of a difference of two sums.
inline bound::figure difference(const std::vector<double>& from, const std::vector<double>& to,
                                double point) {
  std::vector<double> drawn;
  for (std::size_t i = 0; i < from.size(); ++i)
    drawn.push_back(from[i] - to[i]);
  return bound::between(std::move(drawn), point);
}

/// A total with a value for each redraw.
struct drawn_total {
  double ns = 0;
  std::vector<double> drawn = std::vector<double>(bound::redraws, 0.0);

  /// In a redraw a profiler adds the same to all operators, while each loses another part of a step
  /// that is cut.
  void add(const std::vector<double>& samples, bound::generator& random,
           const profiler_cost& cost = {}) {
    if (samples.empty()) return;
    const std::vector<double> sorted = ascending(samples);
    ns += cost.taken(result::quantile(sorted, 0.5));
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      const double added = (static_cast<double>(i) + 0.5) / static_cast<double>(drawn.size());
      const double ns_drawn = bound::redrawn_median(sorted, random);
      drawn[i] += cost.taken(ns_drawn, added, cost.step_ns > 0 ? random.uniform() : 0.5);
    }
  }
  bound::figure figure() const { return bound::between(drawn, ns); }
  /// A figure of the model, whose redraws are not kept: they are drawn from its interval.
  static drawn_total of(const bound::figure& f) {
    drawn_total out{.ns = f.ns};
    bound::generator random{5};
    for (double& d : out.drawn)
      d = f.low_ns + random.uniform() * (f.high_ns - f.low_ns);
    return out;
  }
};

/// What is between two figures that do not share their samples, and never less than nothing.
inline bound::figure between_figures(const bound::figure& from, const bound::figure& to) {
  return {.ns = from.ns - to.ns,
          .low_ns = std::max(0.0, from.low_ns - to.high_ns),
          .high_ns = from.high_ns - to.low_ns};
}
} // namespace benanza::advice::detail
