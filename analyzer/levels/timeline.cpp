// SPDX-License-Identifier: Apache-2.0
#include "timeline.hpp"

#include "../report/heading.hpp"
#include "../report/node_times.hpp"

#include <benanza/profile/chrome_trace.hpp>
#include <benanza/profile/from_profile.hpp>
#include <benanza/profile/from_result.hpp>
#include <benanza/profile/perfetto_trace.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace benanza::report {

namespace {
/// The bound as a run: each node on its worker.
profile::levelled_run scheduled_run(const bound::model_bound& b) {
  const bound::form_figures& form = b.fastest_form();
  profile::levelled_run out{.who = "lower bound on " + std::to_string(std::max(b.workers, 1)) +
                                   (b.workers > 1 ? " workers" : " worker"),
                            .model = b.graph->model,
                            .graph = form.graph->name,
                            .batch = b.graph->batch,
                            .type = std::string(name(b.type)),
                            .threads = b.threads};
  for (const task& t : schedule(b)) {
    if (t.ns <= 0) continue;
    const model::graph& g = t.part ? *b.graph : *form.graph;
    const model::node& n = g.nodes[bound::detail::at(t.node)];
    const op::layer* const l = model::layer_of(g, n);
    out.spans.push_back({.level = trace::layer_level,
                         .name = n.name,
                         .kind = l == nullptr ? n.op : op::name(*l),
                         .begin_ns = t.begin_ns,
                         .ns = t.ns,
                         .track = "worker " + std::to_string(t.worker + 1)});
  }
  double end = 0;
  for (const trace::span& s : out.spans)
    end = std::max(end, s.end_ns());
  out.spans.push_back({.name = form.graph->name, .kind = "model", .ns = end, .track = "model"});
  out.model_ns = end;
  return out;
}

/// A run of the chain whose parts were reported, without levels.
profile::levelled_run run_of_parts(const result::measurement& m, const bound::model_bound& b,
                                   const bound::ceilings& most) {
  return {.who = "benanza, " + m.algorithm,
          .model = b.graph->model,
          .graph = m.key,
          .batch = b.graph->batch,
          .type = m.type,
          .threads = m.threads,
          .model_ns = m.median_ns,
          .layers = profile::detail::layers_of(m, b.type, most)};
}

/// The runs of all models.
std::vector<profile::timeline_process> timeline_of(const input& in) {
  const bound::ceilings most(in.run);
  const bool levels = std::any_of(
      in.run.measurements.begin(), in.run.measurements.end(), [](const result::measurement& m) {
        return m.family == "model" && m.error.empty() && result::of_a_level(m.algorithm);
      });
  std::vector<profile::levelled_run> levelled, all;
  if (levels) levelled = profile::levelled_runs(in.run);
  for (std::size_t i = 0; i < in.models.size(); ++i) {
    const bound::model_bound& b = in.models[i];
    if (loose(b)) continue;
    if (b.has_bound()) all.push_back(scheduled_run(b));
    bool has_levels = false;
    for (const profile::levelled_run& r : levelled)
      if (r.graph == b.fastest_form().graph->name && r.type == name(b.type) &&
          r.threads == b.threads) {
        all.push_back(r);
        has_levels = true;
      }
    for (const bound::chain_run& w : b.runs)
      if (!has_levels && w.fused == b.fused.has_value() && !w.side_by_side() &&
          !w.run->parts.empty())
        all.push_back(run_of_parts(*w.run, b, most));
    if (i >= in.advised.size()) continue;
    for (const advice::comparison& c : in.advised[i].frameworks)
      all.push_back(profile::levelled_run_of(*c.from, b.graph, most));
  }
  return profile::timeline(all);
}
} // namespace

std::string trace_report(const input& in) {
  return profile::chrome_trace(timeline_of(in));
}

std::string perfetto_report(const input& in) {
  return profile::perfetto_trace(timeline_of(in));
}

} // namespace benanza::report
