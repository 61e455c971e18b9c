// SPDX-License-Identifier: Apache-2.0
#include "algorithms.hpp"

#include "units.hpp"

#include <benanza/bound/ceilings/ceilings.hpp>
#include <benanza/bound/roofline.hpp>
#include <benanza/result/json.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <range/v3/view/map.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace benanza::report {

namespace {
constexpr std::string_view other_results = "other results: ";
} // namespace

std::string remark_of(const result::measurement& m) {
  if (!m.error.empty()) return m.error;
  if (m.equivalence != m.type && !m.equivalence.empty())
    return std::string(other_results) + m.equivalence;
  if (m.fallback == "ref") return "a reference loop";
  if (m.fallback == "old-isa") return "for an older instruction set";
  if (m.fallback == "host") return "our own kernel";
  return {};
}

namespace {
/// The roofline of a layer whose algorithms need no fewer than so many operations.
void set_roofline(layer_algorithms& l, const bound::ceilings& c, std::int64_t least_flops) {
  const auto type = parse_numeric(l.type);
  if (!type || l.timed.empty()) return;
  const op::layer layer = op::parse(l.layer);
  l.roofline = bound::roofline(c, layer, *type, l.threads, least_flops);
  l.work = static_cast<double>(l.roofline.by_memory ? op::least_bytes(layer, *type) : least_flops);
  for (algorithm_row& row : l.timed)
    if (bound::roofline_noise * l.share(row) > 1 && !row.remark.starts_with(other_results))
      row.remark += (row.remark.empty() ? "" : "; ") +
                    std::string("faster than the machine: a contradiction");
}

std::string roofline_line(const layer_algorithms& l) {
  if (l.roofline.ns <= 0) return {};
  return fmt::format("  roofline {}: {} at {:.3g} {}\n", show_time(l.roofline.ns),
                     l.roofline.by_memory ? show_bytes(l.work) + " of memory"
                                          : fmt::format("{:.4g} MFLOP", l.work / 1e6),
                     l.work / l.roofline.ns, l.roofline.by_memory ? "GB/s" : "GFLOP/s");
}
} // namespace

std::vector<layer_algorithms> algorithms_of(const result::run& r, const std::string& text,
                                            const std::string& type, int threads) {
  using place = std::tuple<std::string, std::string, int>;
  std::map<place, std::map<std::pair<std::string, std::string>, algorithm_row>> all;
  std::map<place, std::int64_t> least_flops; // of algorithms that compute exactly the layer
  const auto wanted = [&](const auto& x) {
    return (x.family + '/' + x.key).find(text) != std::string::npos &&
           (type.empty() || x.type == type);
  };
  for (const result::measurement& m : r.measurements) {
    if (!result::of_a_layer(m) || !wanted(m) || (threads != 0 && m.threads != threads)) continue;
    const place here{m.family + '/' + m.key, m.type, m.threads};
    algorithm_row& row = all[here][{m.backend, m.algorithm}];
    if (m.error.empty() && m.equivalence == m.type) {
      const auto known = least_flops.try_emplace(here, m.algorithm_flops).first;
      known->second = std::min(known->second, m.algorithm_flops);
    }
    row.backend = m.backend;
    row.algorithm = m.algorithm;
    if (!m.layouts.empty()) row.layouts = m.layouts;
    if (m.error.empty() && m.state == "hot")
      row.hot_ns = m.min_ns, row.hot_nj = m.energy_nj, row.clock_ns = m.min_clock_ns;
    if (m.error.empty() && m.state == "coldw")
      row.coldw_ns = m.median_ns, row.coldw_nj = m.energy_nj;
    if (row.remark.empty()) row.remark = remark_of(m);
  }
  for (const result::refused_case& x : r.refused)
    for (auto& [where, rows] : all)
      if (wanted(x) && std::get<0>(where) == x.family + '/' + x.key && std::get<1>(where) == x.type)
        rows.try_emplace({x.backend, x.algorithm}, algorithm_row{.backend = x.backend,
                                                                 .algorithm = x.algorithm,
                                                                 .remark = "refused: " + x.why});
  const bound::ceilings ceilings(r);
  std::vector<layer_algorithms> out;
  for (auto& [where, rows] : all) {
    layer_algorithms& l = out.emplace_back();
    std::tie(l.layer, l.type, l.threads) = where;
    for (algorithm_row& row : rows | ranges::views::values)
      (row.timed() ? l.timed : l.others).push_back(std::move(row));
    std::stable_sort(l.timed.begin(), l.timed.end(),
                     [](const auto& a, const auto& b) { return a.by() < b.by(); });
    if (const auto flops = least_flops.find(where); flops != least_flops.end())
      set_roofline(l, ceilings, flops->second);
  }
  return out;
}

