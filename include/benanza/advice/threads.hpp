// SPDX-License-Identifier: Apache-2.0
// On how many threads should a model run? On those on which a run takes least, of all that were
// measured; where one number was, and the machine has more cores, the page asks for more of them.
//
//   advice_of_kind a = thread_advice(grounds);   a.items[0].id   // "threads/2"
#pragma once

#include "other_runs.hpp"

#include <fmt/format.h>
#include <range/v3/algorithm/sort.hpp>

#include <charconv>
#include <string>
#include <utility>
#include <vector>

namespace benanza::advice {

namespace detail {
inline std::string threads_text(int n) {
  return fmt::format("{} thread{}", n, n == 1 ? "" : "s");
}

/// Cores of the machine's processor that a run may use more of; 0: not known, or layers ran on a
/// GPU.
inline int cores_of(const result::run& r) {
  if (!fact_of(r, "machine", "gpu").empty()) return 0;
  const std::string text = fact_of(r, "machine", "cores");
  int cores = 0;
  std::from_chars(text.data(), text.data() + text.size(), cores);
  return cores;
}

/// Why other threads win nothing, where it is memory.
inline std::string memory_text(const other_run& o) {
  const double ns = o.model->best_graph().memory.ns;
  return ns < 0.5 * o.takes.ns
             ? std::string()
             : fmt::format("; reading what it must from memory takes {} of that", time_text(ns));
}

/// The command that measures the model on more threads too.
inline std::string more_threads_command(const grounds& g, int cores) {
  std::vector<int> all{g.model.threads};
  for (int n : {cores / 2, cores})
    if (n > all.back()) all.push_back(n);
  return bound::bench_command(g.of.run, g.model, fmt::format("{}", fmt::join(all, ","))) +
         " --benchmark_out=more.json";
}
} // namespace detail

/// Advice on the number of threads.
inline advice_of_kind thread_advice(const grounds& g) {
  advice_of_kind out;
  std::vector<other_run> all;
  bool others = false;
  for (const bound::model_bound* b : g.others) {
    if (b->graph != g.model.graph || b->type != g.model.type) continue;
    others |= b->threads != g.model.threads;
    if (auto run = run_in(g, *b)) all.push_back(std::move(*run));
  }
  if (!others) {
    if (const int cores = detail::cores_of(g.of.run); cores > g.model.threads)
      out.not_measured.push_back(
          {"threads",
           fmt::format("more than {}, of {} cores", detail::threads_text(g.model.threads), cores),
           detail::more_threads_command(g, cores)});
    return out;
  }
  ranges::sort(all, ranges::less{}, [](const other_run& o) { return o.model->threads; });
  std::vector<std::string> rows;
  const other_run* best = nullptr;
  for (const other_run& o : all) {
    rows.push_back(detail::row_of(g, o, detail::threads_text(o.model->threads)));
    if (o.model != &g.model && (best == nullptr || o.takes.ns < best->takes.ns)) best = &o;
  }
  if (best == nullptr) return out;
  const int n = best->model->threads;
  const bound::figure now = run_in(g, g.model)->takes;
  if (best->takes.ns > (1 - least_share) * now.ns) {
    out.not_worth.push_back(
        {"threads",
         fmt::format("{} in place of {}: {} in place of {}{}", detail::threads_text(n),
                     g.model.threads, detail::time_text(best->takes.ns), detail::time_text(now.ns),
                     detail::memory_text(*best)),
         detail::threads_text(n) +
             (best->measured() || g.run.supposed ? " (measured: no faster)" : " (no faster)")});
    return out;
  }
  item one{.id = fmt::format("threads/{}", n), .kind = "threads"};
  one.what = fmt::format("{} in place of {}: {} -> {}", detail::threads_text(n), g.model.threads,
                         detail::time_text(now.ns), detail::time_text(best->takes.ns));
  one.saves = detail::between_figures(now, best->takes);
  one.leads_to = detail::threads_text(n);
  one.bound_ns = best->model->best_form().bound.sequential.ns;
  one.evidence = std::move(rows);
  one.assumes = detail::assumed_of(g, *best, detail::threads_text(n));
  one.how = by_settings(lever::threads,
                        g.framework == nullptr ? std::string() : g.framework->from->framework,
                        std::to_string(n));
  one.check = g.framework != nullptr
                  ? detail::measure_command(*g.framework, n)
                  : fmt::format("{} --threads {}", detail::framework_command(*g.model.graph), n);
  out.items.push_back(std::move(one));
  return out;
}

} // namespace benanza::advice
