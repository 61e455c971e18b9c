// SPDX-License-Identifier: Apache-2.0
// What did the events of levels cost? A line a model: its time without any, what the events of
// layers and of calls add to it, and what the layers add up to.
//
//   level_lines(groups)   // {"lenet@batch=1 f32 t1: model 24.1 us; events of layers 0.6 us ..."}
#pragma once

#include "../measure/levels/level.hpp"
#include "../measure/subjects/subject.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace benanza::bench {

namespace detail {
inline std::string level_line(const std::vector<const result::measurement*>& levels) {
  const result::measurement& whole = *levels.front();
  char text[160];
  std::snprintf(text, sizeof text, ": model %.1f us", whole.median_ns * 1e-3);
  std::string out = whole.key + ' ' + whole.type + " t" + std::to_string(whole.threads) + text;
  for (std::size_t i = 1; i < levels.size(); ++i) {
    const double added = levels[i]->median_ns - levels[i - 1]->median_ns;
    std::snprintf(text, sizeof text, "; events of %ss %+.1f us (%+.1f %%)",
                  i == 1 ? "layer" : "call", added * 1e-3, 100 * added / levels[i - 1]->median_ns);
    out += text;
  }
  if (levels.size() < 2) return out;
  double layers_ns = 0;
  for (const timed_part& layer : levels[1]->parts)
    layers_ns += layer.ns;
  std::snprintf(text, sizeof text, "; layers add up to %.1f %%", 100 * layers_ns / whole.median_ns);
  return out + text;
}
} // namespace detail

/// A line for each group whose levels were measured, in their first pass.
template <class Groups>
std::vector<std::string> level_lines(const Groups& groups) {
  std::vector<std::string> out;
  for (const measure::group& g : groups) {
    std::vector<const result::measurement*> levels;
    for (const measure::bench_case& c : g.cases) {
      if (measure::level_of(c.algorithm.id) == measure::level::none) continue;
      if (c.results.empty() || !c.results[0].error.empty() || c.results[0].median_ns <= 0) break;
      levels.push_back(&c.results[0]);
    }
    if (!levels.empty() && levels.front()->algorithm == result::model_level)
      out.push_back(detail::level_line(levels));
  }
  return out;
}

} // namespace benanza::bench
