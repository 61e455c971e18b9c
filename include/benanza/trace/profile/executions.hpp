// SPDX-License-Identifier: Apache-2.0
// How do executions in a row become operators with a time for each run? Where runs are marked, by
// the run; else the sequence that repeats is found as it is in logs of calls (iterations.hpp). The
// k-th execution of a kind in a run is one operator.
//
//   add_executions(p, {{conv, "conv 1x3x8x8", 5000}, {relu, "relu", 900}, {conv, ...}, ...});
#pragma once

#include "../iterations.hpp"
#include "values.hpp"

#include <map>
#include <unordered_map>

namespace benanza::trace::detail {

/// One execution, in the order in which they were begun.
struct execution {
  profiled_operator told{}; ///< without times
  std::string kind{};       ///< equal for those that are the same in each run
  double ns = 0;
  int run = -1; ///< nothing marks it where it is negative
};

/// Operators of executions whose runs are known, from run `first` on; run numbers have no gaps.
inline void add_runs(profile& p, std::vector<execution>& all, int first, int runs) {
  std::map<std::pair<std::string, int>, std::size_t> place;
  std::map<std::pair<std::string, int>, int> seen; // of a kind in a run
  for (execution& e : all) {
    if (e.run < first || e.run >= runs) continue;
    const int time = seen[{e.kind, e.run}]++;
    const auto [found, fresh] = place.try_emplace({e.kind, time}, p.operators.size());
    if (fresh) {
      p.operators.push_back(std::move(e.told));
      p.operators.back().ns.assign(static_cast<std::size_t>(runs - first), 0.0);
    }
    p.operators[found->second].ns[static_cast<std::size_t>(e.run - first)] += e.ns;
  }
}

/// Operators of executions whose runs are not marked: they are those of the period with which the
/// sequence ends, and the first of them is left out unless something went before it.
inline void add_executions(profile& p, std::vector<execution> all) {
  std::unordered_map<std::string, int> number;
  std::vector<int> sequence;
  sequence.reserve(all.size());
  for (const execution& e : all)
    sequence.push_back(number.try_emplace(e.kind, static_cast<int>(number.size())).first->second);
  const iterations found = find_period(sequence);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].run = i < found.first || found.length == 0
                     ? -1
                     : static_cast<int>(std::min((i - found.first) / found.length, found.count));
  const int runs = static_cast<int>(found.count);
  const bool cold = found.first == 0 && runs > 1;
  if (runs == 1)
    p.warnings.push_back("no sequence repeats: all that ran is taken for one run, which is cold");
  if (found.behind != 0)
    p.warnings.push_back(counted(found.behind, "execution") +
                         " behind the last whole run left out");
  add_runs(p, all, cold ? 1 : 0, runs);
}

/// Which of `count` is the median by `figure`; the lower one of two.
template <class Figure>
std::size_t median_place(std::size_t count, Figure&& figure) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return figure(a) < figure(b); });
  return order.empty() ? 0 : order[(count - 1) / 2];
}

/// Says where levels are not clear from times.
inline void say_containment(std::vector<std::string>& warnings, const containment& c) {
  if (c.ambiguous != 0)
    warnings.push_back("in which of several events that went on at the same time " +
                       counted(c.ambiguous, "event") +
                       " happened is ambiguous: profile once more with one thread "
                       "(OMP_NUM_THREADS=1), on a GPU with CUDA_LAUNCH_BLOCKING=1");
  if (c.outside != 0)
    warnings.push_back(counted(c.outside, "event") + " lie within no event of the level above");
}

/// Do intervals [begin, end) of different lanes overlap?
struct lane_interval {
  double begin = 0, end = 0;
  std::int64_t lane = 0;
};
inline bool lanes_overlap(std::vector<lane_interval> all) {
  std::sort(all.begin(), all.end(),
            [](const lane_interval& a, const lane_interval& b) { return a.begin < b.begin; });
  double end = -longest_ns; // of the latest until here, and its lane
  std::int64_t lane = 0;
  for (const lane_interval& i : all) {
    if (i.begin < end && i.lane != lane) return true;
    if (i.end > end) end = i.end, lane = i.lane;
  }
  return false;
}

} // namespace benanza::trace::detail
