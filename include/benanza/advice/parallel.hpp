// SPDX-License-Identifier: Apache-2.0
// What does running branches side by side win, and which batch gives most? From what was measured:
// the longest path against the sum, and the same model at other batches.
//
//   advice_of_kind a = parallel_advice(grounds), b = batch_advice(grounds);
#pragma once

#include "item.hpp"

#include <fmt/format.h>
#include <range/v3/algorithm/max_element.hpp>
#include <range/v3/algorithm/sort.hpp>

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace benanza::advice {

/// Advice on branches that could run at the same time.
inline advice_of_kind parallel_advice(const grounds& g) {
  advice_of_kind out;
  const bound::form_figures& form = g.model.fastest_form();
  const double all = form.prediction.sequential.ns, path = form.prediction.parallel.ns;
  if (all <= 0) return out;
  if (path > (1 - least_parallel) * all) {
    out.not_worth.push_back({"parallel", "every layer waits for the one before: there is nothing "
                                         "to run side by side"});
    return out;
  }
  if (g.model.workers <= 1) {
    out.not_worth.push_back(
        {"parallel",
         fmt::format("branches could run side by side (the longest path takes {} of "
                     "{}), but no core is left for them at {} threads a layer",
                     detail::time_text(path), detail::time_text(all), g.model.threads)});
    return out;
  }
  if (g.framework != nullptr && g.framework->from->threads != 0 &&
      g.framework->from->threads < g.model.workers * g.model.threads) {
    out.not_worth.push_back(
        {"parallel",
         fmt::format("branches side by side on {} workers would save {}; the "
                     "framework was given {} {} only",
                     g.model.workers, detail::time_text(all - form.prediction.reachable.ns),
                     g.framework->from->threads,
                     g.framework->from->threads == 1 ? "thread" : "threads")});
    return out;
  }
  const double reach = form.prediction.reachable.ns;
  const std::set<int> on_path(form.prediction.longest.nodes.begin(),
                              form.prediction.longest.nodes.end());
  item one{.id = "parallel/branches", .kind = "parallel"};
  one.what = fmt::format("run branches side by side on {} workers of {} {}", g.model.workers,
                         g.model.threads, g.model.threads == 1 ? "thread" : "threads");
  one.saves = {.ns = all - reach,
               .low_ns = std::max(0.0, form.prediction.sequential.low_ns -
                                           form.prediction.reachable.high_ns),
               .high_ns = form.prediction.sequential.high_ns - form.prediction.reachable.low_ns};
  one.evidence = {fmt::format("one after the other {}, the longest path {}, on {} workers {}",
                              detail::time_text(all), detail::time_text(path), g.model.workers,
                              detail::time_text(reach))};
  one.assumes = "layers side by side take no longer than alone: they share caches and memory";
  one.check = fmt::format("benanza_analyze RESULT --model {} --workers {}",
                          bound::shell_word(g.model.graph->model), g.model.workers);
  out.items.push_back(std::move(one));
  return out;
}

/// One batch of a model: what a run of it should take.
struct batch_point {
  std::int64_t batch = 1;
  double ns = 0, low_ns = ns, high_ns = ns;
  double items_per_s() const { return 1e9 * static_cast<double>(batch) / ns; }
};

/// What was measured of the same model at all batches, in its type and on its threads, ascending.
inline std::vector<batch_point> batches_of(const grounds& g) {
  std::vector<batch_point> out;
  for (const bound::model_bound* one : g.others) {
    const bound::model_bound& b = *one;
    if (b.graph->model != g.model.graph->model || b.type != g.model.type ||
        b.threads != g.model.threads || b.partial() || !b.graph->unfused.empty())
      continue;
    const auto expected = bound::expected(b.fastest_form());
    if (expected && expected->ns > 0)
      out.push_back({b.graph->batch, expected->ns, expected->low_ns, expected->high_ns});
  }
  ranges::sort(out, ranges::less{}, &batch_point::batch);
  return out;
}

/// Doubling a batch that wins less than this share of items a second does not pay.
inline constexpr double least_gain_of_doubling = 0.05;

/// The smallest batch from which on doubling pays no more; nothing: one batch was measured.
inline std::optional<batch_point> best_batch(const std::vector<batch_point>& all) {
  if (all.size() < 2) return std::nullopt;
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    if (all[i + 1].items_per_s() < (1 + least_gain_of_doubling) * all[i].items_per_s())
      return all[i];
  return all.back();
}

/// The batch with most items a second of those that take no longer than `limit_ns`; nothing: none
/// does.
inline std::optional<batch_point> best_within(const std::vector<batch_point>& all,
                                              double limit_ns) {
  std::optional<batch_point> out;
  for (const batch_point& p : all)
    if (p.ns <= limit_ns && (!out || p.items_per_s() > out->items_per_s())) out = p;
  return out;
}

/// Advice on the batch.
inline advice_of_kind batch_advice(const grounds& g) {
  advice_of_kind out;
  const std::vector<batch_point> all = batches_of(g);
  const std::optional<batch_point> best = best_batch(all);
  if (!best) return out;
  const auto own = std::find_if(all.begin(), all.end(), [&](const batch_point& p) {
    return p.batch == g.model.graph->batch;
  });
  if (own == all.end()) return out;
  std::vector<std::string> rows;
  for (const batch_point& p : all)
    rows.push_back(fmt::format("batch {}: {} a run, {:.1f} items a second", p.batch,
                               detail::time_text(p.ns), p.items_per_s()));
  if (g.latency_limit_ns > 0) {
    const std::optional<batch_point> within = best_within(all, g.latency_limit_ns);
    out.not_worth.push_back(
        {"batch", within ? fmt::format("within {} batch {} gives most, {:.1f} items a second",
                                       detail::time_text(g.latency_limit_ns), within->batch,
                                       within->items_per_s())
                         : fmt::format("no batch that was measured takes less than {}",
                                       detail::time_text(g.latency_limit_ns))});
  }
  if (best->batch <= own->batch || best->items_per_s() <= own->items_per_s()) {
    out.not_worth.push_back(
        {"batch", fmt::format("from batch {} on doubling it wins less than {:.0f} % items a second",
                              best->batch, 100 * least_gain_of_doubling)});
    return out;
  }
  // What as many items take in such batches.
  const double share = static_cast<double>(own->batch) / static_cast<double>(best->batch);
  out.items.push_back(
      {.id = "batch/" + std::to_string(best->batch),
       .kind = "batch",
       .what = fmt::format("where latency may grow to {}, run batches of {}: {:.0f} items a "
                           "second in place of {:.0f}",
                           detail::time_text(best->ns), best->batch, best->items_per_s(),
                           own->items_per_s()),
       .saves =
           detail::between_figures({own->ns, own->low_ns, own->high_ns},
                                   {share * best->ns, share * best->low_ns, share * best->high_ns}),
       .evidence = std::move(rows),
       .assumes = "items come fast enough to fill a batch",
       .check = fmt::format("scripts/measure_framework onnxruntime {} --batch {}",
                            bound::shell_word(g.model.graph->model + ".onnx"), best->batch)});
  return out;
}

} // namespace benanza::advice
