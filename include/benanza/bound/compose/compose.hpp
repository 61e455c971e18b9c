// SPDX-License-Identifier: Apache-2.0
// How long does a model take, put together from its sequences? One after the other: their sum. With
// independent ones at the same time: the longest path over them. Each sequence must have a time, or
// be nothing but views: of what is missing no total is made.
//
//   composed c = compose(graph, split(graph, {.length = 6}), times, caches_of(run), numeric::f32);
//   c.sequential.ns   c.parallel_ns   c.missing
#pragma once

#include "../../model/footprint.hpp"
#include "../../model/split.hpp"
#include "../facts.hpp"
#include "../last_cache.hpp"
#include "../paths.hpp"
#include "sequence_times.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace benanza::bound {

/// What stays there while a model runs again and again.
struct run_caches {
  result::own_cache last{};       ///< our share of the last one
  std::int64_t private_bytes = 0; ///< of a core's own; 0: not known
};

inline run_caches caches_of(const result::run& r) {
  return {.last = own_cache_of(r), .private_bytes = machine_number(r, "l2_bytes").value_or(0)};
}

/// A model as its sequences make it.
struct composed {
  const model::graph* graph = nullptr;
  std::size_t sequences = 0;
  figure sequential{};  ///< the interval is from all hot to all cold
  bool has_ends = true; ///< false: some sequence was not measured in both
  double parallel_ns = 0;
  warmth weights{};                        ///< where a run of it finds them
  std::set<std::string> used{};            ///< names of the sequences with times
  std::vector<std::string> missing{};      ///< names, each once, in the order of the model
  std::vector<std::string> missing_text{}; ///< what they are
};

namespace detail {
/// The sequences of `g` as nodes that wait for each other.
inline model::graph quotient(const model::graph& g, const std::vector<std::vector<int>>& all) {
  std::vector<int> of(g.nodes.size(), 0);
  for (std::size_t s = 0; s < all.size(); ++s)
    for (const int i : all[s])
      of[at(i)] = static_cast<int>(s);
  model::graph out;
  for (std::size_t s = 0; s < all.size(); ++s) {
    std::set<int> from;
    for (const int i : all[s])
      for (const int before : model::inputs_of(model::known_operands(g.nodes[at(i)])))
        if (of[at(before)] < static_cast<int>(s)) from.insert(of[at(before)]);
    out.nodes.push_back({.inputs = {from.begin(), from.end()}});
  }
  return out;
}

/// What a sequence takes; nothing where it has no time.
inline std::optional<figure> time_of(const model::graph& sequence, const sequence_times& times,
                                     const warmth& w, double clock_ns) {
  const sequence_cases* its = times.find(sequence.name);
  if (its != nullptr && its->measured()) return its->interval(its->estimate_ns(w, clock_ns));
  if (model::only_views(sequence)) return figure{};
  return std::nullopt;
}

/// Totals with weights as warm as that.
inline composed compose_at(const model::graph& g, const std::vector<std::vector<int>>& all,
                           const sequence_times& times, const warmth& w, double clock_ns) {
  composed out{.graph = &g, .sequences = all.size(), .weights = w};
  std::vector<double> each;
  std::set<std::string> missing;
  for (const std::vector<int>& nodes : all) {
    const model::graph s = model::sequence_of(g, nodes);
    const auto t = time_of(s, times, w, clock_ns);
    if (!t && missing.insert(s.name).second) {
      out.missing.push_back(s.name);
      out.missing_text.push_back(model::text_of(s));
    }
    if (t && t->ns > 0) {
      out.used.insert(s.name);
      out.has_ends = out.has_ends && times.find(s.name)->has_ends();
    }
    each.push_back(t ? t->ns : 0);
    out.sequential.ns += each.back();
    out.sequential.low_ns += t ? t->low_ns : 0;
    out.sequential.high_ns += t ? t->high_ns : 0;
  }
  out.parallel_ns = longest_path(quotient(g, all), each).ns;
  return out;
}
} // namespace detail

/// `g` from sequences cut so, as warm as a run of it would find them; at a clock, if that is known.
inline composed compose(const model::graph& g, const std::vector<std::vector<int>>& sequences,
                        const sequence_times& times, const run_caches& caches, numeric type,
                        double clock_ns = 0) {
  const std::int64_t bytes = model::footprint_bytes(g, type);
  if (bytes <= caches.private_bytes)
    return detail::compose_at(g, sequences, times, {.hot = true, .gone = 0}, clock_ns);
  // The longer a run takes, the more of its weights are gone, and the longer it takes.
  constexpr int rounds = 3;
  composed out = detail::compose_at(g, sequences, times, {}, clock_ns);
  for (int i = 0; i < rounds; ++i) {
    const double gone = caches.last.gone(static_cast<double>(bytes), out.sequential.ns);
    out = detail::compose_at(g, sequences, times, {.gone = gone}, clock_ns);
  }
  return out;
}

/// The cheapest way to put `g` together from whatever sequences of up to `longest` layers have
/// times, overlapping windows among them: D[i] = min over j of D[j] + P(j .. i), for each line that
/// sequences are cut from. Where nothing was measured, single layers are left.
inline std::vector<std::vector<int>> best_tiling(const model::graph& g, model::cut by,
                                                 const sequence_times& times, std::size_t longest,
                                                 const warmth& w) {
  std::vector<std::vector<int>> out;
  for (const model::line& l : model::lines_of(g, by)) {
    const std::size_t n = l.nodes.size();
    std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> from(n + 1, 0);
    best[0] = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t taken = 1; taken <= std::min(longest, l.reach[i]); ++taken) {
        const auto first = l.nodes.begin() + static_cast<std::ptrdiff_t>(i);
        const auto t = detail::time_of(
            model::sequence_of(g, {first, first + static_cast<std::ptrdiff_t>(taken)}), times, w,
            0);
        // A layer without a time costs more than any other way, and leaves a name to report.
        constexpr double without_ns = 1e18;
        if (!t && taken > 1) continue;
        const double ns = best[i] + (t ? t->ns : without_ns);
        if (!(ns < best[i + taken])) continue;
        best[i + taken] = ns;
        from[i + taken] = i;
      }
    for (std::size_t end = n; end > 0; end = from[end])
      out.emplace_back(l.nodes.begin() + static_cast<std::ptrdiff_t>(from[end]),
                       l.nodes.begin() + static_cast<std::ptrdiff_t>(end));
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// What a run of the whole model takes: the median. Where others disturbed it all along, the sum of
/// the medians of its steps: each run was interrupted somewhere, but hardly any step in half of
/// them.
inline double whole_ns(const measurement& m) {
  if (m.disturbed.empty() || m.parts.empty()) return m.median_ns;
  double sum = 0;
  for (const timed_part& p : m.parts)
    sum += p.ns;
  return std::min(sum, m.median_ns);
}

/// The row of a run of the whole model; null: it holds none.
inline const measurement* whole_run(const result::run& r, const model::graph& g, setting in) {
  std::vector<int> all;
  for (std::size_t i = 0; i < g.nodes.size(); ++i)
    all.push_back(static_cast<int>(i));
  const std::string key = model::fingerprint(model::sequence_of(g, all));
  const measurement* out = nullptr;
  for (const measurement& m : r.measurements) {
    if (!m.error.empty() || m.type != name(in.first) || m.threads != in.second) continue;
    if (m.family == model::sequence_family && m.key == key && m.state == "hot") out = &m;
    if (out == nullptr && result::of_a_whole_run(m) && m.key == g.name) out = &m;
  }
  return out;
}

} // namespace benanza::bound
