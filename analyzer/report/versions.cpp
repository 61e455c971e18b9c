// SPDX-License-Identifier: Apache-2.0
#include "versions.hpp"

#include "units.hpp"

#include <benanza/result/versions.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace benanza::report {

std::map<std::string, std::vector<library_version>> versions_in(const result::run& r) {
  std::map<std::string, std::vector<library_version>> out;
  for (const auto& [backend, facts] : result::detail::facts_by_backend(r)) {
    const auto version = facts.find("version");
    if (version == facts.end()) continue;
    out[std::string(result::library_of(backend))].push_back({backend, version->second});
  }
  std::erase_if(out, [](const auto& l) { return l.second.size() < 2; });
  const auto number = [](const std::string& text) {
    std::vector<int> parts;
    for (std::size_t at = 0; at < text.size();) {
      parts.push_back(std::atoi(text.c_str() + at));
      at = std::min(text.find('.', at), text.size() - 1) + 1;
    }
    return parts;
  };
  for (auto& [library, all] : out)
    std::sort(all.begin(), all.end(),
              [&](const auto& a, const auto& b) { return number(a.version) < number(b.version); });
  return out;
}

namespace {
/// Times within this factor are equal.
constexpr double same_speed = 1.03;
} // namespace

double bound_of(const bound::model_bound& b) {
  return b.partial() ? 0 : b.best_form().bound.sequential.ns;
}

library_versions compare_versions(std::string library, std::vector<library_version> versions,
                                  const std::vector<std::vector<bound::model_bound>>& alone,
                                  const std::vector<bound::model_bound>& together) {
  library_versions out{std::move(library), std::move(versions), {}, {}};
  const std::size_t last = out.versions.size() - 1;
  std::map<std::pair<std::string, std::string>, version_change> changes;
  for (std::size_t i = 0; i < together.size(); ++i) {
    const bound::model_bound& all = together[i];
    versions_of_model& m = out.models.emplace_back();
    m.model = all.graph->name;
    m.type = name(all.type);
    m.threads = all.threads;
    m.together_ns = all.best_form().bound.sequential.ns;
    m.wins.resize(out.versions.size());
    for (const auto& its : alone)
      m.alone_ns.push_back(bound_of(its[i]));
    for (const bound::layer_answer& l : all.layers) {
      if (!l.timed() || l.uses == 0) continue;
      m.nodes += l.uses;
      const auto wins = std::find_if(out.versions.begin(), out.versions.end(), [&](const auto& v) {
        return v.backend == l.algorithms.best->backend;
      });
      if (wins == out.versions.end())
        m.others_win += l.uses;
      else
        m.wins[static_cast<std::size_t>(wins - out.versions.begin())] += l.uses;
    }
    // The newest against the one before it.
    const auto own_ns = [&](std::size_t v, std::string_view layer) {
      for (const bound::layer_answer& l : alone[v][i].layers)
        if (l.name == layer && l.timed() && l.algorithms.best->backend == out.versions[v].backend)
          return l.algorithms.bound.ns;
      return 0.0;
    };
    for (const bound::layer_answer& l : all.layers) {
      const double before = own_ns(last - 1, l.name), now = own_ns(last, l.name);
      if (!(before > 0 && now > 0)) continue;
      version_change& c = changes[{l.name, m.type}];
      c = {l.name, m.type, last - 1, last, before, now, c.uses + l.uses};
    }
  }
  for (auto& [where, c] : changes)
    if (c.factor() > same_speed || c.factor() < 1 / same_speed) out.changes.push_back(c);
  std::stable_sort(out.changes.begin(), out.changes.end(),
                   [](const auto& a, const auto& b) { return a.cost_ns() > b.cost_ns(); });
  return out;
}

namespace {
using tables::unit;
using tables::whole;

/// Of each model its bound by one version alone, and by all; and who has the fastest algorithms.
tables::table shown_models(const library_versions& v) {
  tables::table out{.columns = {{"", "model", unit::name}, {"", "type"}}};
  for (const library_version& one : v.versions)
    out.columns.push_back({"", one.version, unit::time});
  out.columns.push_back({"", "all", unit::time});
  for (const library_version& one : v.versions)
    out.columns.push_back({"", "nodes " + one.version, unit::count});
  out.columns.push_back({"", "others", unit::count});
  for (const versions_of_model& m : v.models) {
    auto& row = out.rows.emplace_back();
    row = {m.model, m.type};
    for (const double ns : m.alone_ns)
      row.push_back(ns > 0 ? tables::cell(ns) : "partial");
    row.emplace_back(m.together_ns);
    for (const std::int64_t n : m.wins)
      row.emplace_back(n);
    row.emplace_back(m.others_win);
  }
  return out;
}

/// The same for programs: a row a model, and a row a model and version.
void add_models(const library_versions& v, tables::chapter& to) {
  tables::table models{.key = "models",
                       .columns = tables::keys({"model", "type", "threads", "together_ns", "nodes",
                                                "nodes_won_by_others"})};
  tables::table alone{
      .key = "by_version",
      .columns = tables::keys({"model", "type", "threads", "version", "alone_ns", "nodes_won"})};
  for (const versions_of_model& m : v.models) {
    models.rows.push_back(
        {m.model, m.type, whole(m.threads), m.together_ns, m.nodes, m.others_win});
    for (std::size_t i = 0; i < v.versions.size(); ++i)
      alone.rows.push_back({m.model, m.type, whole(m.threads), v.versions[i].version,
                            tables::above_zero(m.alone_ns[i]), m.wins[i]});
  }
  to.add(std::move(models));
  to.add(std::move(alone));
}

/// Layers that are slower in the newest version, or faster: what costs, or saves, most first.
tables::table changes_of(const library_versions& v, bool slower, std::size_t rows) {
  const library_version &before = v.versions[v.versions.size() - 2], &now = v.versions.back();
  tables::table out{.key = slower ? "slower" : "faster",
                    .title = fmt::format("Layers that are {} in {} than in {}, by what that is in "
                                         "these models",
                                         slower ? "slower" : "faster", now.version, before.version),
                    .columns = {{"old_ns", before.version, unit::time},
                                {"new_ns", now.version, unit::time},
                                {"ratio", "ratio", unit::factor},
                                {"in_all_ns", "in all", unit::time},
                                {"type", "type"},
                                {"uses", "", unit::count},
                                {"layer", "layer", unit::name}},
                    .shown = rows,
                    .all_by = "--layers all"};
  for (const version_change& c : v.changes)
    if ((c.factor() > 1) == slower)
      out.rows.push_back(
          {c.older_ns, c.newer_ns, c.factor(), std::abs(c.cost_ns()), c.type, c.uses, c.layer});
  if (!slower) std::reverse(out.rows.begin(), out.rows.end());
  return out;
}
} // namespace

tables::chapter versions_answer(const library_versions& v, std::size_t rows) {
  tables::chapter out{.key = "libraries",
                      .title = v.library + ": the bound of each model by one version alone, and by "
                                           "all; of how many nodes each has the fastest algorithm",
                      .fields = {{"library", v.library, true}}};
  tables::table versions{.key = "versions", .columns = tables::keys({"backend", "version"})};
  for (const library_version& one : v.versions)
    versions.rows.push_back({one.backend, one.version});
  out.add(std::move(versions));
  add_models(v, out);
  out.add(shown_models(v));
  out.add(changes_of(v, true, rows));
  out.add(changes_of(v, false, rows));
  if (v.changes.empty()) out.say("No layer differs by more than 3 %.");
  return out;
}

} // namespace benanza::report
