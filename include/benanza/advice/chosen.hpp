// SPDX-License-Identifier: Apache-2.0
// What did a framework choose for each layer, and what is the fastest that was measured? The calls
// of its logs are matched to the model, an iteration of each log, and beside each stands what the
// result of the benchmark holds of that layer in that type.
//
//   chosen c = what_was_chosen(source, graph, logs, {});   c.rows[0].called->algorithm
//   c.rows[0].algorithms.chosen->algorithm                 c.rows[0].called_ns
#pragma once

#include "../bound/model.hpp"
#include "../trace/iterations.hpp"
#include "../trace/match.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::advice {

/// A layer and how it was called.
struct chosen_row {
  std::string layer{}; ///< of the model; fused where the call is
  const trace::call* called = nullptr;
  const trace::call_log* from = nullptr; ///< the log of the call,
  std::int64_t line = 0;                 ///< and where it stands there first
  trace::likeness how = trace::likeness::exact;
  std::int64_t uses = 0;                ///< calls of an iteration
  std::vector<int> nodes{};             ///< that they computed, ascending
  std::optional<numeric> measured_in{}; ///< the type of the figures; nothing: there are none
  bound::choice algorithms{};
  std::optional<double> called_ns{}; ///< of the called algorithm, where it was measured
};

/// A call or a layer that stands alone, and how often.
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
struct chosen {
  const model::graph* graph = nullptr;
  std::vector<log_part> logs{};
  std::vector<chosen_row> rows{};            ///< those that take most time first, then as called
  std::vector<lone_row> strangers{};         ///< calls that are no layer of the model
  std::vector<lone_row> surplus{};           ///< calls of its layers, more often than it has them
  std::vector<lone_row> uncalled{};          ///< layers that no call computed
  std::size_t calls = 0;                     ///< of the iteration, of all logs
  std::size_t covered = 0, nodes = 0;        ///< nodes that calls computed, and all but views
  std::optional<std::int64_t> other_batch{}; ///< of the calls, where it is not the model's
};

/// What is asked for.
struct chosen_options {
  std::optional<std::size_t> iteration{}; ///< which is compared, from 1; else the last
  std::optional<numeric> type{};          ///< of the times; else that of each call
  std::optional<int> threads{};           ///< of the times; else the fewest there are
  std::string_view state = "coldw";       ///< of the caches in a real run
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
inline void measure(chosen_row& row, const bound::source& s, const model::graph& g, int threads,
                    const chosen_options& o) {
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
      if (const auto* c = std::get_if<op::conv>(&*layer)) ++count[c->input[0]];
      if (const auto* c = std::get_if<op::fused<op::conv>>(&*layer)) ++count[c->base.input[0]];
      if (const auto* c = std::get_if<op::pool>(&*layer)) ++count[c->input[0]];
    }
  const auto most = std::max_element(
      count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
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
} // namespace detail

/// Holds the logs against a model of the run that `s` is of. Refers to all three.
inline chosen what_was_chosen(const bound::source& s, const model::graph& g,
                              const std::vector<trace::call_log>& logs, const chosen_options& o) {
  chosen out{.graph = &g};
  trace::matcher m(g, only_layers(g));
  for (const trace::call_log& l : logs) {
    log_part part{.from = &l, .all = detail::iterations_for(l, trace::find_iterations(l), g)};
    if (o.iteration && (*o.iteration < 1 || *o.iteration > part.all.count))
      throw error("the log holds no iteration " + std::to_string(*o.iteration), l.source,
                  "it holds " + std::to_string(part.all.count));
    part.shown =
        o.iteration ? *o.iteration - 1 : part.all.count - std::min<std::size_t>(part.all.count, 1);
    if (part.all.count != 0) {
      const auto [first, last] = part.all.at(part.shown);
      m.add(l, first, last);
    }
    out.logs.push_back(part);
  }

  // The fused layer of the run that stands for exactly these nodes.
  const model::graph* fused = bound::detail::fused_form(s.run, g);
  std::map<std::vector<int>, std::string> fused_layers;
  if (fused != nullptr)
    for (const model::node& n : fused->nodes)
      if (n.parts.size() > 1 && n.layer != model::no_layer)
        fused_layers.emplace(n.parts, op::name(fused->layers[static_cast<std::size_t>(n.layer)]));

  std::map<std::tuple<std::string, const trace::call*, trace::likeness>, std::size_t> place;
  for (const trace::pair_of& p : m.pairs()) {
    std::vector<int> nodes = p.nodes;
    std::sort(nodes.begin(), nodes.end());
    const model::node& first = g.nodes[static_cast<std::size_t>(p.nodes.front())];
    std::string layer = op::name(g.layers[static_cast<std::size_t>(first.layer)]);
    if (const auto found = fused_layers.find(nodes); found != fused_layers.end())
      layer = found->second;
    else if (nodes.size() > 1)
      layer = op::name(*p.called().layer);
    const auto [found, fresh] = place.try_emplace({layer, &p.called(), p.how}, out.rows.size());
    if (fresh)
      out.rows.push_back({.layer = layer,
                          .called = &p.called(),
                          .from = p.from,
                          .line = p.from->entries[p.entry].line,
                          .how = p.how});
    chosen_row& row = out.rows[found->second];
    ++row.uses;
    row.nodes.insert(row.nodes.end(), nodes.begin(), nodes.end());
  }

  int threads = o.threads.value_or(0);
  if (!o.threads)
    for (const auto& [type, n] : s.cases.settings(g))
      threads = threads == 0 ? n : std::min(threads, n);
  for (chosen_row& row : out.rows) {
    std::sort(row.nodes.begin(), row.nodes.end());
    if (row.how != trace::likeness::bias) detail::measure(row, s, g, threads, o);
  }
  const auto total = [](const chosen_row& r) {
    return r.measured_in ? static_cast<double>(r.uses) * r.algorithms.prediction.ns : 0.0;
  };
  std::stable_sort(out.rows.begin(), out.rows.end(),
                   [&](const chosen_row& a, const chosen_row& b) { return total(a) > total(b); });

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
  std::vector<trace::iterations> found;
  for (const trace::call_log& l : logs)
    found.push_back(trace::find_iterations(l));
  for (const model::graph* g : models) {
    trace::matcher m(*g, only_layers(*g));
    for (std::size_t i = 0; i < logs.size(); ++i) {
      const trace::iterations all = detail::iterations_for(logs[i], found[i], *g);
      if (all.count == 0) continue;
      const auto [first, last] = all.at(all.count - 1);
      m.add(logs[i], first, last);
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
