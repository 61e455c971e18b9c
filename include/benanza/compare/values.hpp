// SPDX-License-Identifier: Apache-2.0
// What does a visit say of a case, a layer or a model, and how far may the next visit's differ from
// it? Hot times by their least sample at its own clock, all others by their median, of which what
// follows the clock is taken at the reference's. The spreads are those of a quiet machine, as pairs
// of results of one program showed them; compare/difference.hpp learns what they really are.
//
//   clocked_value v = of_case(measurement, hot);   v.at(1000).log_ns
#pragma once

#include "difference.hpp"

#include "../bound/model.hpp"
#include "../result/stop_reason.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::compare {

using bound::by_clock;
using bound::layer_answer;
using bound::measurement;
using bound::model_bound;

/// A value at any clock.
struct clocked_value {
  double ns = 0; ///< at the clock that it was measured at
  by_clock clocked{};
  double clock_ns = 0; ///< that clock; 0: unknown
  double spread = 0.01, raised = 0;

  bool knows_clock() const { return clocked.per_clock > 0; }
  value at(double reference_ns) const {
    const bool moved = reference_ns > 0 && knows_clock();
    return {std::log(moved ? clocked.at(reference_ns) : ns), spread, raised};
  }
};

namespace detail {
// Relative spreads between visits of a quiet machine, and what unseen parts of interference come
// to.
inline constexpr double hot_spread = 0.004, cold_spread = 0.01, run_spread = 0.008;
inline constexpr double scenario_spread = 0.03, raced_out_spread = 0.02, few_spread = 0.01;
inline constexpr double shared_hot_spread = 0.003, shared_cold_spread = 0.008;
inline constexpr double hot_raised = 0.02, cold_raised = 0.5, run_raised = 0.3;
/// Interference meets hot layers one by one: in a sum over many so much of it is seen.
inline constexpr double hot_raised_together = 0.4;
inline constexpr std::int64_t few = 12;
inline constexpr double call_spread_ns = 1; ///< by where code and operands are

/// What few samples add.
inline double spread_of_few(const measurement& m) {
  return result::was_raced_out(m.stop_reason) ? raced_out_spread : m.count < few ? few_spread : 0.0;
}

/// The spread of a least sample: the further the fastest tenth is above it, the less sure it is.
inline double least_spread(const measurement& m) {
  if (!(m.min_ns > 0)) return raced_out_spread;
  const double gap = std::max(0.0, m.p10_ns / m.min_ns - 1);
  return joined(
      {hot_spread, call_spread_ns / m.min_ns, std::min(0.3 * gap, 0.05), spread_of_few(m)});
}

inline double median_spread(const measurement& m, double floor) {
  const double n = static_cast<double>(std::clamp<std::int64_t>(m.count, 1, 40));
  if (!(m.median_ns > 0)) return raced_out_spread;
  const double own = 1.25 * 1.4826 * m.mad_ns / m.median_ns / std::sqrt(n);
  return joined({floor, call_spread_ns / m.median_ns, std::min(own, 0.1), spread_of_few(m)});
}

inline double raised_by(const measurement* m, double how_much) {
  return m != nullptr && !m->disturbed.empty() ? how_much : 0;
}
} // namespace detail

/// The pool of a case's times.
inline pool pool_of(const measurement& m) {
  return m.state == "hot" ? pool::hot : pool::cold;
}

/// A case of a layer; `hot` is the same with hot caches, or null.
inline clocked_value of_case(const measurement& m, const measurement* hot) {
  clocked_value v;
  if (m.state == "hot") {
    v.ns = bound::detail::least(m);
    v.clock_ns = m.min_clock_ns;
    v.clocked = by_clock::of(v.ns, v.clock_ns, v.ns, v.clock_ns);
    v.spread = detail::least_spread(m);
    v.raised = detail::raised_by(&m, detail::hot_raised);
    return v;
  }
  v.ns = m.median_ns;
  v.clock_ns = m.clock_ns;
  v.clocked = by_clock::of(v.ns, v.clock_ns, hot != nullptr ? hot->median_ns : 0,
                           hot != nullptr ? hot->clock_ns : 0);
  v.spread = detail::median_spread(m, detail::cold_spread);
  v.raised = detail::raised_by(&m, detail::cold_raised);
  return v;
}

/// The least time of a layer by any of its algorithms.
inline clocked_value alone(const layer_answer& l) {
  return of_case(*l.algorithms.best, l.algorithms.best);
}

/// What a layer takes in a run of the model.
inline clocked_value in_a_run(const layer_answer& l) {
  const bound::choice& c = l.algorithms;
  clocked_value v;
  v.ns = c.prediction.ns;
  v.clock_ns = c.chosen->clock_ns;
  v.clocked = c.prediction.clocked;
  const bool hot = c.chosen->state == "hot";
  v.spread = detail::median_spread(*c.chosen, hot ? detail::hot_spread : detail::cold_spread);
  v.raised = std::max(detail::raised_by(c.chosen, detail::cold_raised),
                      detail::raised_by(c.chosen_warmer, detail::cold_raised));
  return v;
}

