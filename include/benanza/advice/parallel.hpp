// SPDX-License-Identifier: Apache-2.0
// What does running branches side by side win? Only what a run of the model so has won over one in
// order: what the longest path promises, caches and memory that are shared may take back.
//
//   advice_of_kind a = parallel_advice(grounds);
#pragma once

#include "item.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace benanza::advice {

namespace detail {
/// The undisturbed run of the form that should run, in order or side by side; null: there is none.
inline const bound::measurement* chain_of(const bound::model_bound& b, bool side_by_side) {
  for (const bound::chain_run& w : b.runs)
    if (w.run->disturbed.empty() && w.fused == b.fused.has_value() &&
        w.side_by_side() == side_by_side)
      return w.run;
  return nullptr;
}
} // namespace detail

/// Advice on branches that could run at the same time.
inline advice_of_kind parallel_advice(const grounds& g) {
  advice_of_kind out;
  const bound::form_figures& form = g.model.fastest_form();
  const double all = form.prediction.sequential.ns, path = form.prediction.parallel.ns;
  if (all <= 0) return out;
  if (path > (1 - least_parallel) * all) {
    out.not_worth.push_back({"parallel",
                             "every layer waits for the one before: there is nothing to run side "
                             "by side",
                             "branches side by side (there are none)"});
    return out;
  }
  const std::string framework = g.framework == nullptr ? "" : g.framework->from->framework;
  const std::string workers = fmt::format("{} workers of {} thread{}", g.model.workers,
                                          g.model.threads, g.model.threads == 1 ? "" : "s");
  const bound::measurement *in_order = detail::chain_of(g.model, false),
                           *beside = detail::chain_of(g.model, true);
  if (beside == nullptr || in_order == nullptr) {
    if (g.model.workers <= 1) return out;
    std::vector<setting> set =
        settings_for(lever::branches, framework, std::to_string(g.model.workers));
    for (const setting& s : settings_for(lever::threads, set.empty() ? "-" : framework,
                                         std::to_string(g.model.threads)))
      set.push_back(s);
    out.not_measured.push_back(
        {"parallel",
         fmt::format("branches side by side on {}: the longest path takes {} of {}", workers,
                     detail::time_text(path), detail::time_text(all)),
         g.framework != nullptr && !set.empty()
             ? detail::measure_command(*g.framework, g.model.workers * g.model.threads, set)
             : ""});
    return out;
  }
  const double wins = in_order->median_ns - beside->median_ns;
  const double noise = in_order->mad_ns + beside->mad_ns;
  const std::string row =
      fmt::format("the chain of the best kernels takes {} in order, and {} side by side",
                  detail::time_text(in_order->median_ns), detail::time_text(beside->median_ns));
  if (wins <= noise) {
    out.not_worth.push_back(
        {"parallel", "branches side by side: " + row, "branches side by side (measured: nothing)"});
    return out;
  }
  item one{.id = "parallel/branches", .kind = "parallel"};
  one.what = "branches side by side, as the chain of the best kernels was run";
  one.saves = {.ns = wins, .low_ns = wins - noise, .high_ns = wins + noise};
  one.evidence = {row};
  one.assumes = "a framework wins by it what the chain wins";
  one.how =
      detail::by_makers(g, "run branches side by side",
                        detail::who_is_asked(g) + " has to run branches at the same time", {row});
  one.check = fmt::format("benanza_analyze RESULT --model {} --workers {}",
                          bound::shell_word(g.model.graph->model), g.model.workers);
  out.items.push_back(std::move(one));
  return out;
}

} // namespace benanza::advice
