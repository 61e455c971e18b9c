// SPDX-License-Identifier: Apache-2.0
// How much do models repeat, themselves and each other? For each how many of its layers and
// sequences are different ones; for pairs the Jaccard similarity of these: 1 for equal sets, 0 for
// sets that share nothing.
//
//   similarity_answer(similarity_of(graphs, {.length = 6}))
#pragma once

#include "../../analyzer/report/tables/page.hpp"

#include <benanza/model/sequences.hpp>
#include <benanza/model/unique.hpp>

#include <fmt/format.h>
#include <range/v3/algorithm/stable_sort.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace benanza::generator {

/// How often a model repeats itself.
struct repetition {
  std::string model{};
  std::int64_t layers = 0, unique_layers = 0, sequences = 0, unique_sequences = 0;
};

/// Two models.
struct likeness {
  std::string one{}, other{};
  double layers = 0, sequences = 0; ///< Jaccard
};

struct similarity {
  std::int64_t length = 1; ///< of sequences, at most
  std::vector<repetition> models{};
  repetition all{};
  std::vector<likeness> pairs{}; ///< the most alike first
};

inline similarity similarity_of(const std::vector<model::graph>& graphs,
                                const model::granularity& how) {
  const model::sequence_catalogue c = model::unique_sequences(graphs, how);
  similarity out{.length = how.length};
  std::vector<std::set<std::string>> layers, sequences;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    layers.push_back(model::layer_names(graphs[i]));
    sequences.emplace_back(c.of_graphs[i].begin(), c.of_graphs[i].end());
    out.models.push_back({.model = graphs[i].name,
                          .layers = std::ssize(graphs[i].nodes),
                          .unique_layers = std::ssize(layers[i]),
                          .sequences = std::ssize(c.of_graphs[i]),
                          .unique_sequences = std::ssize(sequences[i])});
    for (std::size_t k = 0; k < i; ++k)
      out.pairs.push_back({.one = graphs[k].name,
                           .other = graphs[i].name,
                           .layers = model::jaccard(layers[k], layers[i]),
                           .sequences = model::jaccard(sequences[k], sequences[i])});
  }
  out.all = {.model = "all",
             .layers = c.layers,
             .unique_layers = std::ssize(model::unique_layers(graphs).layers),
             .sequences = c.sequences,
             .unique_sequences = std::ssize(c.unique)};
  ranges::stable_sort(out.pairs, [](const likeness& a, const likeness& b) {
    return a.layers + a.sequences > b.layers + b.sequences;
  });
  return out;
}

inline report::tables::chapter similarity_answer(const similarity& s) {
  using report::tables::unit;
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return report::tables::above_zero(
        whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole));
  };
  report::tables::table models{.key = "models",
                               .columns = {{"model", "model", unit::name},
                                           {"layers", "layers", unit::count},
                                           {"unique_layers", "unique", unit::count},
                                           {"", "", unit::share},
                                           {"sequences", "sequences", unit::count},
                                           {"unique_sequences", "unique", unit::count},
                                           {"", "", unit::share}}};
  const auto add = [&](const repetition& r) {
    models.rows.push_back({r.model, r.layers, r.unique_layers, share(r.unique_layers, r.layers),
                           r.sequences, r.unique_sequences,
                           share(r.unique_sequences, r.sequences)});
  };
  for (const repetition& r : s.models)
    add(r);
  if (s.models.size() > 1) add(s.all);
  report::tables::chapter out{.fields = {{"granularity", s.length}}};
  out.add(std::move(models));
  report::tables::table pairs{
      .key = "pairs",
      .title = fmt::format("Jaccard similarity of layers and of sequences of at most {}, the most "
                           "alike of {} pairs",
                           s.length, s.pairs.size()),
      .columns = {{"layers", "layers", unit::factor},
                  {"sequences", "sequences", unit::factor},
                  {"one", "one", unit::name},
                  {"other", "other", unit::name}},
      .shown = 20,
      .all_by = "--format csv"};
  for (const likeness& p : s.pairs)
    pairs.rows.push_back({p.layers, p.sequences, p.one, p.other});
  out.add(std::move(pairs));
  return out;
}

} // namespace benanza::generator
