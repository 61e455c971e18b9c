// SPDX-License-Identifier: Apache-2.0
// What did a framework choose for each layer, and what is the fastest that was measured? The calls
// of its logs are matched to the model, an iteration of each log, and each gets what the result of
// the benchmark holds of that layer in that type.
//
//   framework_choices c = framework_choices_of(source, graph, logs, {});
//   c.rows[0].called->algorithm   c.rows[0].called_ns   c.rows[0].algorithms.chosen->algorithm
#pragma once

#include "../bound/model.hpp"
#include "../result/device.hpp"
#include "../trace/iterations.hpp"
#include "../trace/match.hpp"

#include <range/v3/action/sort.hpp>
#include <range/v3/algorithm/copy.hpp>
#include <range/v3/algorithm/max_element.hpp>
#include <range/v3/algorithm/min.hpp>
#include <range/v3/algorithm/stable_sort.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/map.hpp>
#include <range/v3/view/transform.hpp>
#include <range/v3/view/zip.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::advice {

/// A layer and how it was called.
struct framework_choice {
  std::string layer{}; ///< of the model; fused where the call is
  const trace::call* called = nullptr;
  const trace::call_log* from = nullptr; ///< the log of the call,
  std::int64_t line = 0;                 ///< and the line where it first occurs
  trace::likeness how = trace::likeness::exact;
  std::int64_t uses = 0;                ///< calls of an iteration
  std::vector<int> nodes{};             ///< that they computed, ascending
  std::optional<numeric> measured_in{}; ///< the type of the figures; nothing: there are none
  bound::choice algorithms{};
  std::optional<double> called_ns{}; ///< of the called algorithm, where it was measured
};

/// A call without a layer, or a layer without a call, and how often.
struct lone_row {
  const trace::call* called = nullptr; ///< null: a layer
  std::string layer{};                 ///< or the operator of a node that has none
  std::int64_t count = 0;
};

/// What is known of one log.
struct log_part {
  const trace::call_log* from = nullptr;
  trace::iterations all{};
  std::size_t shown = 0; ///< which iteration is compared, from 0
};

/// The answer for one model.
struct framework_choices {
  const model::graph* graph = nullptr;
  std::vector<log_part> logs{};
  std::vector<framework_choice> rows{};      ///< those that take most time first, then as called
  std::vector<lone_row> strangers{};         ///< calls that are no layer of the model
  std::vector<lone_row> surplus{};           ///< calls of its layers, more often than it has them
  std::vector<lone_row> uncalled{};          ///< layers that no call computed
  std::size_t calls = 0;                     ///< of the iteration, of all logs
  std::size_t covered = 0, nodes = 0;        ///< nodes that calls computed, and all but views
  std::optional<std::int64_t> other_batch{}; ///< of the calls, where it is not the model's
  bool of_cpu = false; ///< only a CPU was measured, which says nothing about calls on a GPU
};

/// What is asked for.
struct framework_options {
  std::optional<std::size_t> iteration{}; ///< which is compared, from 1; else the last
  std::optional<numeric> type{};          ///< of the times; else that of each call
  std::optional<int> threads{};           ///< of the times; else the fewest there are
  std::string_view state = "coldw";       ///< of the caches in a run of the model
};

/// True for layers without a model, or given in place of one (benanza_generate --layers): calls
/// compute each any number of times.
inline bool only_layers(const model::graph& g) {
  return g.model.empty() || g.name.ends_with("@layers");
}

/// True if two names say the same algorithm: knobs that are left to the engine (-1) do not count.
inline bool same_algorithm(std::string a, std::string b) {
  for (std::string* text : {&a, &b})
    for (std::size_t at = 0; (at = text->find("_k", at)) != std::string::npos;) {
      const std::size_t stop = std::min(text->find('_', at + 1), text->size());
      if (std::string_view(*text).substr(at, stop - at).ends_with("=-1"))
        text->erase(at, stop - at);
      else
        at = stop;
    }
  return a == b;
}