/// How many nodes of the fastest form are each layer: fused ones where that is faster.
inline std::vector<double> uses_in(const model_bound& b, bool fused) {
  std::vector<double> out(b.layers.size());
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  for (std::size_t n = 0; n < b.graph->nodes.size(); ++n) {
    const int layer = b.graph->nodes[n].layer;
    if (layer == model::no_layer) continue;
    if (fused && b.fused->as_one[at(b.fused->pair.owner[n])] != 0) continue;
    out[at(layer)] += 1;
  }
  if (fused)
    for (std::size_t i = 0; i < b.fused->as_one.size(); ++i)
      if (const int layer = b.fused->graph->nodes[i].layer;
          layer != model::no_layer && b.fused->as_one[i] != 0)
        out[b.fused->layers[at(layer)]] += 1;
  return out;
}

namespace detail {
/// Gives a sum over layers the spread and the interference of its parts, and what all of them
/// share.
template <class Part>
void add_parts(clocked_value& v, const model_bound& b, bool fused, double shared, double together,
               Part part) {
  const std::vector<double> uses = uses_in(b, fused);
  double sum = 0, squares = 0, raised = 0, shares = 0;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (uses[i] == 0 || !b.layers[i].timed()) continue;
    const clocked_value its = part(b.layers[i]);
    const double ns = uses[i] * its.ns;
    sum += ns;
    shares += ns * ns;
    squares += ns * its.spread * ns * its.spread;
    raised += ns * its.raised;
  }
  v.spread = joined({shared, sum > 0 ? std::sqrt(squares) / sum : 0});
  v.raised = sum > 0 ? std::max(together, std::sqrt(shares) / sum) * raised / sum : 0;
}
} // namespace detail

/// The bound of a form of a model.
inline clocked_value bound_of(const model_bound& b, bool fused) {
  clocked_value v;
  v.ns = b.form(fused).bound.sequential.ns;
  v.clock_ns = b.clock_ns;
  v.clocked = by_clock::of(v.ns, v.clock_ns, v.ns, v.clock_ns);
  detail::add_parts(v, b, fused, detail::shared_hot_spread, detail::hot_raised_together, alone);
  if (v.ns > b.form(fused).layers_ns) { // memory sets it, which knows no clock and has neighbours
    v.clocked = {.still_ns = v.ns};
    v.spread = std::max(v.spread, bound::reads_faster - 1);
  }
  return v;
}

namespace detail {
/// What the layers of a form take in a run, at any clock; nothing where that of one is unknown.
inline std::optional<by_clock> layers_by_clock(const model_bound& b, bool fused) {
  const std::vector<double> uses = uses_in(b, fused);
  by_clock sum;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (uses[i] == 0 || !b.layers[i].timed()) continue;
    const by_clock& its = b.layers[i].algorithms.prediction.clocked;
    if (!(its.per_clock > 0)) return std::nullopt;
    sum += its * uses[i];
  }
  return sum.per_clock > 0 ? std::optional(sum) : std::nullopt;
}
} // namespace detail

/// What a run of a form of a model should take; nothing where changes of layout have no time.
inline std::optional<clocked_value> prediction_of(const model_bound& b, bool fused) {
  const std::optional<bound::figure> expected = bound::expected(b.form(fused));
  if (!expected || !(expected->ns > 0)) return std::nullopt;
  clocked_value v;
  v.ns = expected->ns;
  if (const auto known = bound::expected_by_clock(b.form(fused)))
    v.clocked = *known;
  else if (!b.form(fused).layouts) // then it is the sum of the layers
    v.clocked = detail::layers_by_clock(b, fused).value_or(by_clock{.still_ns = v.ns});
  detail::add_parts(v, b, fused, detail::shared_cold_spread, 1, in_a_run);
  return v;
}

/// A run of the whole model, of which as much follows the clock as of what it should take.
inline clocked_value run_of(const bound::chain_run& r, const model_bound& b) {
  clocked_value v;
  v.ns = r.run->median_ns;
  v.clock_ns = r.run->clock_ns;
  if (const auto expected = bound::expected_by_clock(b.form(r.fused));
      expected && v.clock_ns > 0 && expected->at(v.clock_ns) > 0) {
    const double share = expected->per_clock * v.clock_ns / expected->at(v.clock_ns);
    v.clocked = {.still_ns = v.ns * (1 - share), .per_clock = v.ns * share / v.clock_ns};
  }
  v.spread = detail::median_spread(*r.run, detail::run_spread);
  v.raised = detail::raised_by(r.run, detail::run_raised);
  return v;
}

/// The latency that a scenario showed, at its percentile.
inline clocked_value scenario_of(const bound::scenario_run& s) {
  clocked_value v;
  v.ns = s.run->scenario.percentile_ns > 0 ? s.run->scenario.percentile_ns : s.run->median_ns;
  v.spread = detail::median_spread(*s.run, detail::scenario_spread);
  v.raised = detail::raised_by(s.run, 2 * detail::run_raised);
  return v;
}

/// Both sides of one time; at one clock where every visit knows its own, else as measured.
inline twin twin_of(pool of, const std::vector<clocked_value>& before,
                    const std::vector<clocked_value>& after, double reference_clock_ns) {
  const auto known = [](const std::vector<clocked_value>& all) {
    return std::all_of(all.begin(), all.end(), [](const auto& v) { return v.knows_clock(); });
  };
  const double clock = known(before) && known(after) ? reference_clock_ns : 0;
  twin t{.of = of};
  for (const clocked_value& v : before)
    t.before.push_back(v.at(clock));
  for (const clocked_value& v : after)
    t.after.push_back(v.at(clock));
  return t;
}

} // namespace benanza::compare
