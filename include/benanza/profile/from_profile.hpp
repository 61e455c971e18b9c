// SPDX-License-Identifier: Apache-2.0
// How does what a framework's profiler wrote become a levelled run? The model's time is that of
// runs without a profiler where the file has some, layers are the framework's operators, and calls
// what is within these. Operations and dims come from the nodes that an operator represents, where
// the result holds the model's graph.
//
//   levelled_run r = levelled_run_of(trace::read_profile_file("ort.json"), graph, ceilings);
#pragma once

#include "../bound/roofline.hpp"
#include "../result/statistics.hpp"
#include "../trace/profile/match.hpp"
#include "../trace/profile/profile.hpp"
#include "levelled_run.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace benanza::profile {

namespace detail {
/// "1x64x56x56 f32", of its results.
inline std::string told_dims(const trace::profiled_operator& o) {
  std::string out;
  for (const trace::profiled_tensor& t : o.results)
    if (t.dims)
      out.append(out.empty() ? "" : ", ").append(join(*t.dims, "x")).append(" ").append(t.type);
  return out;
}

inline std::optional<double> result_bytes_of(const trace::profiled_operator& o) {
  double sum = 0;
  for (const trace::profiled_tensor& t : o.results) {
    const auto type = parse_dtype(t.type);
    if (!t.dims || !type) return std::nullopt;
    sum += static_cast<double>(bytes_of(*type, elements(*t.dims)));
  }
  return o.results.empty() ? std::nullopt : std::optional(sum);
}

/// What the nodes of the model do that an operator represents. What several of them read and write
/// depends on what is fused: bytes and limits are given for single ones only.
inline void fill_from_nodes(layer& l, const std::vector<int>& nodes, const model::graph& g,
                            numeric type, int threads, const bound::ceilings& most) {
  double flops = 0, constants = 0;
  for (const int n : nodes) {
    const int at = g.nodes[static_cast<std::size_t>(n)].layer;
    if (at == model::no_layer) return;
    const op::layer& of = g.layers[static_cast<std::size_t>(at)];
    const op::work w = op::cost(of);
    flops += static_cast<double>(op::direct_flops(of));
    constants += static_cast<double>(w.constant_bytes(type));
    if (nodes.size() > 1) continue;
    l.bytes = static_cast<double>(w.bytes(type));
    const bound::roof roof = bound::roofline(most, of, type, threads, op::direct_flops(of));
    if (roof.ns > 0) l.roof_ns = roof.ns, l.by_memory = roof.by_memory;
  }
  if (nodes.empty()) return;
  l.flops = flops;
  l.constant_bytes = constants;
}

/// The place of each layer span among the operators, by their names in order; -1: none.
inline std::vector<int> layers_of_spans(levelled_run& out, const std::vector<trace::span>& spans) {
  std::map<std::string, std::vector<std::size_t>> by_name;
  for (std::size_t i = out.layers.size(); i-- > 0;)
    by_name[out.layers[i].name].push_back(i);
  std::vector<int> place(spans.size(), -1);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].level != trace::layer_level) continue;
    const auto found = by_name.find(spans[i].name);
    if (found == by_name.end() || found->second.empty()) continue;
    place[i] = static_cast<int>(found->second.back());
    out.layers[found->second.back()].begin_ns = spans[i].begin_ns;
    found->second.pop_back();
  }
  return place;
}

inline void add_calls(levelled_run& out, const trace::profile& p) {
  const std::vector<int> place = layers_of_spans(out, p.spans);
  std::size_t ambiguous = 0;
  for (const trace::span& s : p.spans)
    if (s.level == trace::call_level) {
      const int layer = s.parent < 0 ? -1 : place[static_cast<std::size_t>(s.parent)];
      out.calls.push_back({.name = s.name, .kind = s.kind, .layer = layer, .ns = s.ns});
      ambiguous += s.ambiguous ? 1 : 0;
    }
  if (ambiguous != 0)
    out.notes.push_back("of " + std::to_string(ambiguous) +
                        " calls it is ambiguous in which layer they lie");
  if (!out.calls.empty()) return;
  // Kernels of which only a name is known; ONNX Runtime names a provider there.
  if (p.framework != "onnxruntime")
    for (std::size_t i = 0; i < p.operators.size(); ++i)
      if (!p.operators[i].kernel.empty())
        out.calls.push_back({.name = p.operators[i].kernel,
                             .kind = "kernel",
                             .layer = static_cast<int>(i),
                             .has_ns = false});
  if (out.calls.empty()) out.no_calls = "this profile tells of no calls or kernels within layers";
}
} // namespace detail

/// `g`: the model's graph, as the profile's operators are to be matched to it; null: it is not
/// known.
inline levelled_run levelled_run_of(const trace::profile& p, const model::graph* g,
                                    const bound::ceilings& most) {
  levelled_run out{.who = p.framework.empty() ? p.format : p.framework,
                   .model = p.model,
                   .graph = p.model.empty() ? p.source : p.model,
                   .batch = p.batch > 0    ? p.batch
                            : g != nullptr ? g->batch
                                           : 0,
                   .type = p.precision,
                   .device = p.device,
                   .threads = p.threads,
                   .free_of_events = !p.latency_ns.empty(),
                   .not_counted = "a framework's profile has no counters of the processor",
                   .laid_out = p.spans.empty(),
                   .spans = p.spans};
  const auto type = parse_numeric(p.precision);
  const trace::attribution whose = g != nullptr ? trace::attribute(p, *g) : trace::attribution{};
  for (std::size_t i = 0; i < p.operators.size(); ++i) {
    const trace::profiled_operator& o = p.operators[i];
    layer& l = out.layers.emplace_back(layer{.name = o.name,
                                             .type = o.type,
                                             .what = detail::told_dims(o),
                                             .ran = o.kernel,
                                             .ns = result::median(o.ns)});
    l.result_bytes = detail::result_bytes_of(o);
    if (g != nullptr)
      detail::fill_from_nodes(l, whose.nodes[i], *g, type.value_or(g->type), std::max(p.threads, 1),
                              most);
  }
  const double profiled_ns = result::median(p.profiled_ns), free_ns = result::median(p.latency_ns);
  out.model_ns = free_ns > 0 ? free_ns : profiled_ns > 0 ? profiled_ns : out.layers_ns();
  if (free_ns > 0 && profiled_ns > 0) out.layer_events_ns = profiled_ns - free_ns;
  if (free_ns <= 0)
    out.notes.push_back(
        profiled_ns > 0 ? "no run without the profiler is in the file: what it adds is not known"
                        : "no whole run is in the file: the model is the sum of its operators");
  if (g == nullptr)
    out.notes.push_back("the model's graph is not in the result: operations are not known");
  detail::add_calls(out, p);
  out.notes.insert(out.notes.end(), p.warnings.begin(), p.warnings.end());
  const int threads = std::max(p.threads, 1);
  const numeric computes = type.value_or(numeric::f32);
  if (const double peak = most.peak_flops_per_ns(computes, threads); peak > 0)
    out.peak_flops_per_ns = peak;
  if (const double rate = most.bytes_per_ns(beyond_caches, threads); rate > 0)
    out.memory_bytes_per_ns = rate;
  return out;
}

} // namespace benanza::profile