namespace detail {
/// The iterations that were found in a log, as this model explains them: blocks of equal layers
/// inside one run of it are none.
inline trace::iterations iterations_for(const trace::call_log& l, const trace::iterations& found,
                                        const model::graph& g) {
  if (found.count < 2) return found;
  trace::matcher one(g, only_layers(g)), all(g, only_layers(g));
  const auto [first, last] = found.at(found.count - 1);
  one.add(l, first, last);
  all.add(l, 0, l.entries.size());
  if (one.covered() >= all.covered()) return found;
  return {.first = 0, .length = l.entries.size(), .count = 1, .behind = 0};
}

/// Fills in what was measured of a row's layer.
inline void measure(framework_choice& row, const bound::source& s, const model::graph& g,
                    int threads, const framework_options& o) {
  std::vector<numeric> types;
  if (o.type)
    types = {*o.type};
  else if (row.called->type)
    types = {*row.called->type, g.type};
  else
    types = {g.type};
  for (numeric t : types) {
    const bound::layer_cases cases = s.cases.of(row.layer, t, threads);
    row.algorithms = bound::choose(cases, bound::warmth::in(o.state));
    if (row.algorithms.best == nullptr) continue;
    row.measured_in = t;
    for (const bound::candidate& c : cases.algorithms)
      if (c.any().backend == name(row.called->from) &&
          same_algorithm(c.any().algorithm, row.called->algorithm))
        row.called_ns = bound::detail::in_state(c, o.state) != nullptr
                            ? bound::detail::in_state(c, o.state)->median_ns
                            : c.any().median_ns;
    return;
  }
}

/// The most frequent batch of the calls that say one.
inline std::optional<std::int64_t> batch_of(const std::vector<log_part>& logs) {
  std::map<std::int64_t, std::size_t> count;
  for (const log_part& p : logs)
    for (const trace::entry& e : p.from->entries) {
      const auto& layer = p.from->at(e).layer;
      if (!layer) continue;
      const std::string_view family = op::family(*layer);
      if (const auto dims = op::operand_dims(*layer, 0);
          dims && (family.starts_with("Conv") || family.find("Pool") != family.npos))
        ++count[(*dims)[0]];
    }
  const auto most =
      ranges::max_element(count, ranges::less{}, [](const auto& c) { return c.second; });
  return most == count.end() ? std::nullopt : std::optional(most->first);
}

/// Rows that are counted, in the order in which they first came.
class lone_rows {
public:
  void count(const trace::call* called, const std::string& layer) {
    const auto [found, fresh] = place_.try_emplace({called, layer}, rows_.size());
    if (fresh) rows_.push_back({called, layer, 0});
    ++rows_[found->second].count;
  }
  std::vector<lone_row> take() { return std::move(rows_); }

private:
  std::map<std::pair<const trace::call*, std::string>, std::size_t> place_;
  std::vector<lone_row> rows_;
};

/// Finds the iteration of each log that is compared, and matches its calls.
inline std::vector<log_part> match_logs(trace::matcher& m, const std::vector<trace::call_log>& logs,
                                        const framework_options& o) {
  std::vector<log_part> out;
  for (const trace::call_log& l : logs) {
    log_part part{.from = &l, .all = iterations_for(l, trace::find_iterations(l), m.graph())};
    const std::size_t count = part.all.count;
    if (o.iteration && (*o.iteration < 1 || *o.iteration > count))
      throw error("the log holds no iteration " + std::to_string(*o.iteration), l.source,
                  "it holds " + std::to_string(count));
    part.shown = o.iteration ? *o.iteration - 1 : count - std::min<std::size_t>(count, 1);
    if (count != 0) {
      const auto [first, last] = part.all.at(part.shown);
      m.add(l, first, last);
    }
    out.push_back(part);
  }
  return out;
}

/// The fused layers of a run, each by the nodes of `g` that it replaces, ascending.
inline std::map<std::vector<int>, std::string> fused_layers_of(const result::run& r,
                                                               const model::graph& g) {
  std::map<std::vector<int>, std::string> out;
  for (const model::graph* fused : bound::fused_forms(r, g))
    for (const model::node& n : fused->nodes)
      if (n.parts.size() > 1 && n.layer != model::no_layer)
        out.emplace(n.parts, op::name(fused->layers[static_cast<std::size_t>(n.layer)]));
  return out;
}

/// A row for each layer and call that were matched, in the order in which they first came.
inline std::vector<framework_choice>
matched_rows(const trace::matcher& m, const std::map<std::vector<int>, std::string>& fused_layers) {
  const model::graph& g = m.graph();
  std::vector<framework_choice> out;
  std::map<std::tuple<std::string, const trace::call*, trace::likeness>, std::size_t> place;
  for (const trace::pair_of& p : m.pairs()) {
    const std::vector<int> nodes = p.nodes | ranges::copy | ranges::actions::sort;
    const model::node& first = g.nodes[static_cast<std::size_t>(p.nodes.front())];
    std::string layer = op::name(g.layers[static_cast<std::size_t>(first.layer)]);
    if (const auto found = fused_layers.find(nodes); found != fused_layers.end())
      layer = found->second;
    else if (nodes.size() > 1)
      layer = op::name(*p.called().layer);
    const auto [found, fresh] = place.try_emplace({layer, &p.called(), p.how}, out.size());
    if (fresh)
      out.push_back({.layer = layer,
                     .called = &p.called(),
                     .from = p.from,
                     .line = p.from->entries[p.entry].line,
                     .how = p.how});
    framework_choice& row = out[found->second];
    ++row.uses;
    row.nodes.insert(row.nodes.end(), nodes.begin(), nodes.end());
  }
  for (framework_choice& row : out)
    row.nodes |= ranges::actions::sort;
  return out;
}

/// The fewest threads on which layers of `g` were measured; 0: none were.
inline int fewest_threads(const bound::source& s, const model::graph& g) {
  const std::vector<bound::setting> settings = s.cases.settings(g);
  return settings.empty() ? 0 : ranges::min(settings | ranges::views::values);
}

/// What the calls of a row's algorithm take, where it was measured.
inline double chosen_ns(const framework_choice& r) {
  return r.measured_in ? static_cast<double>(r.uses) * r.algorithms.prediction.ns : 0.0;
}
} // namespace detail

