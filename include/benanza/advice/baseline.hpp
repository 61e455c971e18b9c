// SPDX-License-Identifier: Apache-2.0
// From which run do changes start? From what a framework really ran; without one, from a run that
// was not made: the fused form by what the libraries choose first. Every share of a page is of this
// one run. Times in ns.
//
//   baseline run = baseline_of(model, framework);   run.ns   run.supposed
#pragma once

#include "algorithm.hpp"
#include "comparison.hpp"

#include <range/v3/view/zip.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace benanza::advice {

/// The run that changes start from.
struct baseline {
  double ns = 0;
  bool supposed = false; ///< it was not run
};

namespace detail {
/// True for kernels that a user's framework can have: those of a library, not our plain loops.
inline bool of_a_library(const bound::measurement& m) {
  return m.fallback.empty() && m.backend.substr(0, m.backend.find('-')) != "host";
}

/// What another algorithm than its library's first choice saves in one use of a layer; zero where
/// no library would be asked.
inline double library_gain_ns(const bound::layer_answer& l) {
  const bound::choice& c = l.algorithms;
  if (c.first == nullptr || c.chosen == nullptr) return 0;
  return of_a_library(*c.first) && of_a_library(*c.chosen) ? gain_of_one_ns(l) : 0;
}
} // namespace detail

/// What the best algorithms save over the libraries' first choices, in the form that should run.
inline bound::figure first_choice_gain(const bound::model_bound& b) {
  bound::figure out;
  double noise = 0;
  const std::vector<std::int64_t> uses = uses_as_fused(b);
  for (const auto& [l, n] : ranges::views::zip(b.layers, uses)) {
    if (!l.known()) continue;
    const double gain = static_cast<double>(n) * detail::library_gain_ns(l);
    if (gain <= 0) continue;
    out.ns += gain;
    noise += static_cast<double>(n) * (l.algorithms.first->mad_ns + l.algorithms.chosen->mad_ns);
  }
  out.low_ns = std::max(0.0, out.ns - noise);
  out.high_ns = out.ns + noise;
  return out;
}

/// At how many layers a library's first choice is near the best algorithm that was measured.
struct first_choices {
  int layers = 0; ///< whose first choice was timed
  int within_2_percent = 0, within_5_percent = 0;
};

inline first_choices first_choices_of(const bound::model_bound& b) {
  first_choices out;
  for (const bound::layer_answer& l : b.layers) {
    const bound::choice& c = l.algorithms;
    if (!l.known() || c.first == nullptr || !detail::of_a_library(*c.first)) continue;
    const double times = bound::chose_first(c) ? 1 : c.first_choice.ns / c.prediction.ns;
    ++out.layers;
    out.within_2_percent += times <= 1.02 ? 1 : 0;
    out.within_5_percent += times <= 1.05 ? 1 : 0;
  }
  return out;
}

/// What a run of that form takes by the libraries' first choices.
inline double by_first_choices_ns(const bound::model_bound& b) {
  const bound::form_figures& form = b.fastest_form();
  return bound::expected(form).value_or(form.prediction.sequential).ns + first_choice_gain(b).ns;
}

inline baseline baseline_of(const bound::model_bound& b, const comparison* framework) {
  if (framework != nullptr && framework->latency.ns > 0) return {.ns = framework->latency.ns};
  return {.ns = by_first_choices_ns(b), .supposed = true};
}

} // namespace benanza::advice
