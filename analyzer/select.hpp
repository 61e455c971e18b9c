// SPDX-License-Identifier: Apache-2.0
// Which models, types and thread counts of a run are reported? All by default; a name, a type or a
// thread count narrows that down. What the run does not hold is refused, naming what it does hold.
//
//   auto models = select(run, {.model = "resnet50", .type = "bf16"});
#pragma once

#include "benanza/bound/model.hpp"
#include "benanza/result/fields.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace benanza::analyzer {

/// What to report; what is not given stands for all there is.
struct selection {
  std::string model;
  std::string type;
  std::optional<int> threads;
  int workers = 0; ///< that run layers at the same time; 0: as the cores allow
};

namespace detail {
/// `what`, refused because none of `known` fits; names at most twenty of them.
template <class Names>
[[noreturn]] void refuse_choice(const std::string& what, const Names& known) {
  std::string list;
  std::size_t n = 0;
  for (const auto& k : known)
    if (n++ < 20) list += (list.empty() ? "" : ", ") + std::string(k);
  if (n > 20) list += " and " + std::to_string(n - 20) + " more";
  throw error(what, {}, list.empty() ? "the result holds none" : "there are: " + list);
}

/// The graphs called `wanted`, as variants or models; if there are none, those with it in their
/// name.
inline std::vector<const model::graph*> models(const result::run& r, const std::string& wanted) {
  std::vector<const model::graph*> exact, part;
  std::set<std::string> all, known;
  for (const model::graph& g : r.graphs)
    all.insert(g.name);
  for (const model::graph& g : r.graphs) {
    // A fused form is reported beside the model that it is the form of.
    if (all.contains(g.unfused)) continue;
    known.insert(g.name);
    if (g.name == wanted || g.model == wanted) exact.push_back(&g);
    if (g.name.find(wanted) != std::string::npos) part.push_back(&g);
  }
  if (part.empty() && exact.empty()) refuse_choice("no model is called \"" + wanted + "\"", known);
  return exact.empty() ? part : exact;
}
} // namespace detail

/// A graph of the layers of a run that has no model: a node each, and nothing between them.
inline model::graph loose_layers(const result::run& r) {
  model::graph g;
  g.name = "layers";
  std::set<std::string> names;
  std::set<numeric> types;
  for (const bound::measurement& m : r.measurements)
    if (result::of_a_layer(m) && m.family != op::reorder::family()) {
      names.insert(m.family + '/' + m.key);
      types.insert(parse_numeric(m.type).value_or(numeric::f32));
    }
  if (names.empty())
    throw error("the result holds no model and no layer", r.source, "measure some");
  g.type = *types.begin();
  for (const std::string& name : names) {
    model::node n;
    n.name = name;
    n.op = name.substr(0, name.find('/'));
    n.layer = static_cast<int>(g.layers.size());
    g.layers.push_back(op::parse(name));
    g.nodes.push_back(std::move(n));
  }
  return g;
}

/// The figures of all that is wanted: models by name, of each its own type first, then by threads.
inline std::vector<bound::model_bound> select(const result::run& r, const selection& wanted) {
  std::optional<numeric> type;
  if (!wanted.type.empty()) {
    type = parse_numeric(wanted.type);
    std::set<std::string> types;
    for (const bound::measurement& m : r.measurements)
      if (parse_numeric(m.type)) types.insert(m.type);
    if (!type || !types.contains(wanted.type))
      detail::refuse_choice("nothing was measured in type \"" + wanted.type + "\"", types);
  }
  if (wanted.threads) {
    std::set<std::string> counts;
    for (const bound::measurement& m : r.measurements)
      counts.insert(std::to_string(m.threads));
    const std::string n = std::to_string(*wanted.threads);
    if (!counts.contains(n))
      detail::refuse_choice("nothing was measured on " + n + " threads", counts);
  }

  const bound::source source(r);
  std::vector<bound::model_bound> out;
  for (const model::graph* g : detail::models(r, wanted.model)) {
    std::set<int> threads;
    std::vector<bound::setting> settings = source.cases.settings(*g);
    for (const auto& [t, n] : settings)
      threads.insert(n);
    if (threads.empty()) threads.insert(wanted.threads.value_or(1));
    // A type or thread count that was asked for is reported even where this model lacks it.
    if (type || settings.empty()) {
      settings.clear();
      for (int n : threads)
        settings.emplace_back(type.value_or(g->type), n);
    }
    if (wanted.threads) {
      for (auto& [t, n] : settings)
        n = *wanted.threads;
      settings.erase(std::unique(settings.begin(), settings.end()), settings.end());
    }
    for (const bound::setting& s : settings)
      out.push_back(bound::analyse(source, *g, s, {.workers = wanted.workers}));
  }
  return out;
}

} // namespace benanza::analyzer