/// Compares the logs with a model of the run that `s` is of. Refers to all three.
inline framework_choices framework_choices_of(const bound::source& s, const model::graph& g,
                                              const std::vector<trace::call_log>& logs,
                                              const framework_options& o) {
  framework_choices out{.graph = &g};
  trace::matcher m(g, only_layers(g));
  out.logs = detail::match_logs(m, logs, o);
  out.rows = detail::matched_rows(m, detail::fused_layers_of(s.run, g));
  const int threads = o.threads ? *o.threads : detail::fewest_threads(s, g);
  out.of_cpu = result::devices(s.run) == std::set{result::cpu_device};
  for (framework_choice& row : out.rows)
    if (row.how != trace::likeness::bias && !out.of_cpu) detail::measure(row, s, g, threads, o);
  ranges::stable_sort(out.rows, ranges::greater{}, detail::chosen_ns);

  detail::lone_rows strangers, surplus, uncalled;
  for (const trace::lone_call& c : m.lone())
    (c.surplus ? surplus : strangers).count(&c.called(), {});
  for (int node : m.uncalled()) {
    const model::node& n = g.nodes[static_cast<std::size_t>(node)];
    uncalled.count(nullptr, n.layer == model::no_layer
                                ? n.op + " (not resolved)"
                                : op::name(g.layers[static_cast<std::size_t>(n.layer)]));
  }
  out.strangers = strangers.take();
  out.surplus = surplus.take();
  out.uncalled = uncalled.take();
  out.calls = m.pairs().size() + m.lone().size();
  out.covered = m.covered();
  out.nodes = out.covered + m.uncalled().size();
  if (const auto batch = detail::batch_of(out.logs); batch && *batch != g.batch && !only_layers(g))
    out.other_batch = batch;
  return out;
}

/// The one of several models that the logs are of: the one with most of its nodes computed.
inline const model::graph* best_model(const std::vector<const model::graph*>& models,
                                      const std::vector<trace::call_log>& logs) {
  const model::graph* best = nullptr;
  std::pair<std::size_t, std::size_t> most{0, 0};
  const auto found =
      logs | ranges::views::transform(trace::find_iterations) | ranges::to<std::vector>;
  for (const model::graph* g : models) {
    trace::matcher m(*g, only_layers(*g));
    for (const auto& [log, of_log] : ranges::views::zip(logs, found)) {
      const trace::iterations all = detail::iterations_for(log, of_log, *g);
      if (all.count == 0) continue;
      const auto [first, last] = all.at(all.count - 1);
      m.add(log, first, last);
    }
    // Of two with as many the one with fewer nodes left over.
    const std::pair fit{m.covered(), SIZE_MAX - m.uncalled().size()};
    if (best != nullptr && fit <= most) continue;
    most = fit;
    best = g;
  }
  return best;
}

} // namespace benanza::advice
