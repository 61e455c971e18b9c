// SPDX-License-Identifier: Apache-2.0
// How does a store become a run that can be analysed? Of one system: the newest graph of each name,
// all measurements of the layers of these graphs over all runs, and those of the machine, of whole
// models and of reorders. For one model only the rows of its layers are read.
//
//   run r = read_store("results.db", {.system = "latest", .model = "resnet50"});
#pragma once

#include "../merge.hpp"
#include "systems.hpp"

#include <nlohmann/json.hpp>
#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/algorithm/min.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/chunk_by.hpp>
#include <range/v3/view/map.hpp>
#include <range/v3/view/move.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::result::store {

/// What to read of a store.
struct selection {
  std::string system{}; ///< as choose_system takes it
  std::string model{};  ///< graphs or models of that name, or with it in their name; empty: all
};

namespace detail {
/// A graph in a store, without its body.
struct graph_entry {
  std::int64_t id;
  std::string name, model, unfused;
  bool wanted = false;
};

/// The newest graph of each name that was measured on a system, by name.
inline std::vector<graph_entry> newest_graphs(const store& s, std::int64_t system) {
  statement q(
      s.tables_of(),
      "SELECT g.id, g.name, g.model, g.unfused FROM run r JOIN run_graph l ON l.run = r.id"
      " LEFT JOIN graph g ON g.id = l.graph WHERE r.system = ? ORDER BY r.date DESC, r.id DESC");
  q.with(system);
  std::map<std::string, graph_entry> by_name;
  while (q.next()) {
    if (q.null(0)) s.tables_of().refuse_damaged("a run names a graph that is not there");
    by_name.try_emplace(std::string(q.text(1)),
                        graph_entry{q.integer(0), std::string(q.text(1)), std::string(q.text(2)),
                                    std::string(q.text(3))});
  }
  return by_name | ranges::views::values | ranges::views::move | ranges::to<std::vector>;
}

/// Marks the graphs called `model`, as variants or models; if there are none, those with it in
/// their name; and with each its other forms, what it is the fused form of, and the same model with
/// weights or a cache in other types.
inline void want(std::vector<graph_entry>& graphs, const std::string& model) {
  for (graph_entry& g : graphs)
    g.wanted = g.name == model || g.model == model || model.empty();
  if (!ranges::any_of(graphs, &graph_entry::wanted))
    for (graph_entry& g : graphs)
      g.wanted = g.name.find(model) != std::string::npos;
  // A model, fused; rewritten; rewritten and fused.
  const std::string rewritten(model::rewritten_suffix);
  std::set<std::string> kin;
  std::set<std::string_view> in_types, of_types;
  for (const graph_entry& g : graphs)
    if (g.wanted) {
      kin.insert({g.name, g.unfused, g.name + rewritten});
      const model::variant v = model::variant_of(g.model);
      in_types.insert(v.of);
      if (!v.kind.empty()) of_types.insert(v.of);
    }
  for (graph_entry& g : graphs) {
    const model::variant v = model::variant_of(g.model);
    g.wanted = g.wanted || kin.contains(g.name) ||
               (!g.unfused.empty() && kin.contains(g.unfused)) ||
               (v.kind.empty() ? of_types : in_types).contains(v.of);
  }
}

inline model::graph read_graph(const store& s, const graph_entry& entry) {
  statement q(s.tables_of(), "SELECT body, checksum FROM graph WHERE id = ?");
  q.with(entry.id).next();
  if (!q.null(1) && q.integer(1) != sum_of_graph(entry.name, entry.model, entry.unfused, q.text(0)))
    s.tables_of().refuse_damaged("the graph " + entry.name + " is not what was written");
  const json body = json::parse(q.text(0), nullptr, false);
  if (body.is_discarded()) s.tables_of().refuse_damaged("a graph is no JSON");
  return graph_from_json(body, s.path());
}

/// The numbers of the layers of some graphs, and of all that is no layer of a model.
inline std::set<std::int64_t> layers_to_read(const store& s,
                                             const std::vector<model::graph>& graphs) {
  std::set<std::int64_t> out;
  for (const model::graph& g : graphs)
    for (const op::layer& l : g.layers)
      if (const auto id = s.find_layer(op::family(l), op::key(l))) out.insert(*id);
  statement q(s.tables_of(), "SELECT id FROM layer WHERE family = ?");
  for (const std::string_view family : {"machine", "model", "reorder", "sequence"}) {
    q.with(family);
    while (q.next())
      out.insert(q.integer(0));
  }
  return out;
}

/// What several runs of one system say of themselves: the newest's facts, with the lowest effort,
/// the dates of the oldest and the newest and how many they are.
inline auto joint_provenance(const store& s, std::int64_t system,
                             const std::set<std::int64_t>& runs) {
  decltype(run::provenance) out;
  std::string oldest, newest;
  statement q(s.tables_of(), "SELECT id, date, effort FROM run WHERE system = ? ORDER BY date, id");
  q.with(system);
  std::int64_t last = 0;
  std::set<std::int64_t> known;
  effort least = effort::exhaustive;
  while (q.next()) {
    s.check_run(q.integer(0));
    known.insert(q.integer(0));
    if (!runs.empty() && !runs.contains(q.integer(0))) continue;
    last = q.integer(0);
    least = std::min(least, static_cast<effort>(q.integer(2)));
    newest = q.text(1);
    if (oldest.empty()) oldest = newest;
  }
  if (!std::includes(known.begin(), known.end(), runs.begin(), runs.end()))
    s.tables_of().refuse_damaged("a result names a run that is not there");
  out = s.provenance_of(last);
  if (runs.size() > 1) {
    out["measuring"]["runs"] = std::to_string(runs.size());
    if (out["measuring"].contains("effort")) out["measuring"]["effort"] = name(least);
    if (oldest != newest) out["measuring"]["date"] = oldest + " to " + newest;
  }
  return out;
}
} // namespace detail

