// SPDX-License-Identifier: Apache-2.0
// What does a profile say of the model as a whole? How long a run takes, what events added to it,
// how many items a second at each batch and from which batch on doubling it pays no more (A1); what
// all its calls add up to (A15); and where the time goes in its first, middle and last third (T).
//
//   table t = model_information(all, all[0]);   table u = thirds(all[0]);
#pragma once

#include "../advice/batch.hpp"
#include "../advice/parallel.hpp"
#include "levelled_run.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace benanza::profile {

namespace detail {
/// A sum of what is known; nothing: none of it is.
inline void add_known(std::optional<double>& sum, const std::optional<double>& one) {
  if (one) sum = sum.value_or(0) + *one;
}

/// The command that measures a run at twice a batch, by the program that measured it.
inline std::string larger_batch_command(const levelled_run& r, std::int64_t batch) {
  if (r.who == "benanza") return advice::larger_batch_command(r.model, batch);
  return fmt::format("benanza_measure_framework {} {} --batch {} --threads {}",
                     bound::shell_word(r.who), bound::shell_file(r.model + ".onnx"), 2 * batch,
                     std::max(1, r.threads));
}

/// What is known of the best batch for such a run.
inline std::string optimal_batch(const std::vector<advice::batch_point>& all,
                                 const levelled_run& r) {
  const auto best = advice::best_batch(all);
  if (!best) return "one batch was measured: which one is best is not known";
  if (best->batch < all.back().batch)
    return fmt::format("optimal batch: {}, from which on doubling gains less than {:.0f} % of "
                       "items",
                       best->batch, 100 * advice::least_gain_of_doubling);
  return fmt::format("the best batch of those measured: {}; larger ones were not measured: {}",
                     best->batch, larger_batch_command(r, best->batch));
}
} // namespace detail

/// A1: the runs of the same model by the same framework at every batch that was measured.
inline table model_information(const std::vector<levelled_run>& all, const levelled_run& r) {
  table t{.id = "A1",
          .title = "Model information",
          .columns = {{"batch", "", "items of a run; empty: not told"},
                      {"latency", "us", "of a run; of the one with the fewest events taken"},
                      {"items", "1/s", "batch / latency"},
                      {"layer events", "us", "what taking the events of layers adds to a run"},
                      {"call events", "us", "what taking those of calls adds to that"},
                      {"layers", "", "that ran, changes of layout among them"},
                      {"sum of layers", "%", "the sum of the layers' times over the latency"}}};
  std::vector<const levelled_run*> same;
  for (const levelled_run& o : all)
    if (o.who == r.who && o.model == r.model && o.type == r.type && o.threads == r.threads &&
        o.device == r.device)
      same.push_back(&o);
  std::stable_sort(same.begin(), same.end(),
                   [](const auto* a, const auto* b) { return a->batch < b->batch; });
  std::vector<advice::batch_point> points;
  for (const levelled_run* o : same) {
    t.rows.push_back(
        {o->batch > 0 ? cell(o->batch) : cell(), o->model_ns / us,
         o->batch > 0 ? cell(1e9 * static_cast<double>(o->batch) / o->model_ns) : cell(),
         known(o->layer_events_ns, us), known(o->call_events_ns, us),
         static_cast<std::int64_t>(o->layers.size()),
         o->layers.empty() ? cell() : cell(100 * o->layers_ns() / o->model_ns)});
    if (o->batch > 0 && (points.empty() || points.back().batch != o->batch))
      points.push_back({o->batch, o->model_ns});
  }
  t.notes.push_back(detail::optimal_batch(points, r));
  if (!r.free_of_events)
    t.notes.push_back(
        "the latency is of runs in which events were taken: a run without is shorter");
  return t;
}

/// A15: all calls of a run together.
inline table calls_by_model(const levelled_run& r) {
  table t{.id = "A15",
          .title = "Calls by model",
          .columns = {{"calls", "", "of libraries, or kernels, in a run"},
                      {"calls' time", "us", "their sum"},
                      {"of the model", "%", "that over the latency of the model"},
                      {"operations", "MFLOP", "of the layers that have calls; counted from dims"},
                      {"bytes", "MiB", "the same: operands and results once each"},
                      {"intensity", "FLOP/B", "operations / bytes"},
                      {"rate", "GFLOP/s", "operations / calls' time"}}};
  if (!r.no_calls.empty()) {
    t.notes.push_back(r.no_calls);
    return t;
  }
  double ns = 0;
  std::optional<double> flops, bytes;
  std::vector<bool> has(r.layers.size(), false);
  for (const call& c : r.calls) {
    ns += c.ns;
    if (c.layer >= 0) has[static_cast<std::size_t>(c.layer)] = true;
  }
  for (std::size_t i = 0; i < has.size(); ++i)
    if (has[i]) {
      detail::add_known(flops, r.layers[i].flops);
      detail::add_known(bytes, r.layers[i].bytes);
    }
  const bool timed = ns > 0;
  t.rows.push_back({static_cast<std::int64_t>(r.calls.size()), timed ? cell(ns / us) : cell(),
                    timed ? cell(100 * ns / r.model_ns) : cell(), known(flops, 1e6),
                    known(bytes, mib), flops && bytes ? cell(*flops / *bytes) : cell(),
                    flops && timed ? cell(*flops / ns) : cell()});
  if (!timed) t.notes.push_back("the profile tells the names of calls, and no times");
  return t;
}

/// T: the first, the middle and the last third of the layers, by their number.
inline table thirds(const levelled_run& r) {
  table t{.id = "T",
          .title = "Begin, middle, end",
          .columns = {{"third", "", "of the layers, by their number in the order they ran"},
                      {"layers", "", "in it"},
                      {"time", "us", "of them"},
                      {"of all", "%", "of all layers' time"},
                      {"operations", "MFLOP", "counted from dims"},
                      {"bytes", "MiB", "the same: operands and results once each"},
                      {"most", "", "the type of layer that takes most of it"}}};
  const std::size_t n = r.layers.size();
  const char* const names[] = {"begin", "middle", "end"};
  const double all_ns = r.layers_ns();
  for (std::size_t third = 0; third < 3 && n > 0; ++third) {
    double ns = 0;
    std::optional<double> flops, bytes;
    std::map<std::string, double> by_type;
    const std::size_t from = third * n / 3, to = (third + 1) * n / 3;
    for (std::size_t i = from; i < to; ++i) {
      const layer& l = r.layers[i];
      ns += l.ns;
      detail::add_known(flops, l.flops);
      detail::add_known(bytes, l.bytes);
      by_type[l.type] += l.ns;
    }
    const auto most = std::max_element(by_type.begin(), by_type.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    t.rows.push_back({std::string(names[third]), static_cast<std::int64_t>(to - from), ns / us,
                      all_ns > 0 ? cell(100 * ns / all_ns) : cell(), known(flops, 1e6),
                      known(bytes, mib), most == by_type.end() ? cell() : cell(most->first)});
  }
  if (n == 0) t.notes.push_back("no layers are known");
  return t;
}

} // namespace benanza::profile
