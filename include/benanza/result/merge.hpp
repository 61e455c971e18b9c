// SPDX-License-Identifier: Apache-2.0
// How do several runs become one? The machine has to be the same, or the merge is refused with the
// difference; of several versions of a library each keeps its rows (versions.hpp). Entries of one
// case (Google Benchmark's repetitions, or the same case in two files) become one measurement:
// samples side by side, statistics made anew. The order of entries and of files means nothing.
//
//   run all = merge({read_file("a.json"), read_file("b.json")});
#pragma once

#include "../core/text.hpp"
#include "../model/sequence.hpp"
#include "device.hpp"
#include "fields.hpp"
#include "json.hpp"
#include "planned.hpp"
#include "statistics.hpp"
#include "stop_reason.hpp"
#include "versions.hpp"

#include <nlohmann/json.hpp>
#include <range/v3/view/chunk_by.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::result {

namespace detail {
/// Refuses two runs of different machines, naming what differs; with cases of GPUs also of
/// different kinds of these, as the ceilings of one say nothing about another.
inline void same_machine(const run& a, const run& b) {
  std::string what = difference(a.provenance.at(machine_section), b.provenance.at(machine_section));
  const auto one = gpus_of(a), another = gpus_of(b);
  if (what.empty() && !one.empty() && !another.empty() && one != another)
    what = "gpu is \"" + join(one, "; ") + "\" and \"" + join(another, "; ") + '"';
  if (!what.empty())
    throw error("results of different machines are not merged: " + what,
                a.source + " and " + b.source,
                "compare them: benanza_analyze compare A B; or see both on one page: "
                "--format html");
}

/// Facts of a section that need not agree: each fact's different values, in ascending order.
inline void join_facts(run& out, const std::vector<run>& runs) {
  std::map<std::string, std::map<std::string, std::set<std::string>>> values;
  for (const run& r : runs)
    for (const auto& [section, facts] : r.provenance)
      for (const auto& [key, value] : facts)
        if (key != planned_fact) values[section][key].insert(value);
  for (const auto& [section, facts] : values)
    for (const auto& [key, all] : facts)
      out.provenance[section][key] = join(all, "; ");
}

inline bool same_case(const measurement* a, const measurement* b) {
  return identity(*a) == identity(*b);
}

/// Pointers to entries, those of one case side by side and in their order.
inline std::vector<measurement*> by_case(std::vector<measurement>& entries) {
  std::vector<measurement*> out;
  for (measurement& m : entries)
    out.push_back(&m);
  std::stable_sort(out.begin(), out.end(), [](const measurement* a, const measurement* b) {
    return identity(*a) < identity(*b);
  });
  return out;
}

/// The mean of what two entries say, by their samples; of one where the other does not know.
inline double joined(const measurement& a, const measurement& b, double measurement::*field) {
  if (!(a.*field > 0 && b.*field > 0)) return std::max(a.*field, b.*field);
  const double first = static_cast<double>(a.count), second = static_cast<double>(b.count);
  return (a.*field * first + b.*field * second) / std::max(first + second, 1.0);
}

/// One measurement of all entries of a case. An entry with the samples of another adds nothing, and
/// neither does a disturbed one where another one was not disturbed.
inline measurement join_entries(std::vector<measurement> entries) {
  const auto clean = [](const measurement& m) { return m.error.empty() && m.disturbed.empty(); };
  if (std::any_of(entries.begin(), entries.end(), clean))
    std::erase_if(entries,
                  [](const measurement& m) { return m.error.empty() && !m.disturbed.empty(); });
  std::sort(entries.begin(), entries.end(), [](const measurement& a, const measurement& b) {
    return std::tie(a.samples_ns, a.error, a.disturbed, a.setup_ns, a.algorithm_index) <
           std::tie(b.samples_ns, b.error, b.disturbed, b.setup_ns, b.algorithm_index);
  });
  const auto good = std::find_if(entries.begin(), entries.end(),
                                 [](const measurement& m) { return m.error.empty(); });
  if (good == entries.end()) return std::move(entries.front());
  const auto failed = good - entries.begin();
  const std::string reason = failed == 0 ? std::string() : entries.front().error;
  measurement out = std::move(*good);
  auto last_samples = out.samples_ns;
  for (auto next = good + 1; next != entries.end(); ++next) {
    out.algorithm_index = std::min(out.algorithm_index, next->algorithm_index);
    if (next->min_ns < out.min_ns) {
      out.min_ns = next->min_ns;
      out.min_clock_ns = next->min_clock_ns;
    }
    // A case that was sampled to its end once is not one of few samples.
    if (was_raced_out(out.stop_reason)) out.stop_reason = next->stop_reason;
    if (out.kernels.empty()) out.kernels = next->kernels;
    if (!out.counters.counted()) out.counters = next->counters;
    if (out.disturbed.find(next->disturbed) == std::string::npos)
      out.disturbed += (out.disturbed.empty() ? "" : "; ") + next->disturbed;
    if (next->samples_ns == last_samples) continue;
    last_samples = next->samples_ns;
    out.energy_nj = joined(out, *next, &measurement::energy_nj);
    out.clock_ns = joined(out, *next, &measurement::clock_ns);
    out.samples_ns.insert(out.samples_ns.end(), last_samples.begin(), last_samples.end());
    out.count += next->count;
    out.rejected += next->rejected;
  }
  if (failed != 0)
    out.disturbed += (out.disturbed.empty() ? "" : "; ") + std::to_string(failed) + " of " +
                     std::to_string(entries.size()) + " entries failed: " + reason;
  if (entries.size() > 1) recompute(out);
  return out;
}
} // namespace detail

