// SPDX-License-Identifier: Apache-2.0
// Which batch gives most items, or tokens, a second? Of those that were measured: by the framework
// itself, or else by what its run, or the libraries' first choices, would take there.
//
//   advice_of_kind a = batch_advice(grounds);   a.items[0].id   // "batch/8"
#pragma once

#include "other_runs.hpp"

#include <fmt/format.h>
#include <range/v3/algorithm/find_if.hpp>
#include <range/v3/algorithm/sort.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::advice {

/// One batch of a model, and what a run of it takes.
struct batch_point {
  std::int64_t batch = 1;
  double ns = 0;
  other_run run{};
  double counted = 1; ///< of one item: a language model's tokens
  double per_s() const { return 1e9 * counted * static_cast<double>(batch) / ns; }
};

/// The same model at all batches, in its type and on its threads, ascending.
inline std::vector<batch_point> batches_of(const grounds& g) {
  std::vector<batch_point> out;
  for (const bound::model_bound* one : g.others) {
    const bound::model_bound& b = *one;
    if (b.graph->model != g.model.graph->model || b.graph->dims != g.model.graph->dims ||
        b.type != g.model.type || b.threads != g.model.threads || b.partial() ||
        !b.graph->unfused.empty())
      continue;
    if (auto run = run_in(g, b); run && run->takes.ns > 0)
      out.push_back({b.graph->batch, run->takes.ns, std::move(*run),
                     detail::count_of(*b.graph) / static_cast<double>(b.graph->batch)});
  }
  ranges::sort(out, ranges::less{}, &batch_point::batch);
  return out;
}

/// Doubling a batch that wins less than this share of its rate does not pay.
inline constexpr double least_gain_of_doubling = 0.05;

/// The smallest batch from which on doubling pays no more, of the doublings up to the next one that
/// was measured on average; the largest: it is not known whether more would pay. Nothing: one batch
/// was measured.
inline std::optional<batch_point> best_batch(const std::vector<batch_point>& all) {
  if (all.size() < 2) return std::nullopt;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    const batch_point &one = all[i], &next = all[i + 1];
    const double doublings =
        std::log2(static_cast<double>(next.batch) / static_cast<double>(one.batch));
    if (std::log2(next.per_s() / one.per_s()) < doublings * std::log2(1 + least_gain_of_doubling))
      return one;
  }
  return all.back();
}

/// The command that measures a model at twice a batch, in a setting as benanza_bench takes it and
/// at dims as benanza_generate does.
inline std::string larger_batch_command(const std::string& model, std::int64_t batch,
                                        const std::string& setting = {},
                                        const std::string& dims = {}) {
  return fmt::format("benanza_generate {} --batch {}{} --no-sources -o larger && benanza_bench "
                     "--graphs larger/graphs.json{} --benchmark_out=larger.json",
                     bound::shell_file(model + ".onnx"), 2 * batch, dims, setting);
}

/// The batch that gives most a second of those that take no longer than `limit_ns`; nothing: none
/// does.
inline std::optional<batch_point> best_within(const std::vector<batch_point>& all,
                                              double limit_ns) {
  std::optional<batch_point> out;
  for (const batch_point& p : all)
    if (p.ns <= limit_ns && (!out || p.per_s() > out->per_s())) out = p;
  return out;
}

/// Advice on the batch.
inline advice_of_kind batch_advice(const grounds& g) {
  advice_of_kind out;
  const std::vector<batch_point> all = batches_of(g);
  const std::optional<batch_point> best = best_batch(all);
  if (!best) return out;
  const auto own =
      ranges::find_if(all, [&](const batch_point& p) { return p.run.model == &g.model; });
  if (own == all.end()) return out;
  const batch_point& largest = all.back();
  const model::graph& graph = *g.model.graph;
  const std::string_view counted = detail::counted_in(graph);
  std::vector<std::string> rows;
  for (const batch_point& p : all)
    rows.push_back(fmt::format("{}, {:.1f} {} a second",
                               detail::row_of(g, p.run, fmt::format("batch {}", p.batch)),
                               p.per_s(), counted));
  if (g.latency_limit_ns > 0) {
    const std::optional<batch_point> within = best_within(all, g.latency_limit_ns);
    const std::string limit = detail::time_text(g.latency_limit_ns);
    out.not_worth.push_back(
        {"batch",
         within ? fmt::format("within {} batch {} gives most, {:.1f} {} a second", limit,
                              within->batch, within->per_s(), counted)
                : fmt::format("no batch that was measured takes less than {}", limit),
         within
             ? fmt::format("{} than batch {} (within {})",
                           within->batch == largest.batch ? "less" : "more", within->batch, limit)
             : fmt::format("any batch (none within {})", limit)});
  }
  if (best->batch == largest.batch && (g.latency_limit_ns <= 0 || largest.ns <= g.latency_limit_ns))
    out.not_measured.push_back(
        {"batch",
         fmt::format("batches of more than {}; up to there each doubling wins {:.0f} % {} a "
                     "second or more",
                     largest.batch, 100 * least_gain_of_doubling, counted),
         detail::in_blocks(graph)
             ? fmt::format("benanza {} --batch {}{} --threads {}",
                           bound::shell_file(graph.model + ".gguf"), 2 * largest.batch,
                           bound::dims_options(graph), g.model.threads)
             : larger_batch_command(graph.model, largest.batch,
                                    bound::bench_setting(g.of.run, g.model),
                                    bound::dims_options(graph))});
  if (best->batch <= own->batch) {
    if (best->batch < largest.batch)
      out.not_worth.push_back(
          {"batch",
           fmt::format("from batch {} on doubling it wins less than {:.0f} % {} a second",
                       best->batch, 100 * least_gain_of_doubling, counted),
           "larger batches"});
    return out;
  }
  // What as many items take in such batches.
  const double share = static_cast<double>(own->batch) / static_cast<double>(best->batch);
  item one{.id = "batch/" + std::to_string(best->batch), .kind = "batch"};
  one.what =
      fmt::format("batches of {}: {:.0f} {}/s in place of {:.0f}, a run takes {}", best->batch,
                  best->per_s(), counted, own->per_s(), detail::time_text(best->ns));
  one.saves = detail::between_figures(own->run.takes, detail::times(best->run.takes, share));
  one.leads_to = fmt::format("batch {}", best->batch);
  one.bound_ns = share * best->run.model->best_form().bound.sequential.ns;
  one.evidence = std::move(rows);
  const std::string of_kernels = detail::assumed_of(g, best->run, one.leads_to);
  one.assumes = "items come fast enough to fill a batch" +
                (of_kernels.empty() ? of_kernels : "; " + of_kernels);
  one.how = {.by = doer::you,
             .kind = way::call,
             .text = fmt::format("give a run {} {} at once", best->batch,
                                 graph.cache ? "sequences" : "items")};
  one.check =
      fmt::format("{} --batch {} --threads {}",
                  detail::framework_command(
                      *g.model.graph, g.framework == nullptr ? "" : g.framework->from->framework),
                  best->batch, g.model.threads);
  out.items.push_back(std::move(one));
  return out;
}

} // namespace benanza::advice
