// SPDX-License-Identifier: Apache-2.0
// What does a team ask of its store? Who measured what and when; whether all of it is what was
// written; and that it forgets what is old. What newer runs did not measure again stays, however
// old it is, and so does the newest graph of each name: nothing that was known becomes unknown.
//
//   for (const run_entry& r : runs_of(s)) ...
//   pruned p = prune(s, {.keep = 3}, false);   findings f = check_all(s);
#pragma once

#include "reader.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace benanza::result::store {

/// A run, without its results.
struct run_entry {
  std::int64_t id = 0, system = 0;
  std::string date, by, machine;
  std::vector<std::string> models; ///< their graphs
  effort reached = effort::quick;
  std::int64_t results = 0;
};

/// All runs of a system, or of all, the oldest first.
inline std::vector<run_entry> runs_of(const store& s, std::optional<std::int64_t> system = {}) {
  std::vector<run_entry> out;
  std::map<std::int64_t, std::int64_t> results;
  statement counts(s.tables_of(), "SELECT run, count(*) FROM result GROUP BY run");
  counts.each([&](const statement& row) { results[row.integer(0)] = row.integer(1); });
  statement runs(s.tables_of(), "SELECT id, system, date, effort, provenance FROM run"
                                " ORDER BY date, id");
  statement graphs(s.tables_of(), "SELECT g.name FROM run_graph l JOIN graph g ON g.id = l.graph"
                                  " WHERE l.run = ? ORDER BY g.name");
  runs.each([&](const statement& row) {
    if (system && row.integer(1) != *system) return;
    run_entry& r = out.emplace_back();
    r.id = row.integer(0);
    r.system = row.integer(1);
    r.date = row.text(2);
    r.reached = static_cast<effort>(row.integer(3));
    r.results = results[r.id];
    const json sections = json::parse(row.text(4), nullptr, false);
    const auto fact = [&](const char* section, const char* name) {
      const json none = json::object();
      const json in = sections.is_object() ? sections.value(section, none) : none;
      return in.is_object() && in.contains(name) && in.at(name).is_string()
                 ? in.at(name).get<std::string>()
                 : std::string();
    };
    r.by = fact("measuring", by_fact);
    r.machine = fact("machine", "cpu");
    if (const std::string gpu = fact("machine", "gpu"); !gpu.empty()) r.machine = gpu;
    graphs.with(r.id).each([&](const statement& g) { r.models.emplace_back(g.text(0)); });
  });
  return out;
}

/// Which runs are old: not among the newest `keep` of their system, and from before `before`. One
/// of them has to be said.
struct retention {
  std::int64_t keep = 0; ///< 0: does not say
  std::string before{};  ///< a date, or the begin of one; empty: does not say
};

/// What was forgotten.
struct pruned {
  std::int64_t runs = 0, results = 0, graphs = 0;
};

namespace detail {
/// The first run of a system that is not old, as (date, id); nothing: none is old.
inline std::optional<std::pair<std::string, std::int64_t>>
first_kept(const connection& c, std::int64_t system, const retention& r) {
  std::optional<std::pair<std::string, std::int64_t>> out;
  if (!r.before.empty()) out.emplace(r.before, 0);
  if (r.keep == 0) return out;
  statement newest(c, "SELECT date, id FROM run WHERE system = ? ORDER BY date DESC, id DESC"
                      " LIMIT 1 OFFSET ?");
  std::optional<std::pair<std::string, std::int64_t>> kept;
  newest.with(system, r.keep - 1).first([&](const statement& row) {
    kept.emplace(row.text(0), row.integer(1));
  });
  if (!kept || !out) return kept;
  return std::min(*kept, *out);
}

inline void prune_system(const connection& c, std::int64_t system, const std::string& date,
                         std::int64_t id, pruned& gone) {
  // A program that adds to such a run waits until the end, or is waited for.
  statement(c, "UPDATE run SET results = results WHERE system = ? AND (date, id) < (?, ?)")
      .run(system, date, id);
  const std::string_view old_and_known =
      "FROM result WHERE system = ? AND run IN (SELECT id FROM run WHERE system = ? AND"
      " (date, id) < (?, ?)) AND EXISTS (SELECT 1 FROM result newer JOIN run r ON r.id = newer.run"
      " WHERE newer.system = result.system AND newer.layer = result.layer AND"
      " newer.setting = result.setting AND newer.variant = result.variant AND"
      " newer.failed <= result.failed AND r.effort >= (SELECT o.effort FROM run o WHERE"
      " o.id = result.run) AND (r.date, r.id) >= (?, ?))";
  statement count(c, "SELECT count(*) " + std::string(old_and_known));
  count.with(system, system, date, id, date, id).first([&](const statement& row) {
    gone.results += row.integer(0);
  });
  statement(c, "DELETE " + std::string(old_and_known)).run(system, system, date, id, date, id);
  // What has no results left, and no graph that newer runs lack.
  statement empty(
      c, "SELECT id FROM run WHERE system = ? AND (date, id) < (?, ?) AND id NOT IN"
         " (SELECT run FROM result WHERE system = ?) AND NOT EXISTS (SELECT 1 FROM run_graph l JOIN"
         " graph g ON g.id = l.graph WHERE l.run = run.id AND NOT EXISTS (SELECT 1 FROM run_graph m"
         " JOIN graph h ON h.id = m.graph JOIN run r ON r.id = m.run WHERE h.name = g.name AND"
         " r.system = run.system AND (r.date, r.id) > (run.date, run.id)))");
  std::vector<std::int64_t> runs;
  empty.with(system, date, id, system).each([&](const statement& row) {
    runs.push_back(row.integer(0));
  });
  statement links(c, "DELETE FROM run_graph WHERE run = ?"), run(c, "DELETE FROM run WHERE id = ?");
  for (const std::int64_t r : runs) {
    links.run(r);
    run.run(r);
  }
  gone.runs += std::ssize(runs);
}
} // namespace detail

