// SPDX-License-Identifier: Apache-2.0
// Can a model be judged by this run? Not if disturbed measurements carry more than a twentieth of
// its bound or of its prediction: its figures are then shown, marked, and say what to do, but give
// no verdict. Shares are of the sequential sums.
//
//   verdict v = judge(layers);   if (!v.unmeasurable.empty()) ...   // and exit status 1
#pragma once

#include "answers.hpp"

#include <range/v3/algorithm/max_element.hpp>
#include <range/v3/view/filter.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace benanza::bound {

/// The share of a sum that may rest on disturbed measurements.
inline constexpr double most_disturbed = 0.05;

/// How much of a model's figures rests on disturbed measurements.
struct verdict {
  double bound_share = 0, prediction_share = 0;
  std::string unmeasurable{}; ///< why there is no verdict, and what to do; empty: there is one
};

/// The verdict on a model whose layers are `layers`.
inline verdict judge(const std::vector<layer_answer>& layers) {
  verdict out;
  double bound = 0, prediction = 0;
  std::map<std::string, double> reasons; // by what they carry, in ns
  const auto add = [&](const measurement* m, double ns, double& sum, double& share) {
    sum += ns;
    if (m == nullptr || m->disturbed.empty()) return;
    share += ns;
    reasons[m->disturbed] += ns;
  };
  for (const layer_answer& l : layers | ranges::views::filter(&layer_answer::timed)) {
    const auto uses = static_cast<double>(l.uses);
    const choice& c = l.algorithms;
    add(c.best, uses * c.bound.ns, bound, out.bound_share);
    const bool warmer_disturbed = c.chosen_warmer != nullptr && !c.chosen_warmer->disturbed.empty();
    add(warmer_disturbed ? c.chosen_warmer : c.chosen, uses * c.prediction.ns, prediction,
        out.prediction_share);
  }
  if (bound > 0) out.bound_share /= bound;
  if (prediction > 0) out.prediction_share /= prediction;
  if (std::max(out.bound_share, out.prediction_share) <= most_disturbed) return out;

  const auto worst = ranges::max_element(reasons, ranges::less{},
                                         [](const auto& reason) { return reason.second; });
  char text[160];
  std::snprintf(text, sizeof text,
                "%.0f %% of the bound and %.0f %% of the prediction rest on disturbed "
                "measurements: ",
                100 * out.bound_share, 100 * out.prediction_share);
  out.unmeasurable = text + worst->first;
  return out;
}

} // namespace benanza::bound
