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

std::string versions_text(const library_versions& v, std::size_t rows) {
  std::string out = v.library + ": the bound of each model by one version alone, and by all;\n" +
                    std::string(v.library.size() + 2, ' ') +
                    "of how many nodes each has the fastest algorithm\n";
  std::string head = fmt::format("  {:<28}", "model");
  for (const library_version& one : v.versions)
    head += fmt::format("  {:>8}", printable(one.version));
  head += fmt::format("  {:>8}  ", "all");
  for (const library_version& one : v.versions)
    head += fmt::format("  {:>6}", printable(one.version));
  out += head + fmt::format("  {:>6}\n", "others");
  for (const versions_of_model& m : v.models) {
    out += fmt::format("  {:<28}", printable(m.model));
    for (const double ns : m.alone_ns)
      out += fmt::format("  {:>8}", ns > 0 ? show_time(ns) : "partial");
    out += fmt::format("  {:>8}  ", show_time(m.together_ns));
    for (const std::int64_t n : m.wins)
      out += fmt::format("  {:>6}", n);
    out += fmt::format("  {:>6}\n", m.others_win);
  }
  const library_version &before = v.versions[v.versions.size() - 2], &now = v.versions.back();
  const auto table = [&](std::string_view title, auto from, auto to) {
    if (from == to) return;
    out += fmt::format("\n{} {} than in {}, by what that is in these models\n", title,
                       printable(now.version), printable(before.version));
    out += fmt::format("  {:>9}  {:>9}  {:>6}  {:>9}  {}\n", printable(before.version),
                       printable(now.version), "ratio", "in all", "layer");
    std::size_t shown = 0;
    for (; from != to && shown < rows; ++from, ++shown)
      out += fmt::format("  {:>9}  {:>9}  {:>6.2f}  {:>9}  {} {}\n", show_time(from->older_ns),
                         show_time(from->newer_ns), from->factor(),
                         show_time(std::abs(from->cost_ns())), printable(from->layer),
                         printable(from->type));
    if (from != to) out += fmt::format("  and {} more (--layers all)\n", to - from);
  };
  const auto faster = std::find_if(v.changes.begin(), v.changes.end(),
                                   [](const auto& c) { return c.factor() < 1; });
  table("Layers that are slower in", v.changes.begin(), faster);
  table("Layers that are faster in", v.changes.rbegin(), std::make_reverse_iterator(faster));
  if (v.changes.empty()) out += "\nNo layer differs by more than 3 %.\n";
  return out;
}

result::ordered_json versions_json(const library_versions& v) {
  result::ordered_json versions = result::ordered_json::array(),
                       models = result::ordered_json::array(),
                       changes = result::ordered_json::array();
  for (const library_version& one : v.versions)
    versions.push_back({{"backend", one.backend}, {"version", one.version}});
  for (const versions_of_model& m : v.models) {
    result::ordered_json alone = result::ordered_json::array();
    for (const double ns : m.alone_ns)
      alone.push_back(ns > 0 ? result::ordered_json(ns) : result::ordered_json());
    models.push_back({{"model", m.model},
                      {"type", m.type},
                      {"threads", m.threads},
                      {"alone_ns", std::move(alone)},
                      {"together_ns", m.together_ns},
                      {"nodes_won", m.wins},
                      {"nodes_won_by_others", m.others_win},
                      {"nodes", m.nodes}});
  }
  for (const version_change& c : v.changes)
    changes.push_back({{"layer", c.layer},
                       {"type", c.type},
                       {"from", v.versions[c.older].version},
                       {"to", v.versions[c.newer].version},
                       {"from_ns", c.older_ns},
                       {"to_ns", c.newer_ns},
                       {"uses", c.uses}});
  return {{"library", v.library},
          {"versions", std::move(versions)},
          {"models", std::move(models)},
          {"changes", std::move(changes)}};
}

} // namespace benanza::report