/// Every measurement of a system that is selected, as each run wrote it.
inline run read_entries(const store& s, const selection& wanted, std::int64_t system) {
  run out;
  out.source = s.path();
  std::vector<detail::graph_entry> graphs = detail::newest_graphs(s, system);
  detail::want(graphs, wanted.model);
  for (const detail::graph_entry& g : graphs)
    if (g.wanted) out.graphs.push_back(detail::read_graph(s, g));
  std::set<std::int64_t> runs;
  const auto take = [&](stored&& row) {
    runs.insert(row.run);
    out.measurements.push_back(std::move(row.what));
  };
  if (wanted.model.empty())
    s.rows().of_system(system, take);
  else
    for (const std::int64_t layer : detail::layers_to_read(s, out.graphs))
      s.rows().of_layer(system, layer, take);
  out.provenance = detail::joint_provenance(s, system, runs);
  if (!wanted.model.empty()) out.provenance["measuring"].erase(planned_fact); // of other models too
  return out;
}

namespace detail {
/// Refuses a model that none of these systems knows.
inline void check_model(const store& s, const selection& wanted,
                        const std::vector<std::int64_t>& systems) {
  std::set<std::string> names;
  for (const std::int64_t system : systems) {
    std::vector<graph_entry> graphs = newest_graphs(s, system);
    want(graphs, wanted.model);
    if (wanted.model.empty() || ranges::any_of(graphs, &graph_entry::wanted)) return;
    for (const graph_entry& g : graphs)
      names.insert(g.name);
  }
  throw error("no model is called \"" + wanted.model + "\"", s.path(),
              "there are: " + join(names, ", "));
}
} // namespace detail

/// The same of the only system, or of the one that is chosen.
inline run read_entries(const store& s, const selection& wanted) {
  const std::int64_t system = choose_system(s, wanted.system);
  detail::check_model(s, wanted, {system});
  return read_entries(s, wanted, system);
}

/// The same, a run for each of the system's runs that has any of it, the oldest first, each with
/// its own provenance.
inline std::vector<run> read_runs(const store& s, const selection& wanted, std::int64_t system) {
  run all;
  std::map<std::int64_t, std::vector<measurement>> by_run;
  detail::check_model(s, wanted, {system});
  std::vector<detail::graph_entry> graphs = detail::newest_graphs(s, system);
  detail::want(graphs, wanted.model);
  for (const detail::graph_entry& g : graphs)
    if (g.wanted) all.graphs.push_back(detail::read_graph(s, g));
  const auto take = [&](stored&& row) { by_run[row.run].push_back(std::move(row.what)); };
  if (wanted.model.empty())
    s.rows().of_system(system, take);
  else
    for (const std::int64_t layer : detail::layers_to_read(s, all.graphs))
      s.rows().of_layer(system, layer, take);
  std::vector<run> out;
  for (auto& [id, measurements] : by_run) {
    s.check_run(id);
    run& r = out.emplace_back();
    r.source = s.path();
    r.graphs = all.graphs;
    r.provenance = s.provenance_of(id);
    r.measurements = std::move(measurements);
    std::erase_if(r.measurements, is_damaged);
  }
  const auto date = [](const run& r) -> std::string {
    const auto measuring = r.provenance.find("measuring");
    if (measuring == r.provenance.end() || !measuring->second.contains("date")) return {};
    return measuring->second.at("date");
  };
  std::stable_sort(out.begin(), out.end(),
                   [&](const run& a, const run& b) { return date(a) < date(b); });
  return out;
}

/// Leaves of each case those entries that say most: not the failed ones if one succeeded, and not
/// the disturbed ones if one was not.
inline void keep_best(std::vector<measurement>& entries) {
  const auto rank = [](const measurement* m) {
    return !m->error.empty() ? 2 : !m->disturbed.empty() ? 1 : 0;
  };
  std::vector<measurement> out;
  const std::vector<measurement*> all = result::detail::by_case(entries);
  for (const auto same : all | ranges::views::chunk_by(result::detail::same_case)) {
    const int best = ranges::min(same | ranges::views::transform(rank));
    for (measurement* m : same)
      if (rank(m) == best) out.push_back(std::move(*m));
  }
  entries = std::move(out);
}

/// The run that is selected, its entries merged over all runs of a system: samples side by side,
/// disturbed ones only where there are no others, failures only where nothing succeeded. What
/// several systems of one machine hold, the newest says.
inline run read_store(const store& s, const selection& wanted = {}) {
  std::vector<run> runs;
  const std::vector<std::int64_t> systems = chosen_systems(s, wanted.system);
  detail::check_model(s, wanted, systems);
  for (const std::int64_t system : systems)
    runs.push_back(read_entries(s, wanted, system));
  tell_versions_apart(runs);
  std::set<std::string> graphs;
  using identity_of_case = decltype(identity(std::declval<const measurement&>()));
  std::set<identity_of_case> cases; // refers to the measurements, which stay where they are
  for (run& r : runs) {
    std::erase_if(r.graphs, [&](const model::graph& g) { return graphs.contains(g.name); });
    for (const model::graph& g : r.graphs)
      graphs.insert(g.name);
    keep_best(r.measurements);
    std::erase_if(r.measurements,
                  [&](const measurement& m) { return cases.contains(identity(m)); });
    if (runs.size() > 1)
      for (const measurement& m : r.measurements)
        cases.insert(identity(m));
  }
  return merge(std::move(runs));
}

/// The same from a file.
inline run read_store(const std::string& path, const selection& wanted = {}) {
  return read_store(store(path, access::read), wanted);
}

} // namespace benanza::result::store