std::string algorithms_text(const layer_algorithms& l) {
  std::string out = fmt::format(
      "{}, {}, {}: {}{}\n", printable(l.layer), printable(l.type), counted(l.threads, "thread"),
      counted(std::ssize(l.timed), "algorithm"),
      l.others.empty() ? std::string() : fmt::format(", {} not timed", l.others.size()));
  out += roofline_line(l);
  const auto share = [&l](const std::string& text) {
    return l.roofline.ns > 0 ? fmt::format("{:>11}  ", text) : std::string();
  };
  if (!l.timed.empty())
    out += fmt::format("  {:>9}  {:>12}  {:>6}  {}{}\n", "least", "cold weights", "x best",
                       share("of roofline"), "library and algorithm");
  const auto time = [](double ns) { return ns > 0 ? show_time(ns) : std::string("-"); };
  for (const algorithm_row& row : l.timed)
    out += fmt::format("  {:>9}  {:>12}  {:>6.2f}  {}{}{}\n", time(row.hot_ns), time(row.coldw_ns),
                       row.by() / l.timed.front().by(),
                       share(l.share(row) > 0 ? percent(l.share(row)) : "-"),
                       printable(row.backend + ' ' + row.algorithm),
                       row.remark.empty() ? std::string() : " (" + printable(row.remark) + ')');
  if (!l.others.empty()) out += "  not timed:\n";
  for (const algorithm_row& row : l.others)
    out += fmt::format("    {}: {}\n", printable(row.backend + ' ' + row.algorithm),
                       printable(row.remark));
  return out;
}

std::string algorithms_text(const std::vector<layer_algorithms>& all, bool asked_refusals) {
  std::string out;
  for (const layer_algorithms& l : all)
    out += (out.empty() ? "" : "\n") + algorithms_text(l);
  if (!asked_refusals)
    out += "\nWhat libraries refuse, and why, is in results of benanza_bench --refused.\n";
  return out;
}

std::string algorithms_json(const std::vector<layer_algorithms>& all) {
  result::ordered_json layers = result::ordered_json::array();
  for (const layer_algorithms& l : all) {
    result::ordered_json rows = result::ordered_json::array();
    for (const auto* part : {&l.timed, &l.others})
      for (const algorithm_row& row : *part) {
        result::ordered_json& one = rows.emplace_back(
            result::ordered_json{{"backend", row.backend}, {"algorithm", row.algorithm}});
        if (!row.layouts.empty()) one["layouts"] = row.layouts;
        if (row.hot_ns > 0) one["hot_min_ns"] = row.hot_ns;
        if (row.coldw_ns > 0) one["coldw_median_ns"] = row.coldw_ns;
        if (l.share(row) > 0) one["share_of_roofline"] = l.share(row);
        if (row.hot_nj > 0) one["hot_energy_nj"] = row.hot_nj;
        if (row.coldw_nj > 0) one["coldw_energy_nj"] = row.coldw_nj;
        if (!row.remark.empty()) one[row.timed() ? "remark" : "why_not"] = row.remark;
      }
    result::ordered_json& one = layers.emplace_back(
        result::ordered_json{{"layer", l.layer}, {"type", l.type}, {"threads", l.threads}});
    if (l.roofline.ns > 0) {
      one["roofline_ns"] = l.roofline.ns;
      one["limited_by"] = l.roofline.by_memory ? "memory" : "arithmetic";
    }
    one["algorithms"] = std::move(rows);
  }
  return result::ordered_json{{"layers", std::move(layers)}}.dump(
             1, ' ', true, result::ordered_json::error_handler_t::replace) +
         '\n';
}

} // namespace benanza::report
