// SPDX-License-Identifier: Apache-2.0
// What was measured on one side? Several starts of the benchmark, each a visit: result files, runs
// in a store, repetitions within one run. A run that holds other cases than those before it, as one
// that was stopped and went on, or a part of several (--shard), belongs to their visit.
//
//   std::vector<result::run> visits = visits_of(std::move(runs));   visits.size()
#pragma once

#include "../result/merge.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::compare {

using result::measurement;

namespace detail {
/// What makes two measurements the same case, with values of its own.
using case_key =
    std::tuple<std::string, std::string, std::string, std::string, std::string, std::string, int>;
inline case_key key_of(const measurement& m) {
  return {m.family, m.key, m.type, m.backend, m.algorithm, m.state, m.threads};
}

/// A run's repetitions, a run each; the first has all that was measured once.
inline std::vector<result::run> repetitions(result::run r) {
  std::vector<std::vector<measurement>> parts;
  std::multiset<case_key> seen;
  for (measurement& m : r.measurements) {
    // An entry without a time is no repetition.
    const std::size_t nth = m.error.empty() ? seen.count(key_of(m)) : 0;
    if (m.error.empty()) seen.insert(key_of(m));
    if (parts.size() <= nth) parts.resize(nth + 1);
    parts[nth].push_back(std::move(m));
  }
  r.measurements.clear();
  std::vector<result::run> out;
  for (std::vector<measurement>& p : parts) {
    out.push_back(r);
    out.back().measurements = std::move(p);
  }
  if (out.empty()) out.push_back(std::move(r));
  return out;
}

/// The cases of a run that have a time, but for the machine's, which every run measures.
inline std::set<case_key> timed_cases(const result::run& r) {
  std::set<case_key> out;
  for (const measurement& m : r.measurements)
    if (m.error.empty() && m.family != "machine") out.insert(key_of(m));
  return out;
}
} // namespace detail

/// The visits that some runs of one machine are, in their order.
inline std::vector<result::run> visits_of(std::vector<result::run> runs) {
  std::vector<std::vector<result::run>> visits;
  std::set<detail::case_key> current;
  for (result::run& all : runs)
    for (result::run& r : detail::repetitions(std::move(all))) {
      const std::set<detail::case_key> its = detail::timed_cases(r);
      const bool again = std::any_of(its.begin(), its.end(),
                                     [&](const auto& key) { return current.contains(key); });
      if (visits.empty() || again) {
        visits.emplace_back();
        current.clear();
      }
      visits.back().push_back(std::move(r));
      current.insert(its.begin(), its.end());
    }
  std::vector<result::run> out;
  for (std::vector<result::run>& v : visits) {
    result::tell_versions_apart(v);
    out.push_back(v.size() == 1 ? std::move(v.front()) : result::merge(std::move(v)));
  }
  return out;
}

} // namespace benanza::compare
