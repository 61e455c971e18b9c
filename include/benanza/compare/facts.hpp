// SPDX-License-Identifier: Apache-2.0
// In what else than their times do two sides differ, and what of that can explain a change? What a
// result says of its machine, its software and how it was measured. A fact of a library can explain
// the layers that it runs, one of the compiler our own kernels, one of the machine everything.
//
//   different_facts(before, after)[0]   // {"software.onednn_version", "2.6.3", "3.7.2", "onednn"}
#pragma once

#include "../core/text.hpp"
#include "../result/own_cache.hpp"
#include "../result/run.hpp"
#include "../result/versions.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::compare {

/// A fact in which two sides differ.
struct fact_change {
  std::string fact{}, before{}, after{};
  /// The backend whose times it can explain; empty: those of all; `none`: it explains nothing.
  std::string of{};

  static constexpr const char* none = "-";
  bool explains(std::string_view backend) const {
    return of.empty() || of == result::library_of(backend);
  }
  bool explains_any() const { return of != none; }
};

namespace detail {
using facts_of_side = std::map<std::string, std::set<std::string>>;

inline facts_of_side facts_of(const std::vector<result::run>& visits) {
  facts_of_side out;
  for (const result::run& r : visits)
    for (const auto& [section, facts] : r.provenance)
      for (const auto& [fact, told] : facts)
        out[section + '.' + fact].insert(told);
  return out;
}

/// Facts that differ from start to start by themselves.
inline bool changes_by_itself(std::string_view fact) {
  static constexpr std::string_view parts[] = {
      "measuring.date",     "measuring.last_cache_own", "measuring.clock_loop_ns",
      "measuring.begin_",   "measuring.hand_off",       "measuring.device_",
      "measuring.runs",     "measuring.merged_cases",   "measuring.left_out",
      "measuring.absent_",  "measuring.isolated",       "measuring.shard",
      "measuring.bound_to", "measuring.load_average",   "measuring.experiment",
      "measuring.planned",  "measuring.graphs"};
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view p) { return fact.starts_with(p); });
}

/// Whose times a fact can explain.
inline std::string explained_by(const std::string& fact, const std::set<std::string>& backends) {
  static const std::set<std::string, std::less<>> what_was_measured{
      "measuring.types", "measuring.states", "measuring.threads", "software.benchmark"};
  if (what_was_measured.contains(fact)) return fact_change::none;
  if (fact == "software.compiler" || fact == "software.benanza" || fact == "measuring.revision")
    return "host"; // our own kernels
  if (!fact.starts_with("software.") && !fact.starts_with("frameworks.")) return {};
  const std::string name = fact.substr(fact.find('.') + 1);
  const std::string library(result::library_of(name.substr(0, name.find('_'))));
  return backends.contains(library) ? library : name == "kernel" ? std::string() : library;
}
} // namespace detail

/// The facts in which the visits of two sides differ, those that can explain most first.
inline std::vector<fact_change> different_facts(const std::vector<result::run>& before,
                                                const std::vector<result::run>& after) {
  std::set<std::string> backends;
  for (const auto* side : {&before, &after})
    for (const result::run& r : *side)
      for (const result::measurement& m : r.measurements)
        backends.emplace(result::library_of(m.backend));
  const detail::facts_of_side a = detail::facts_of(before), b = detail::facts_of(after);
  std::set<std::string> names;
  for (const auto* side : {&a, &b})
    for (const auto& [fact, told] : *side)
      if (!detail::changes_by_itself(fact)) names.insert(fact);
  const auto told = [](const detail::facts_of_side& side, const std::string& fact) {
    const auto found = side.find(fact);
    return found == side.end() ? std::string("not told") : join(found->second, "; ");
  };
  std::vector<fact_change> out;
  for (const std::string& fact : names)
    if (told(a, fact) != told(b, fact))
      out.push_back({fact, told(a, fact), told(b, fact), detail::explained_by(fact, backends)});
  std::stable_sort(out.begin(), out.end(), [](const fact_change& x, const fact_change& y) {
    const auto rank = [](const fact_change& c) {
      return !c.explains_any() ? 3 : c.fact.starts_with("software.") ? 0 : c.of.empty() ? 1 : 2;
    };
    return rank(x) < rank(y);
  });
  return out;
}

} // namespace benanza::compare
