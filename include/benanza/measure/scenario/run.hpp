// SPDX-License-Identifier: Apache-2.0
// How does a model stand a scenario? Its queries are really run, one execution after the other on
// its threads, at the times when they arrive; each one's latency is from its arrival to its end.
//
//   scenario_outcome o = run_scenario(*prepared, parse_scenario("server:rate=20"), clock, stop);
//   o.latencies_ns, o.figures.percentile_ns
#pragma once

#include "../../backend/prepared.hpp"
#include "../../result/measurement.hpp"
#include "../../result/statistics.hpp"
#include "../subjects/subject.hpp"
#include "queue.hpp"
#include "scenario.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace benanza::measure {

/// What a scenario has shown.
struct scenario_outcome {
  std::vector<double> latencies_ns{}; ///< of the queries, in the order of their arrival
  result::scenario_figures figures{};
};

/// Time that goes forward, in ns.
using scenario_clock = std::function<double()>;

inline constexpr int fewest_queries = 20; ///< of any scenario: a percentile needs some

namespace detail {
inline double percentile_of(std::vector<double> ns, double percentile) {
  std::sort(ns.begin(), ns.end());
  return result::quantile(ns, percentile / 100);
}

/// Queries one after the other, of so many executions each.
inline scenario_outcome back_to_back(backend::prepared& model, const scenario& l, int executions,
                                     const scenario_clock& now, const std::atomic<bool>& stop) {
  scenario_outcome out;
  const double begin = now(), end = begin + 1e9 * l.seconds;
  double at = begin;
  while (!stop && (at < end || std::ssize(out.latencies_ns) < fewest_queries)) {
    model.run(executions);
    out.latencies_ns.push_back(now() - at);
    at = now();
  }
  const auto queries = static_cast<double>(out.latencies_ns.size());
  out.figures = {.percentile = l.percentile,
                 .percentile_ns = percentile_of(out.latencies_ns, l.percentile),
                 .completed_per_s = queries * executions / std::max(1.0, at - begin) * 1e9};
  return out;
}

/// Queries that arrive by chance, `rate` a second.
inline scenario_outcome serve_at(backend::prepared& model, const scenario& l, double rate,
                                 const scenario_clock& now, const std::atomic<bool>& stop) {
  std::vector<double> at = arrivals(rate, l.seconds, l.seed), service;
  scenario_outcome out;
  const double begin = now();
  double end = begin;
  for (std::size_t i = 0; i < at.size() && !stop; ++i) {
    while (now() - begin < at[i]) // the processor stays ours, and its caches
      ;
    const double started = now();
    model.run(1);
    end = now();
    service.push_back(end - started);
    out.latencies_ns.push_back(end - begin - at[i]);
  }
  const auto queries = static_cast<double>(out.latencies_ns.size());
  out.figures = {.percentile = l.percentile,
                 .percentile_ns = percentile_of(out.latencies_ns, l.percentile),
                 .queued_ns = percentile_of(queued(at, service), l.percentile),
                 .offered_per_s = queries / l.seconds,
                 .completed_per_s = queries / std::max(1e9 * l.seconds, end - begin) * 1e9};
  return out;
}

/// The highest rate whose percentile keeps the limit in a queue of executions as they are one after
/// the other; run at the lowest that any draw of the arrivals gave, which all of them keep.
inline scenario_outcome serve_within(backend::prepared& model, const scenario& l,
                                     const scenario_clock& now, const std::atomic<bool>& stop) {
  scenario_outcome alone = back_to_back(model, l, 1, now, stop);
  alone.figures = {.percentile = l.percentile, .percentile_ns = alone.figures.percentile_ns};
  if (stop || alone.figures.percentile_ns > l.limit_ns) return alone; // no query keeps it
  const offered_load highest = highest_load(alone.latencies_ns, l.limit_ns, l.percentile, l.seed);
  scenario_outcome out = serve_at(model, l, highest.lowest_per_s, now, stop);
  out.figures.highest_per_s = highest.per_s;
  out.figures.highest_from_per_s = highest.lowest_per_s;
  out.figures.highest_to_per_s = highest.highest_per_s;
  return out;
}
} // namespace detail

/// Runs a scenario of a model that is ready.
inline scenario_outcome run_scenario(backend::prepared& model, const scenario& l,
                                     const scenario_clock& now, const std::atomic<bool>& stop) {
  model.run(2); // the first execution finds nothing in the caches
  switch (l.kind) {
  case scenario_kind::single_stream: return detail::back_to_back(model, l, 1, now, stop);
  case scenario_kind::multi_stream: return detail::back_to_back(model, l, l.streams, now, stop);
  // A query is a batch; each batch of the model is a case of its own, and the report finds the
  // best.
  case scenario_kind::offline: return detail::back_to_back(model, l, 1, now, stop);
  case scenario_kind::server: break;
  }
  return l.rate > 0 ? detail::serve_at(model, l, l.rate, now, stop)
                    : detail::serve_within(model, l, now, stop);
}

/// A case of a model to which queries come so.
class scenario_run final : public other_run {
public:
  explicit scenario_run(const scenario& s)
      : scenario_(s) {}

  std::vector<double> run(backend::prepared& model, const scenario_clock& now,
                          const std::atomic<bool>& stop, result::measurement& m) const override {
    scenario_outcome o = run_scenario(model, scenario_, now, stop);
    m.scenario = o.figures;
    if (scenario_.kind == scenario_kind::multi_stream) // of a query
      for (std::int64_t* of_one : {&m.flops, &m.algorithm_flops, &m.bytes})
        *of_one *= scenario_.streams;
    return std::move(o.latencies_ns);
  }

private:
  scenario scenario_;
};

} // namespace benanza::measure
