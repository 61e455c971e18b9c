// SPDX-License-Identifier: Apache-2.0
// What does a profile say of the calls within layers, and of both together? Each call and its
// roofline (A8, A9), calls by name (A10), calls, figures and other time of each layer (A11, A12,
// A13), and the roofline of layers (A14). Operations and bytes are counted from dims; what a call
// of several in one layer does of these is not known, and stays empty.
//
//   table t = call_table(run);   table u = layer_roofline(run);
#pragma once

#include "../core/text.hpp"
#include "of_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace benanza::profile {

namespace detail {
inline const column call_column{"call", "", "what ran: the library's implementation, or a kernel"};
inline const column call_time_column{"time", "us", "by the library's or the profiler's clock"};
inline const std::vector<column> roofline_columns{
    {"operations", "MFLOP", "counted from dims, of a direct algorithm: none on padding"},
    {"bytes", "MiB", "counted from dims: operands and results once each"},
    {"intensity", "FLOP/B", "operations / bytes"},
    {"rate", "GFLOP/s", "operations / time"},
    {"of roofline", "%", "the roofline's time over the time"},
    {"limited by", "", "memory where intensity is below the machine's, else arithmetic"}};

inline table with(table t, const std::vector<column>& more) {
  t.columns.insert(t.columns.end(), more.begin(), more.end());
  return t;
}

/// The cells of `roofline_columns` of a layer's work done in `ns`.
inline void add_roofline(std::vector<cell>& row, const levelled_run& r, const layer& l, double ns) {
  const bool work = l.flops && l.bytes && *l.bytes > 0;
  row.push_back(known(l.flops, 1e6));
  row.push_back(known(l.bytes, mib));
  row.push_back(work ? cell(*l.flops / *l.bytes) : cell());
  row.push_back(work && ns > 0 ? cell(*l.flops / ns) : cell());
  row.push_back(l.roof_ns && ns > 0 ? cell(100 * *l.roof_ns / ns) : cell());
  const bool ideal = work && r.peak_flops_per_ns && r.memory_bytes_per_ns;
  row.push_back(
      !ideal ? cell()
             : cell(std::string(*l.flops / *l.bytes < *r.peak_flops_per_ns / *r.memory_bytes_per_ns
                                    ? "memory"
                                    : "arithmetic")));
}

/// Names what no processor does: more operations a second than its peak. Winograd leaves some out.
inline void say_above_peak(table& t, const levelled_run& r) {
  if (!r.peak_flops_per_ns) return;
  std::size_t count = 0;
  bool all_winograd = true;
  const layer* first = nullptr;
  for (const layer& l : r.layers) {
    if (!l.flops || !(l.ns > 0) || *l.flops / l.ns < 1.03 * *r.peak_flops_per_ns) continue;
    if (count++ == 0) first = &l;
    all_winograd = all_winograd && l.ran.find("wino") != std::string::npos;
  }
  if (first == nullptr) return;
  const std::string which =
      (count == 1 ? "layer " + first->name + " is"
                  : std::to_string(count) + " layers, such as " + first->name + ", are");
  t.notes.push_back(which + " above the measured peak of " +
                    std::to_string(static_cast<int>(*r.peak_flops_per_ns + 0.5)) + " GFLOP/s: " +
                    (all_winograd ? "Winograd does fewer operations than are counted here"
                                  : "that cannot be; its time is another's too, or its operations "
                                    "were not all done"));
}

inline void say_roofline(table& t, const levelled_run& r) {
  say_above_peak(t, r);
  if (!r.peak_flops_per_ns || !r.memory_bytes_per_ns)
    t.notes.push_back("the machine's most is not in the result: measure it with "
                      "--benchmark_filter=^machine/, and give both files");
  else
    t.notes.push_back(
        "the machine's intensity is " +
        std::to_string(static_cast<int>(*r.peak_flops_per_ns / *r.memory_bytes_per_ns + 0.5)) +
        " FLOP/B: arithmetic and memory as they were measured");
}

/// How many calls each layer has.
inline std::vector<std::int64_t> calls_of_layers(const levelled_run& r) {
  std::vector<std::int64_t> out(r.layers.size(), 0);
  for (const call& c : r.calls)
    if (c.layer >= 0) ++out[static_cast<std::size_t>(c.layer)];
  return out;
}

/// False, with the reason as a note, where no calls are known.
inline bool has_calls(table& t, const levelled_run& r) {
  if (!r.no_calls.empty()) t.notes.push_back(r.no_calls);
  return r.no_calls.empty();
}
} // namespace detail