/// Forgets the results of old runs that newer ones have measured again with no less effort, the
/// runs that then have none, and the graphs of no run; with `only_tell` it says what that would be.
inline pruned prune(const store& s, const retention& which, bool only_tell) {
  const connection& c = s.tables_of();
  pruned gone;
  const auto forget = [&] {
    c.exclude_others();
    std::vector<std::int64_t> systems;
    statement all(c, "SELECT id FROM system ORDER BY id");
    all.each([&](const statement& row) { systems.push_back(row.integer(0)); });
    for (const std::int64_t system : systems)
      if (const auto kept = detail::first_kept(c, system, which))
        detail::prune_system(c, system, kept->first, kept->second, gone);
    statement unused(c, "SELECT id FROM graph WHERE id NOT IN (SELECT graph FROM run_graph)");
    std::vector<std::int64_t> graphs;
    unused.each([&](const statement& row) { graphs.push_back(row.integer(0)); });
    statement graph(c, "DELETE FROM graph WHERE id = ?");
    for (const std::int64_t g : graphs)
      graph.run(g);
    gone.graphs = std::ssize(graphs);
    return gone;
  };
  if (!only_tell) return make_whole(c, forget, [&] { gone = {}; });
  const transaction never_committed(c);
  return forget();
}

/// What a check of a whole store found.
struct findings {
  std::int64_t systems = 0, runs = 0, graphs = 0, results = 0, damaged = 0;
  std::vector<std::string> faults; ///< a line each
};

/// Reads all that a store holds and compares it with its checksums.
inline findings check_all(const store& s) {
  const connection& c = s.tables_of();
  findings out;
  const auto note = [&](const auto& look) {
    try {
      look();
    } catch (const error& e) {
      out.faults.emplace_back(e.what());
    }
  };
  const std::string own = c.faults();
  for (const std::string_view line : items(own, "\n"))
    out.faults.emplace_back(line);
  std::vector<std::int64_t> systems, runs;
  statement all_systems(c, "SELECT id FROM system ORDER BY id");
  all_systems.each([&](const statement& row) { systems.push_back(row.integer(0)); });
  statement all_runs(c, "SELECT id FROM run ORDER BY id");
  all_runs.each([&](const statement& row) { runs.push_back(row.integer(0)); });
  out.systems = std::ssize(systems);
  out.runs = std::ssize(runs);
  for (const std::int64_t r : runs)
    note([&] { s.check_run(r); });
  std::vector<detail::graph_entry> graphs;
  statement all_graphs(c, "SELECT id, name, model, unfused FROM graph ORDER BY id");
  all_graphs.each([&](const statement& row) {
    graphs.push_back({row.integer(0), std::string(row.text(1)), std::string(row.text(2)),
                      std::string(row.text(3))});
  });
  out.graphs = std::ssize(graphs);
  for (const detail::graph_entry& g : graphs)
    note([&] { (void)detail::read_graph(s, g); });
  for (const std::int64_t system : systems)
    note([&] {
      s.rows().of_system(system, [&](stored&& row) {
        ++out.results;
        if (is_damaged(row.what) && out.damaged++ == 0)
          out.faults.push_back("a result is not what was written: " + row.what.name);
      });
    });
  const auto stray = [&](const char* question, const char* what) {
    note([&] {
      statement lost(c, question);
      if (lost.next() && lost.integer(0) != 0)
        out.faults.push_back(std::to_string(lost.integer(0)) + what);
    });
  };
  stray("SELECT count(*) FROM result WHERE run NOT IN (SELECT id FROM run)",
        " results name a run that is not there");
  stray("SELECT count(*) FROM result WHERE system NOT IN (SELECT id FROM system)",
        " results name a system that is not there");
  return out;
}

} // namespace benanza::result::store