/// The fact, among those of measuring, of how many cases that several runs measured became one
/// each; where that was not meant, there is none.
inline constexpr const char* merged_cases_fact = "merged_cases";

/// Cases that were measured in several runs.
struct overlap {
  std::size_t cases = 0;
  std::size_t again = 0;        ///< of these, in runs of one model, or of no model
  std::string example{};        ///< the name of one of the latter
  std::string one{}, another{}; ///< whose runs hold it
};

namespace detail {
/// True where two runs are of the same layers: they hold a model's graph both, or one holds none.
inline bool of_same_model(const run& a, const run& b) {
  const auto in_b = [&](const model::graph& g) {
    return !model::is_sequence(g) && std::any_of(b.graphs.begin(), b.graphs.end(),
                                                 [&](const auto& o) { return o.name == g.name; });
  };
  return a.graphs.empty() || b.graphs.empty() ||
         std::any_of(a.graphs.begin(), a.graphs.end(), in_b);
}
} // namespace detail

/// The cases that several of the runs measured, each with samples of its own. What only one of them
/// has a time for does not count, nor what they hold of one measurement; nor the machine's cases,
/// which every run measures.
inline overlap overlap_of(const std::vector<run>& runs) {
  struct entry {
    const measurement* what;
    std::size_t run;
  };
  std::vector<entry> all;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const measurement& m : runs[i].measurements)
      if (m.error.empty() && m.family != "machine") all.push_back({&m, i});
  std::stable_sort(all.begin(), all.end(), [](const entry& a, const entry& b) {
    return identity(*a.what) < identity(*b.what);
  });
  overlap out;
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(first, all.end(), [&](const entry& e) {
      return identity(*e.what) != identity(*first->what);
    });
    const auto twice = [&](const entry& one, const entry& other) {
      return one.run != other.run && std::none_of(first, last, [&](const entry& known) {
               return known.run == one.run && known.what->samples_ns == other.what->samples_ns;
             });
    };
    bool several = false, again = false;
    for (auto one = first; one != last && !again; ++one)
      for (auto other = one + 1; other != last && !again; ++other) {
        if (!twice(*one, *other)) continue;
        several = true;
        again = detail::of_same_model(runs[one->run], runs[other->run]);
        if (again && out.again == 0) {
          out.example = other->what->name;
          out.one = runs[one->run].source;
          out.another = runs[other->run].source;
        }
      }
    out.cases += several;
    out.again += again;
    first = last;
  }
  return out;
}

/// One run of several; refuses runs of different machines, and graphs that share a name
/// but not their nodes. Cases are sorted by what identifies them; behind them are rows for those
/// that the runs set out to measure and none of them holds.
inline run merge(std::vector<run> runs) {
  if (runs.empty()) throw error("there is no result to merge");
  run out;
  for (const run& r : runs)
    detail::same_machine(runs.front(), r);
  tell_versions_apart(runs);
  detail::join_facts(out, runs);
  planned_cases planned;
  for (const run& r : runs)
    for (const auto& [setting, n] : planned_of(r))
      planned[setting] = std::max(planned[setting], n);

  std::vector<measurement> entries;
  for (run& r : runs) // of what is absent is decided anew
    std::erase_if(r.measurements, [](const measurement& m) { return m.algorithm == absent_name; });
  if (runs.size() == 1) entries = std::move(runs.front().measurements);
  for (run& r : runs) {
    out.source += (out.source.empty() ? "" : ", ") + r.source;
    for (model::graph& g : r.graphs) {
      const auto same_name = [&](const model::graph& o) { return o.name == g.name; };
      const auto known = std::find_if(out.graphs.begin(), out.graphs.end(), same_name);
      if (known == out.graphs.end())
        out.graphs.push_back(std::move(g));
      else if (to_json(*known) != to_json(g))
        throw error("two different graphs are called \"" + g.name + "\"", r.source,
                    "give the variants different names");
    }
    std::move(r.measurements.begin(), r.measurements.end(), std::back_inserter(entries));
    r.measurements = {};
    out.refused.insert(out.refused.end(), r.refused.begin(), r.refused.end());
  }
  std::sort(out.graphs.begin(), out.graphs.end(),
            [](const model::graph& a, const model::graph& b) { return a.name < b.name; });
  std::sort(out.refused.begin(), out.refused.end());
  out.refused.erase(std::unique(out.refused.begin(), out.refused.end()), out.refused.end());
  const std::vector<measurement*> all = detail::by_case(entries);
  for (const auto same : all | ranges::views::chunk_by(detail::same_case)) {
    std::vector<measurement> its;
    for (measurement* m : same)
      its.push_back(std::move(*m));
    out.measurements.push_back(detail::join_entries(std::move(its)));
  }
  if (!planned.empty()) out.provenance["measuring"][planned_fact] = planned_text(planned);
  stand_for_absent(out, std::move(planned));
  return out;
}

} // namespace benanza::result
