// SPDX-License-Identifier: Apache-2.0
// Which different sequences do some models hold, and how much measuring do they save? A sequence
// that models share, or one uses twice, is measured once. The saving is DLBricks' (ICPE 2020): what
// the models take over what the unique sequences take, each run once.
//
//   sequence_catalogue c = unique_sequences(graphs, {.length = 6});   c.unique.size()
//   sweep_row r = sweep(graphs, {.length = 6}, layer_ns);   r.saving   // 3.1
#pragma once

#include "sequence.hpp"
#include "split.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace benanza::model {

/// The sequences of some graphs.
struct sequence_catalogue {
  std::map<std::string, graph> unique{};             ///< by name
  std::vector<std::vector<std::string>> of_graphs{}; ///< the names of each graph's, in their order
  std::int64_t layers = 0, sequences = 0;            ///< of all graphs
};

inline sequence_catalogue unique_sequences(std::span<const graph> graphs, const granularity& how) {
  sequence_catalogue out;
  for (const graph& g : graphs) {
    std::vector<std::string>& names = out.of_graphs.emplace_back();
    for (const std::vector<int>& nodes : split(g, how)) {
      graph s = sequence_of(g, nodes);
      names.push_back(s.name);
      out.layers += static_cast<std::int64_t>(nodes.size());
      ++out.sequences;
      out.unique.try_emplace(s.name, std::move(s));
    }
  }
  return out;
}

/// How much two sets have in common: 1 for equal ones, 0 for those that share nothing.
inline double jaccard(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::size_t both = 0;
  for (const std::string& x : a)
    both += b.contains(x);
  const std::size_t any = a.size() + b.size() - both;
  return any == 0 ? 1 : static_cast<double>(both) / static_cast<double>(any);
}

/// The names of the different layers of a graph.
inline std::set<std::string> layer_names(const graph& g) {
  std::set<std::string> out;
  for (const op::layer& l : g.layers)
    out.insert(op::name(l));
  return out;
}

/// What one granularity gives.
struct sweep_row {
  std::int64_t length = 1;
  std::int64_t sequences = 0, unique = 0;
  double mean_length = 0; ///< of all sequences, in layers
  double saving = 0;      ///< 0: nothing takes any time
  /// One model may hold most of the time in sequences that no other has: the one without which the
  /// saving is largest, as its place among the graphs, and that saving.
  std::size_t without = 0;
  double saving_without = 0;
};

/// The row of a granularity, where `layer_ns` says what a layer takes.
template <class LayerNs>
sweep_row sweep(std::span<const graph> graphs, const granularity& how, LayerNs&& layer_ns) {
  const sequence_catalogue c = unique_sequences(graphs, how);
  std::map<std::string, double> ns;
  std::map<std::string, std::set<std::size_t>> users;
  double unique_ns = 0, models_ns = 0;
  for (const auto& [name, s] : c.unique) {
    double& its = ns[name];
    for (const node& n : s.nodes)
      if (const op::layer* l = layer_of(s, n)) its += layer_ns(*l);
    unique_ns += its;
  }
  std::vector<double> model_ns(graphs.size(), 0), own_ns(graphs.size(), 0);
  for (std::size_t i = 0; i < graphs.size(); ++i)
    for (const std::string& name : c.of_graphs[i]) {
      model_ns[i] += ns.at(name);
      users[name].insert(i);
    }
  for (const auto& [name, its] : users)
    if (its.size() == 1) own_ns[*its.begin()] += ns.at(name);
  for (const double m : model_ns)
    models_ns += m;
  const auto count = static_cast<double>(std::max<std::int64_t>(1, c.sequences));
  sweep_row out{.length = how.length,
                .sequences = c.sequences,
                .unique = std::ssize(c.unique),
                .mean_length = static_cast<double>(c.layers) / count,
                .saving = unique_ns > 0 ? models_ns / unique_ns : 0};
  for (std::size_t i = 0; i < graphs.size(); ++i)
    if (const double left = unique_ns - own_ns[i]; left > 0)
      if (const double s = (models_ns - model_ns[i]) / left; s > out.saving_without) {
        out.without = i;
        out.saving_without = s;
      }
  return out;
}

/// A granularity that saves this share of the most saves about as much.
inline constexpr double about_the_most = 0.9;

/// The granularity to take: of those longer than single layers, within which some of what layers do
/// to each other is measured, the one that saves most; of those that save about as much the
/// longest. Null: none saves as much as half a percent.
inline const sweep_row* recommended(const std::vector<sweep_row>& rows) {
  double most = 0;
  for (const sweep_row& r : rows)
    if (r.length > 1) most = std::max(most, r.saving);
  const sweep_row* out = nullptr;
  if (most < 1.005) return out;
  for (const sweep_row& r : rows)
    if (r.length > 1 && r.saving >= about_the_most * most &&
        (out == nullptr || r.length > out->length))
      out = &r;
  return out;
}

} // namespace benanza::model
