// SPDX-License-Identifier: Apache-2.0
// Every algorithm of a layer: how long it takes, or why it was not timed. The fastest first; then
// those that failed, and those that a library has by name and refuses.
//
//   const auto all = algorithms_of(run, "Conv/1x64x56x56");   algorithms_text(all)
#pragma once

#include "../result/fields.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <range/v3/action/sort.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/map.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::report {

/// One algorithm of a layer.
struct algorithm_row {
  std::string backend{}, algorithm{}, layouts{};
  double hot_ns = 0, coldw_ns = 0; ///< least hot time, and median with cold weights; 0: none
  double hot_nj = 0, coldw_nj = 0; ///< the energy of both; 0: not known
  std::string remark{};            ///< what a reader should know; of what has no time, why

  bool timed() const { return hot_ns > 0 || coldw_ns > 0; }
  double by() const { return hot_ns > 0 ? hot_ns : coldw_ns; }
};

/// All that is known of the algorithms of a layer in one type on some threads.
struct layer_algorithms {
  std::string layer{}, type{};
  int threads = 1;
  std::vector<algorithm_row> timed{}, others{};
};

namespace detail {
inline std::string remark_of(const result::measurement& m) {
  if (!m.error.empty()) return m.error;
  if (m.equivalence != m.type && !m.equivalence.empty()) return "other results: " + m.equivalence;
  if (m.fallback == "ref") return "a reference loop";
  if (m.fallback == "old-isa") return "for an older instruction set";
  if (m.fallback == "host") return "our own kernel";
  return {};
}
} // namespace detail

/// The algorithms of all layers with `text` in their names, as `family/key`. `threads`: 0 for all.
inline std::vector<layer_algorithms> algorithms_of(const result::run& r, const std::string& text,
                                                   const std::string& type = {}, int threads = 0) {
  using place = std::tuple<std::string, std::string, int>;
  std::map<place, std::map<std::pair<std::string, std::string>, algorithm_row>> all;
  const auto wanted = [&](const auto& x) {
    return (x.family + '/' + x.key).find(text) != std::string::npos &&
           (type.empty() || x.type == type);
  };
  for (const result::measurement& m : r.measurements) {
    if (!result::of_a_layer(m) || !wanted(m) || (threads != 0 && m.threads != threads)) continue;
    algorithm_row& row = all[{m.family + '/' + m.key, m.type, m.threads}][{m.backend, m.algorithm}];
    row.backend = m.backend;
    row.algorithm = m.algorithm;
    if (!m.layouts.empty()) row.layouts = m.layouts;
    if (m.error.empty() && m.state == "hot") row.hot_ns = m.min_ns, row.hot_nj = m.energy_nj;
    if (m.error.empty() && m.state == "coldw")
      row.coldw_ns = m.median_ns, row.coldw_nj = m.energy_nj;
    if (row.remark.empty()) row.remark = detail::remark_of(m);
  }
  for (const result::refused_case& x : r.refused)
    for (auto& [where, rows] : all)
      if (wanted(x) && std::get<0>(where) == x.family + '/' + x.key && std::get<1>(where) == x.type)
        rows.try_emplace({x.backend, x.algorithm}, algorithm_row{.backend = x.backend,
                                                                 .algorithm = x.algorithm,
                                                                 .remark = "refused: " + x.why});
  std::vector<layer_algorithms> out;
  for (auto& [where, rows] : all) {
    layer_algorithms& l = out.emplace_back();
    std::tie(l.layer, l.type, l.threads) = where;
    for (algorithm_row& row : rows | ranges::views::values)
      (row.timed() ? l.timed : l.others).push_back(std::move(row));
    std::stable_sort(l.timed.begin(), l.timed.end(),
                     [](const auto& a, const auto& b) { return a.by() < b.by(); });
  }
  return out;
}

/// The table of one layer.
inline std::string algorithms_text(const layer_algorithms& l) {
  std::string out = fmt::format(
      "{}, {}, {}: {}{}\n", printable(l.layer), printable(l.type), counted(l.threads, "thread"),
      counted(std::ssize(l.timed), "algorithm"),
      l.others.empty() ? std::string() : fmt::format(", {} not timed", l.others.size()));
  if (!l.timed.empty())
    out += fmt::format("  {:>9}  {:>12}  {:>6}  {}\n", "least", "cold weights", "x best",
                       "library and algorithm");
  const auto time = [](double ns) { return ns > 0 ? show_time(ns) : std::string("-"); };
  for (const algorithm_row& row : l.timed)
    out +=
        fmt::format("  {:>9}  {:>12}  {:>6.2f}  {}{}\n", time(row.hot_ns), time(row.coldw_ns),
                    row.by() / l.timed.front().by(), printable(row.backend + ' ' + row.algorithm),
                    row.remark.empty() ? std::string() : " (" + printable(row.remark) + ')');
  if (!l.others.empty()) out += "  not timed:\n";
  for (const algorithm_row& row : l.others)
    out += fmt::format("    {}: {}\n", printable(row.backend + ' ' + row.algorithm),
                       printable(row.remark));
  return out;
}

inline std::string algorithms_text(const std::vector<layer_algorithms>& all, bool asked_refusals) {
  std::string out;
  for (const layer_algorithms& l : all)
    out += (out.empty() ? "" : "\n") + algorithms_text(l);
  if (!asked_refusals)
    out += "\nWhat libraries refuse, and why, is in results of benanza_bench --refused.\n";
  return out;
}

inline std::string algorithms_json(const std::vector<layer_algorithms>& all) {
  using nlohmann::ordered_json;
  ordered_json layers = ordered_json::array();
  for (const layer_algorithms& l : all) {
    ordered_json rows = ordered_json::array();
    for (const auto* part : {&l.timed, &l.others})
      for (const algorithm_row& row : *part) {
        ordered_json& one =
            rows.emplace_back(ordered_json{{"backend", row.backend}, {"algorithm", row.algorithm}});
        if (!row.layouts.empty()) one["layouts"] = row.layouts;
        if (row.hot_ns > 0) one["hot_min_ns"] = row.hot_ns;
        if (row.coldw_ns > 0) one["coldw_median_ns"] = row.coldw_ns;
        if (row.hot_nj > 0) one["hot_energy_nj"] = row.hot_nj;
        if (row.coldw_nj > 0) one["coldw_energy_nj"] = row.coldw_nj;
        if (!row.remark.empty()) one[row.timed() ? "remark" : "why_not"] = row.remark;
      }
    layers.push_back({{"layer", l.layer},
                      {"type", l.type},
                      {"threads", l.threads},
                      {"algorithms", std::move(rows)}});
  }
  return ordered_json{{"layers", std::move(layers)}}.dump(1, ' ', true,
                                                          ordered_json::error_handler_t::replace) +
         '\n';
}

} // namespace benanza::report