/// A8: every call.
inline table call_table(const levelled_run& r) {
  table t{.id = "A8",
          .title = "Calls",
          .columns = {detail::call_column,
                      {"kind", "", "the library's word for what it does, or kernel"},
                      {"#", "", "number of the layer in which it lies; empty: not known"},
                      detail::layer_column,
                      detail::call_time_column,
                      {"told", "", "what the library says of it: types, layouts, attributes"}}};
  if (!detail::has_calls(t, r)) return t;
  std::int64_t lone = 0;
  for (const call& c : r.calls) {
    const bool has = c.layer >= 0;
    lone += has ? 0 : 1;
    t.rows.push_back({c.name, c.kind, has ? cell(std::int64_t{c.layer}) : cell(),
                      has ? cell(r.layers[static_cast<std::size_t>(c.layer)].name) : cell(),
                      c.has_ns ? cell(c.ns / us) : cell(), c.told});
  }
  if (lone > 0) t.notes.push_back("of " + std::to_string(lone) + " calls the layer is not known");
  return t;
}

/// A9: calls against the machine's limits: those that are all the calls of their layer, whose work
/// is theirs then.
inline table call_roofline(const levelled_run& r) {
  table t = detail::with(
      {.id = "A9",
       .title = "Roofline of calls",
       .columns = {detail::call_column, detail::layer_column, detail::call_time_column}},
      detail::roofline_columns);
  if (!detail::has_calls(t, r)) return t;
  const std::vector<std::int64_t> count = detail::calls_of_layers(r);
  std::int64_t left_out = 0;
  for (const call& c : r.calls) {
    if (c.layer < 0 || count[static_cast<std::size_t>(c.layer)] != 1 || !c.has_ns) {
      ++left_out;
      continue;
    }
    const layer& l = r.layers[static_cast<std::size_t>(c.layer)];
    std::vector<cell>& row = t.rows.emplace_back(std::vector<cell>{c.name, l.name, c.ns / us});
    detail::add_roofline(row, r, l, c.ns);
  }
  if (left_out > 0)
    t.notes.push_back("left out are " + std::to_string(left_out) +
                      " calls that share a layer with others, or of which no time is known: "
                      "their part of its work is not told");
  detail::say_roofline(t, r);
  return t;
}

/// A10: calls of one name together.
inline table calls_by_name(const levelled_run& r) {
  table t{.id = "A10",
          .title = "Calls by name",
          .columns = {detail::call_column,
                      {"calls", "", "of that name"},
                      {"time", "us", "of all of them"},
                      {"of all", "%", "of all calls' time"},
                      {"each", "us", "on average"}}};
  if (!detail::has_calls(t, r)) return t;
  std::map<std::string, std::pair<std::int64_t, double>> by_name;
  double all_ns = 0;
  for (const call& c : r.calls) {
    auto& [count, ns] = by_name[c.kind.empty() ? c.name : c.kind + ' ' + c.name];
    ++count;
    ns += c.ns;
    all_ns += c.ns;
  }
  std::vector<std::pair<std::string, std::pair<std::int64_t, double>>> rows(by_name.begin(),
                                                                            by_name.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.second > b.second.second; });
  for (const auto& [name, all] : rows)
    t.rows.push_back({name, all.first, all.second / us,
                      all_ns > 0 ? cell(100 * all.second / all_ns) : cell(),
                      all.second / us / static_cast<double>(all.first)});
  return t;
}

/// A11: what each layer calls.
inline table calls_by_layer(const levelled_run& r) {
  table t{.id = "A11",
          .title = "Calls by layer",
          .columns = {detail::number_column,
                      detail::layer_column,
                      {"calls", "", "within it"},
                      {"calls' time", "us", "their sum"},
                      {"longest", "", "the call that takes most of it"}}};
  if (!detail::has_calls(t, r)) return t;
  const std::vector<std::int64_t> count = detail::calls_of_layers(r);
  for (std::size_t i = 0; i < r.layers.size(); ++i) {
    const call* longest = nullptr;
    for (const call& c : r.calls)
      if (c.layer == static_cast<int>(i) && (longest == nullptr || c.ns > longest->ns))
        longest = &c;
    t.rows.push_back({static_cast<std::int64_t>(i), r.layers[i].name, count[i],
                      known(r.calls_ns(static_cast<int>(i)), us),
                      longest == nullptr ? cell() : cell(longest->name)});
  }
  return t;
}

