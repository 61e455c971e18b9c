// SPDX-License-Identifier: Apache-2.0
// What is known of a framework's run compared with the best kernels? Its operators with the nodes
// that they represent, rows of those that differ from the best, what it added, and the steps from
// its run down to the machine's limits. Times in ns.
//
//   const compared_operator& o = c.operators[0];   o.ns   o.best_ns   o.verdict()
#pragma once

#include "../bound/figures.hpp"
#include "../result/statistics.hpp"
#include "../trace/profile/match.hpp"
#include "profiler.hpp"

#include <range/v3/action/sort.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::advice {

/// Two times count as different if they differ by more than this share, and than their scatter.
inline constexpr double told_apart = 0.05;
/// Operators of which little is known are reported first where they take this share of the run.
inline constexpr double most_blurred = 0.1;
/// Branches that win less than this share of the bound are not reported.
inline constexpr double least_parallel = 0.01;

/// One operator of the framework, and the best of the same work.
struct compared_operator {
  std::size_t op = 0;       ///< of the profile
  std::vector<int> nodes{}; ///< of the unfused graph that it represents, ascending
  trace::matched_by how = trace::matched_by::nothing;
  double ns = 0;         ///< the median of its runs, without what the profiler adds
  double scatter_ns = 0; ///< half of their middle range, and of what the profiler leaves open
  double best_ns = 0;    ///< the prediction of the same work
  double least_ns = 0;   ///< its bound: what is less than this beats all that was measured
  bool known = false;    ///< all of that work was measured or modelled
  bool seen = true;      ///< it takes more than what the profiler leaves open
  /// The best run has a part of it and of others as one: only together can they be faster.
  bool shares = false;
  bool fewer = false;  ///< it makes fewer points than its nodes: by a rewritten graph
  std::string layer{}; ///< the layer that takes most of it
  const bound::layer_answer* answer = nullptr; ///< of that layer

  double lost_ns() const { return known ? ns - best_ns : 0; }
  /// +1: the framework is slower beyond noise; -1: it is faster; 0: neither.
  int verdict() const {
    if (!known || !seen) return 0;
    const double noise = std::max(told_apart * std::max(ns, best_ns), 2 * scatter_ns);
    return lost_ns() > noise ? 1 : ns < least_ns - noise && !fewer && !shares ? -1 : 0;
  }
};

/// Operators of one layer and kernel: a row of a table.
struct compared_row {
  std::string layer{}, type{}, kernel{}; ///< the layer, and the framework's operator and kernel
  const bound::layer_answer* answer = nullptr;
  std::int64_t count = 0;                          ///< of operators
  trace::matched_by how = trace::matched_by::said; ///< the least sure of them
  std::vector<int> nodes{};                        ///< of the unfused graph
  double ns = 0, best_ns = 0, scatter_ns = 0;      ///< of all of them

  double lost_ns() const { return ns - best_ns; }
};

/// Operators that match no node of the model, by their kind.
struct added_row {
  std::string type{};
  std::int64_t count = 0;
  bound::figure takes{};
  bool seen = true; ///< they take more than what the profiler leaves open
};

/// A step from the framework's run down to the roofline: what it takes away, where positive.
struct bar {
  std::string_view id{}; ///< stable
  std::string what{};
  bound::figure takes{};
  double left_ns = 0; ///< behind it
};

/// Of layers whose bound is their roofline.
inline constexpr std::string_view what_slow_kernels_take =
    "kernels so slow that the bound rests on the machine's limits";
/// What these take of a run that takes `run_ns`; 0: nothing to speak of.
inline double slow_kernels_ns(const bound::model_bound& b, double run_ns) {
  const double ns =
      std::min(b.beyond_rooflines_ns(), run_ns - b.fastest_form().bound.sequential.ns);
  return ns > 0.001 * run_ns ? ns : 0;
}

/// Of the step from the model's graph to the best one.
inline constexpr std::string_view what_rewriting_saves =
    "less to compute: the rewritten graph (benanza_generate rewrite writes it)";

/// A framework's run of a model, compared with what was measured of its layers.
struct comparison {
  const trace::profile* from = nullptr;
  const bound::model_bound* model = nullptr;
  bound::figure latency{};       ///< median of its runs without a profiler, or else with it
  double least_ns = 0;           ///< of them
  bool latency_profiled = false; ///< there are only runs with the profiler
  bool disturbed = false;        ///< runs without the profiler took longer than those with it
  profiler_cost profiler{};
  std::int64_t blurred = 0; ///< operators that take no more than what the profiler leaves open
  double blurred_ns = 0;    ///< what the profiler says of them
  trace::attribution matched{};
  std::vector<compared_operator> operators{};   ///< matched ones, in their order
  std::vector<compared_operator> groups{};      ///< where ours runs as one what are several there
  std::vector<compared_row> slower{}, faster{}; ///< rows that differ, most time first
  std::vector<added_row> added{};               ///< most time first
  std::vector<bar> bars{};
  std::int64_t nodes = 0; ///< of the model, without views
  std::int64_t matched_nodes = 0;
  std::int64_t winograds = 0; ///< operators whose kernels the bound leaves out (core/winograd.hpp)
  double unexplained_ns = 0;  ///< outside of all operators, or all of it without a profile

  bool profiled() const { return !from->operators.empty(); }
  /// Operators of which little is known take much of what the profiler says.
  bool much_blurred() const { return blurred_ns > most_blurred * latency.ns; }
};

namespace detail {
/// Half of the range of the middle half of the samples.
inline double scatter_of(const std::vector<double>& samples) {
  if (samples.size() < 2) return 0;
  const std::vector<double> sorted = ascending(samples);
  return (result::quantile(sorted, 0.75) - result::quantile(sorted, 0.25)) / 2;
}

/// The median of redrawn samples, with its interval.
inline bound::figure median_figure(const std::vector<double>& samples) {
  if (samples.empty()) return {};
  const std::vector<double> sorted = ascending(samples);
  bound::generator random{3};
  std::vector<double> drawn;
  for (int i = 0; i < bound::redraws; ++i)
    drawn.push_back(bound::redrawn_median(sorted, random));
  return bound::between(std::move(drawn), result::quantile(sorted, 0.5));
}

/// Nodes of which something has to be computed.
inline bool computes(const model::graph& g, const model::node& n) {
  const op::layer* l = model::layer_of(g, n);
  return l == nullptr || !op::is_view(*l);
}
} // namespace detail

} // namespace benanza::advice
