// SPDX-License-Identifier: Apache-2.0
// What changed between a framework's runs, its version, its settings or the model being another?
// Each file is a visit: the median of its whole runs, and of each operator's times.
//
//   comparison c = compare_runs({"base", {base1, base2}}, {"head", {head1, head2}}, {.in_turns =
//   true});
#pragma once

#include "rows.hpp"
#include "verdicts.hpp"

#include "../core/error.hpp"
#include "../core/text.hpp"
#include "../result/statistics.hpp"
#include "../trace/profile/profile.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::compare {

/// The runs of a side, a visit each.
struct framework_side {
  std::string source{};
  std::vector<trace::profile> visits{};
};

namespace detail {
/// The spread of a median of whole runs, and of an operator's times, from start to start.
inline constexpr double whole_run_spread = 0.008, operator_spread = 0.01;

inline std::string library_of_run(const trace::profile& p) {
  std::string out = p.framework.empty() ? "an unknown framework" : p.framework;
  if (!p.version.empty()) out += ' ' + p.version;
  return out;
}

/// Refuses visits that are not of one model, framework and setting.
inline void check_visits(const framework_side& s) {
  if (s.visits.empty()) throw error("there are no runs", s.source, "measure some");
  const auto what = [](const trace::profile& p) {
    return std::tuple(p.framework, p.version, p.structure, p.precision, p.threads, p.batch,
                      p.settings);
  };
  for (const trace::profile& p : s.visits)
    if (what(p) != what(s.visits.front()))
      throw error("the runs of one side are of different models, frameworks or settings",
                  s.visits.front().source + ", " + p.source, "give those of one behind each side");
}

inline side_facts facts_of(const framework_side& s) {
  const trace::profile& first = s.visits.front();
  return {.source = s.source,
          .cpu = first.processor,
          .software = library_of_run(first),
          .dates = {},
          .visits = s.visits.size()};
}

/// An operator: its name, its kind, and which of that name it is.
using operator_key = std::tuple<std::string, std::string, std::size_t>;

inline std::map<operator_key, std::vector<value>> operator_values(const framework_side& s) {
  std::map<operator_key, std::vector<value>> out;
  for (const trace::profile& p : s.visits) {
    std::map<std::pair<std::string, std::string>, std::size_t> seen;
    for (const trace::profiled_operator& o : p.operators) {
      const std::size_t nth = seen[{o.name, o.type}]++;
      std::vector<double> ran;
      std::copy_if(o.ns.begin(), o.ns.end(), std::back_inserter(ran),
                   [](double ns) { return ns > 0; });
      if (ran.empty()) continue;
      const double ns = result::median(std::move(ran));
      out[{o.name, o.type, nth}].push_back(
          {.log_ns = std::log(ns), .spread = joined({operator_spread, 0.3 * p.step_ns / ns})});
    }
  }
  return out;
}

inline std::vector<value> run_values(const framework_side& s) {
  std::vector<value> out;
  for (const trace::profile& p : s.visits)
    if (!p.latency_ns.empty())
      out.push_back({.log_ns = std::log(result::median(p.latency_ns)), .spread = whole_run_spread});
  return out;
}

/// What the two sides say differently of themselves.
inline std::vector<fact_change> different_facts(const trace::profile& a, const trace::profile& b) {
  std::vector<fact_change> out;
  const auto add = [&](const char* fact, const std::string& before, const std::string& after,
                       const std::string& none = "not told") {
    if (before != after)
      out.push_back({fact, before.empty() ? none : before, after.empty() ? none : after, {}});
  };
  const auto settings = [](const trace::profile& p) {
    std::string all;
    for (const auto& [name, chosen] : p.settings)
      all += (all.empty() ? "" : ", ") + name + '=' + chosen;
    return all;
  };
  const auto number = [](auto n) { return n > 0 ? std::to_string(n) : std::string(); };
  add("framework", library_of_run(a), library_of_run(b));
  constexpr std::size_t digits = 12; // of a hash
  add("model's structure", a.structure.substr(0, digits), b.structure.substr(0, digits));
  add("settings", settings(a), settings(b), "none chosen");
  add("type", a.precision, b.precision);
  add("threads", number(a.threads), number(b.threads));
  add("batch", number(a.batch), number(b.batch));
  add("processor", a.processor, b.processor);
  return out;
}
} // namespace detail

/// Compares runs of a framework. Refuses sides without anything in common.
inline comparison compare_runs(const framework_side& before, const framework_side& after,
                               const limits& l = {}) {
  using namespace detail;
  for (const framework_side* s : {&before, &after})
    check_visits(*s);
  if (l.in_turns)
    check_turns(before.visits.size(), after.visits.size(), before.source + " and " + after.source);
  comparison out{
      .before = facts_of(before), .after = facts_of(after), .asked = l, .operators = true};
  const trace::profile &first = before.visits.front(), &last = after.visits.front();
  const std::string model = last.model.empty() ? "model" : last.model;
  const auto old_operators = operator_values(before), new_operators = operator_values(after);
  std::size_t unpaired = 0;
  const auto twin_of = [&](const std::vector<value>& a, const std::vector<value>& b) {
    const bool pairs = l.in_turns && a.size() == b.size() && a.size() == before.visits.size();
    if (l.in_turns && !pairs) ++unpaired;
    return twin{.of = pool::run, .before = a, .after = b, .pairs = pairs};
  };

  std::vector<twin> twins;
  std::vector<operator_key> keys;
  for (const auto& [key, its] : old_operators)
    if (const auto found = new_operators.find(key); found != new_operators.end()) {
      twins.push_back(twin_of(its, found->second));
      keys.push_back(key);
    }
  const std::vector<value> old_runs = run_values(before), new_runs = run_values(after);
  const bool whole = !old_runs.empty() && !new_runs.empty();
  if (twins.empty() && !whole)
    throw error("the two sides have neither whole runs nor operators in common",
                before.source + " and " + after.source, "measure the same model on both");
  const scatter s(twins);
  out.scatter.fill(s.of(pool::run));

  row run{.subject = model,
          .what = "run of " + library_of_run(last),
          .type = last.precision,
          .threads = std::max(last.threads, 1),
          .in_model = model};
  if (whole) {
    run.of = difference_of(twin_of(old_runs, new_runs), s);
    run.effect_ns = run.of.after_ns - run.of.before_ns;
    run.effect_share = run.of.change;
    out.models.push_back(run);
    give_verdicts(out.models, l);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto& [name, type, nth] = keys[i];
    row r{.subject = name + (nth == 0 ? "" : " (" + std::to_string(nth + 1) + ")"),
          .what = type,
          .type = last.precision,
          .threads = run.threads};
    r.of = difference_of(twins[i], s);
    if (whole) {
      r.in_model = model;
      r.effect_ns = r.of.after_ns - r.of.before_ns;
      r.effect_share = r.effect_ns / run.of.before_ns;
    }
    out.layers.push_back(std::move(r));
  }
  give_verdicts(out.layers, l);
  sort_rows(out.layers);
  const auto add_alone = [&](const auto& its, const auto& others, bool came) {
    for (const auto& [key, values] : its)
      if (!others.contains(key))
        out.alone.push_back({"operator", std::get<0>(key) + ' ' + std::get<1>(key), {}, came});
  };
  add_alone(old_operators, new_operators, false);
  add_alone(new_operators, old_operators, true);
  if (unpaired > 0) out.notes.push_back(unpaired_note(unpaired));
  out.facts = different_facts(first, last);
  return out;
}

} // namespace benanza::compare
