// SPDX-License-Identifier: Apache-2.0
// How much do models repeat, themselves and each other? For each how many of its layers and
// sequences are different ones; for pairs the Jaccard similarity of these: 1 for equal sets, 0 for
// sets that share nothing.
//
//   say(similarity_text(graphs, {.length = 6}))
#pragma once

#include <benanza/core/printable.hpp>
#include <benanza/model/sequences.hpp>
#include <benanza/model/unique.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <range/v3/algorithm/stable_sort.hpp>
#include <range/v3/view/take.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
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

inline std::string similarity_text(const similarity& s) {
  constexpr std::size_t most = 20;
  std::size_t width = 5;
  for (const repetition& r : s.models)
    width = std::max(width, printable(r.model).size());
  std::string out = fmt::format("{:<{}} {:>7} {:>7} {:>6} {:>10} {:>7} {:>6}\n", "model", width,
                                "layers", "unique", "", "sequences", "unique", "");
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return whole == 0 ? std::string("-")
                      : fmt::format("{:.1f} %",
                                    100.0 * static_cast<double>(part) / static_cast<double>(whole));
  };
  const auto line = [&](const repetition& r) {
    out += fmt::format("{:<{}} {:>7} {:>7} {:>6} {:>10} {:>7} {:>6}\n", printable(r.model), width,
                       r.layers, r.unique_layers, share(r.unique_layers, r.layers), r.sequences,
                       r.unique_sequences, share(r.unique_sequences, r.sequences));
  };
  for (const repetition& r : s.models)
    line(r);
  if (s.models.size() < 2) return out;
  line(s.all);
  out +=
      fmt::format("\nJaccard similarity of layers and of sequences of at most {}, the most alike "
                  "of {} pairs:\n",
                  s.length, s.pairs.size());
  for (const likeness& p : s.pairs | ranges::views::take(most))
    out += fmt::format("{:5.2f} {:5.2f}  {}, {}\n", p.layers, p.sequences, printable(p.one),
                       printable(p.other));
  return out;
}

inline std::string similarity_json(const similarity& s) {
  using nlohmann::ordered_json;
  const auto row = [](const repetition& r) {
    return ordered_json{{"model", r.model},
                        {"layers", r.layers},
                        {"unique_layers", r.unique_layers},
                        {"sequences", r.sequences},
                        {"unique_sequences", r.unique_sequences}};
  };
  ordered_json out{{"granularity", s.length}, {"all", row(s.all)}};
  out["models"] = out["pairs"] = ordered_json::array();
  for (const repetition& r : s.models)
    out["models"].push_back(row(r));
  for (const likeness& p : s.pairs)
    out["pairs"].push_back(
        {{"one", p.one}, {"other", p.other}, {"layers", p.layers}, {"sequences", p.sequences}});
  return out.dump(1, ' ', true, nlohmann::json::error_handler_t::replace) + '\n';
}

} // namespace benanza::generator
