// SPDX-License-Identifier: Apache-2.0
// How does a result with levels become levelled runs? The rows of one plan, `level-model`,
// `level-layer` and `level-call`, become one run: the model's time from the first, the layers' from
// the second, the calls' from the third. What the events of a level cost is the difference of two
// runs of the whole model, which were sampled in turns.
//
//   std::vector<levelled_run> all = levelled_runs(run);   all[0].layers[0].ran
#pragma once

#include "../bound/roofline.hpp"
#include "../core/text.hpp"
#include "../result/device.hpp"
#include "../result/parts.hpp"
#include "levelled_run.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::profile {

namespace detail {
/// The rows of one plan, by their level.
struct level_rows {
  const result::measurement *model = nullptr, *layer = nullptr, *call = nullptr;
  std::string failed{}; ///< of a level that failed, and why
};

inline std::map<std::tuple<std::string, std::string, int, std::string>, level_rows>
rows_by_plan(const result::run& r) {
  std::map<std::tuple<std::string, std::string, int, std::string>, level_rows> out;
  for (const result::measurement& m : r.measurements) {
    if (m.family != "model" || !result::of_a_level(m.algorithm)) continue;
    level_rows& rows = out[{m.key, m.type, m.threads, std::string(result::device_of(m))}];
    if (!m.error.empty()) {
      rows.failed = m.algorithm + " failed: " + m.error;
      continue;
    }
    (m.algorithm == result::model_level   ? rows.model
     : m.algorithm == result::layer_level ? rows.layer
                                          : rows.call) = &m;
  }
  return out;
}

/// The model's name and batch of "resnet50@batch=8,fused"; the batch is 0 where it is not given.
inline std::pair<std::string, std::int64_t> model_and_batch(const std::string& graph) {
  constexpr std::string_view word = "@batch=";
  const std::size_t at = graph.rfind(word);
  std::int64_t batch = 0;
  if (at == std::string::npos) return {graph, batch};
  std::from_chars(graph.data() + at + word.size(), graph.data() + graph.size(), batch);
  return {graph.substr(0, at), batch};
}

/// What a call's text says: "exec,cpu,convolution,jit:avx512_core,forward_inference,...".
inline call call_of(const timed_call& c) {
  call out{.told = c.text, .layer = static_cast<int>(c.part), .ns = c.ns};
  std::vector<std::string_view> fields = split_at(out.told, ",");
  if (fields.size() > 3 && fields[0] == "exec") {
    out.kind = fields[2];
    out.name = fields[3];
  } else {
    out.name = out.told;
  }
  return out;
}

inline void fill_layer(layer& l, const op::layer& of, numeric type, int threads,
                       const bound::ceilings& most) {
  l.type = op::family(of);
  l.what = op::key(of);
  const op::work w = op::cost(of);
  l.flops = static_cast<double>(op::direct_flops(of));
  l.bytes = static_cast<double>(w.bytes(type));
  l.constant_bytes = static_cast<double>(w.constant_bytes(type));
  const shape out = op::output(of);
  l.result_bytes = static_cast<double>(elements(out) * size_bytes(result_of(type)));
  const bound::roof roof = bound::roofline(most, of, type, threads, op::direct_flops(of));
  if (roof.ns > 0) {
    l.roof_ns = roof.ns;
    l.by_memory = roof.by_memory;
  }
}

/// The layers of a row's parts, "onednn/jit:avx512_core conv1" each, and changes of layout.
inline std::vector<layer> layers_of(const result::measurement& m, numeric type,
                                    const bound::ceilings& most) {
  std::vector<layer> out;
  double at = 0;
  for (const timed_part& p : m.parts) {
    layer& l = out.emplace_back(layer{.name = p.name, .ns = p.ns});
    l.begin_ns = at;
    at += l.ns;
    if (result::is_reorder(p.name)) {
      l.type = "reorder";
      continue;
    }
    if (const std::size_t space = p.name.find(' '); space != p.name.npos) {
      l.name = p.name.substr(space + 1);
      l.ran = p.name.substr(0, space);
    }
    if (!p.layer.empty()) fill_layer(l, op::parse(p.layer), type, m.threads, most);
  }
  return out;
}

/// What the processor counted of each layer.
inline void add_counted(levelled_run& out, const result::measurement* row) {
  if (row == nullptr || row->counters_of_parts.empty()) {
    out.not_counted = row == nullptr || row->not_counted.empty()
                          ? "the result has no counters of layers"
                          : row->not_counted;
    return;
  }
  out.counters = row->counters_of_parts;
  for (std::size_t k = 0; k < std::min(out.layers.size(), row->parts.size()); ++k)
    out.layers[k].counted.assign(row->parts[k].counted.begin(), row->parts[k].counted.end());
  if (out.threads > 1)
    out.notes.push_back("the processor counted of the first of the threads alone");
}

inline void add_calls(levelled_run& out, const level_rows& rows) {
  const result::measurement* row = rows.call;
  if (row == nullptr) {
    out.no_calls = "the run has no events of calls: measure with --levels call";
    return;
  }
  if (row->parts.size() == out.layers.size())
    for (std::size_t k = 0; k < out.layers.size(); ++k)
      out.layers[k].with_calls_ns = row->parts[k].ns;
  for (const timed_call& c : row->calls)
    out.calls.push_back(call_of(c));
  for (const device_kernel& k : row->kernels)
    out.calls.push_back({.name = short_kernel_name(k.name),
                         .kind = "kernel",
                         .told = k.name,
                         .layer = static_cast<int>(k.part),
                         .ns = k.ns});
  for (call& c : out.calls)
    if (c.layer >= static_cast<int>(out.layers.size())) c.layer = -1;
  if (out.calls.empty())
    out.no_calls = out.device == result::gpu_device
                       ? "no profiler saw the kernels of this run"
                       : "no library told of its calls: plain kernels of ours do not";
}

/// What each layer's algorithm took alone, with cold weights, or hot where that is all there is.
inline void add_alone(levelled_run& out, const result::run& r) {
  std::map<std::string, const result::measurement*> best;
  const auto key = [](const std::string& layer, const std::string& ran) {
    return layer + '\n' + ran;
  };
  for (const result::measurement& m : r.measurements) {
    if (!result::of_a_layer(m) || !m.error.empty() || m.type != out.type ||
        m.threads != out.threads || (m.state != "coldw" && m.state != "hot"))
      continue;
    const result::measurement*& known =
        best[key(m.family + '/' + m.key, m.backend + '/' + m.algorithm)];
    if (known == nullptr || m.state == "coldw") known = &m;
  }
  for (layer& l : out.layers)
    if (const auto found = best.find(key(l.type + '/' + l.what, l.ran)); found != best.end())
      l.alone_ns = found->second->median_ns;
}

inline levelled_run run_of(const level_rows& rows, const bound::ceilings& most) {
  const result::measurement& first = *(rows.model != nullptr   ? rows.model
                                       : rows.layer != nullptr ? rows.layer
                                                               : rows.call);
  const auto [model, batch] = model_and_batch(first.key);
  levelled_run out{.who = "benanza",
                   .model = model,
                   .graph = first.key,
                   .batch = batch,
                   .type = first.type,
                   .device = std::string(result::device_of(first)),
                   .threads = first.threads,
                   .model_ns = first.median_ns,
                   .free_of_events = rows.model != nullptr};
  const numeric type = parse_numeric(first.type).value_or(numeric::f32);
  const auto least = [&](const result::measurement* m, const result::measurement* before) {
    return m == nullptr || before == nullptr ? std::nullopt
                                             : std::optional(m->median_ns - before->median_ns);
  };
  out.layer_events_ns = least(rows.layer, rows.model);
  out.call_events_ns = least(rows.call, rows.layer);
  const result::measurement* with_layers = rows.layer != nullptr ? rows.layer : rows.call;
  if (with_layers != nullptr) out.layers = layers_of(*with_layers, type, most);
  if (rows.layer == nullptr && rows.call != nullptr)
    out.notes.push_back("the level of layers failed: their times hold the events of calls");
  out.failed = rows.failed;
  if (!rows.failed.empty()) out.notes.push_back(rows.failed);
  for (const result::measurement* m : {rows.model, rows.layer, rows.call})
    if (m != nullptr && !m->disturbed.empty())
      out.notes.push_back(m->algorithm + " was disturbed: " + m->disturbed);
  add_calls(out, rows);
  add_counted(out, rows.layer);
  if (const double peak = most.peak_flops_per_ns(type, first.threads); peak > 0)
    out.peak_flops_per_ns = peak;
  if (const double rate = most.bytes_per_ns(beyond_caches, first.threads); rate > 0)
    out.memory_bytes_per_ns = rate;
  return out;
}
} // namespace detail

/// All runs with levels that a result holds; refuses a result that holds none.
inline std::vector<levelled_run> levelled_runs(const result::run& r) {
  const bound::ceilings most(r);
  std::vector<levelled_run> out;
  std::string failed;
  for (const auto& [plan, rows] : detail::rows_by_plan(r)) {
    failed = rows.failed;
    if (rows.model == nullptr && rows.layer == nullptr && rows.call == nullptr) continue;
    out.push_back(detail::run_of(rows, most));
    detail::add_alone(out.back(), r);
  }
  if (out.empty())
    throw error(failed.empty() ? "no run with levels is in the result" : failed, r.source,
                "measure one with benanza_bench --plan plan.json --levels call");
  return out;
}

} // namespace benanza::profile
