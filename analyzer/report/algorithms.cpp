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

std::string roofline_text(const layer_algorithms& l) {
  return fmt::format("{}: {} at {:.3g} {}", show_time(l.roofline.ns),
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

namespace {
using tables::above_zero;
using tables::unit;

/// What was timed; people see what was not as a list of reasons.
tables::table timed_of(const layer_algorithms& l) {
  tables::table out{
      .key = "algorithms",
      .columns = {{"hot_min_ns", "least", unit::time},
                  {"coldw_median_ns", "cold weights", unit::time},
                  {"times_best", "x best", unit::number},
                  {"share_of_roofline", l.roofline.ns > 0 ? "of roofline" : "", unit::share},
                  {"backend", "library"},
                  {"algorithm", "algorithm", unit::name},
                  {"remark", "", unit::text},
                  {"", "", unit::text},
                  {"layouts", ""},
                  {"hot_energy_nj", "", unit::energy},
                  {"coldw_energy_nj", "", unit::energy}}};
  for (const algorithm_row& row : l.timed)
    out.rows.push_back({above_zero(row.hot_ns), above_zero(row.coldw_ns),
                        row.by() / l.timed.front().by(), above_zero(l.share(row)), row.backend,
                        row.algorithm, row.remark, row.remark, row.layouts, above_zero(row.hot_nj),
                        above_zero(row.coldw_nj)});
  return out;
}

tables::table others_of(const layer_algorithms& l) {
  tables::table out{.key = "algorithms",
                    .title = "Not timed",
                    .columns = {{"backend", "library"},
                                {"algorithm", "algorithm", unit::name},
                                {"why_not", "why not"}}};
  for (const algorithm_row& row : l.others)
    out.rows.push_back({row.backend, row.algorithm, row.remark});
  return out;
}
} // namespace

tables::chapter algorithms_answer(const std::vector<layer_algorithms>& all, bool asked_refusals) {
  tables::chapter out;
  for (const layer_algorithms& l : all) {
    tables::chapter its{
        .key = "layers",
        .title = fmt::format("{}, {}, {}", l.layer, l.type, counted(l.threads, "thread")),
        .fields = {{"layer", l.layer, true},
                   {"type", l.type, true},
                   {"threads", tables::whole(l.threads), true},
                   {"roofline_ns", above_zero(l.roofline.ns), true},
                   {"limited_by",
                    l.roofline.ns <= 0     ? tables::cell()
                    : l.roofline.by_memory ? "memory"
                                           : "arithmetic",
                    true}}};
    if (l.roofline.ns > 0) its.say("roofline", roofline_text(l));
    its.add(timed_of(l));
    its.add(others_of(l));
    out.chapters.push_back(std::move(its));
  }
  if (!asked_refusals)
    out.chapters.emplace_back().say("What libraries refuse, and why, is in results of "
                                    "benanza_bench --refused.");
  return out;
}

} // namespace benanza::report