/// A12: the figures of each layer.
inline table metrics_by_layer(const levelled_run& r) {
  table t{.id = "A12",
          .title = "Figures by layer",
          .columns = {
              detail::number_column,
              detail::layer_column,
              {"operations", "MFLOP", "counted from dims, of a direct algorithm: none on padding"},
              {"bytes", "MiB", "counted from dims: operands and results once each"},
              {"rate", "GFLOP/s", "operations / time"},
              {"bandwidth", "GB/s", "bytes / time"}}};
  for (const std::string& name : r.counters)
    t.columns.push_back({name, "", "counted by the processor, in an execution that was not timed"});
  for (std::size_t i = 0; i < r.layers.size(); ++i) {
    const layer& l = r.layers[i];
    std::vector<cell>& row = t.rows.emplace_back(std::vector<cell>{
        static_cast<std::int64_t>(i), l.name, known(l.flops, 1e6), known(l.bytes, mib),
        l.ns > 0 ? known(l.flops, l.ns) : cell(), l.ns > 0 ? known(l.bytes, l.ns) : cell()});
    for (std::size_t k = 0; k < r.counters.size(); ++k)
      row.push_back(k < l.counted.size() ? cell(l.counted[k]) : cell());
  }
  detail::say_no_layers(t, r);
  detail::say_above_peak(t, r);
  t.notes.push_back("operations and bytes are counted from dims, not measured");
  if (!r.not_counted.empty()) t.notes.push_back("no counters: " + r.not_counted);
  return t;
}

namespace detail {
/// What is left of a time without its calls. Calls have a clock and a run of their own, so the
/// difference may be negative: it is 0 or less than noise then, and said.
inline double left_of(double ns, double calls_ns, const std::string& name,
                      std::vector<std::string>& longer) {
  if (ns > 0 && calls_ns > ns)
    longer.push_back(fmt::format("{} (by {:.1f} %)", name, 100 * (calls_ns / ns - 1)));
  return std::max(0.0, ns - calls_ns);
}
} // namespace detail

/// A13: of each layer, what its calls take and what is left.
inline table other_time_by_layer(const levelled_run& r) {
  table t{.id = "A13",
          .title = "Calls and other time by layer",
          .columns = {detail::number_column,
                      detail::layer_column,
                      detail::latency_column,
                      {"calls' time", "us", "of its calls; on a GPU its kernels"},
                      {"other", "us", "time - calls' time: what the library does around them"},
                      {"other", "%", "of the layer's time"}}};
  if (!detail::has_calls(t, r)) return t;
  double with_ns = 0, calls_ns = 0;
  std::vector<std::string> longer;
  for (std::size_t i = 0; i < r.layers.size(); ++i) {
    const layer& l = r.layers[i];
    const auto ns = r.calls_ns(static_cast<int>(i));
    if (ns) with_ns += l.ns, calls_ns += *ns;
    const double left = ns ? detail::left_of(l.ns, *ns, l.name, longer) : 0;
    t.rows.push_back({static_cast<std::int64_t>(i), l.name, l.ns / us, known(ns, us),
                      ns ? cell(left / us) : cell(),
                      ns && l.ns > 0 ? cell(100 * left / l.ns) : cell()});
  }
  const std::string all = "all that have calls";
  const double left = detail::left_of(with_ns, calls_ns, all, longer);
  t.rows.push_back({cell(), all, with_ns / us, calls_ns / us, left / us,
                    with_ns > 0 ? cell(100 * left / with_ns) : cell()});
  t.notes.push_back("two clocks and two runs: a difference of a few % either way is noise");
  if (!longer.empty())
    t.notes.push_back("other time is 0 or less than noise, and 0 above, where calls took longer "
                      "than their layer: " +
                      join(longer, ", "));
  return t;
}

/// A14: layers against the machine's limits.
inline table layer_roofline(const levelled_run& r) {
  table t = detail::with(
      {.id = "A14",
       .title = "Roofline of layers",
       .columns = {detail::number_column, detail::layer_column, detail::latency_column}},
      detail::roofline_columns);
  for (std::size_t i = 0; i < r.layers.size(); ++i) {
    const layer& l = r.layers[i];
    std::vector<cell>& row =
        t.rows.emplace_back(std::vector<cell>{static_cast<std::int64_t>(i), l.name, l.ns / us});
    detail::add_roofline(row, r, l, l.ns);
  }
  detail::say_no_layers(t, r);
  detail::say_roofline(t, r);
  return t;
}

} // namespace benanza::profile
