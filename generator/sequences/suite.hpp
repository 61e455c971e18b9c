// SPDX-License-Identifier: Apache-2.0
// What is written where sequences are to be measured? The same folder as for layers: each unique
// sequence as a graph of its own behind the models, and no layer that is measured alone. An
// anonymous suite holds the sequences only, in the order of their fingerprints; the models, and
// which sequence is whose, are in a private file.
//
//   suite s = suite_of(graphs, graphs, {.length = 6}, false);   write_folder(folder, s.files);
#pragma once

#include "../emit.hpp"

#include <benanza/model/sequences.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace benanza::generator {

struct suite {
  std::map<std::string, std::string> files{};
  std::string map{}; ///< of an anonymous suite; else empty
  std::int64_t layers = 0, sequences = 0, unique = 0;
  std::int64_t views = 0;      ///< unique ones that only view memory, and are not measured
  std::int64_t unresolved = 0; ///< that cannot be run
};

namespace detail {
/// What a private map holds: the models, and the sequences of each of `forms`, in their order.
inline std::string map_text(const std::vector<model::graph>& models,
                            const std::vector<model::graph>& forms,
                            const model::sequence_catalogue& c, std::size_t decoys) {
  nlohmann::ordered_json whose = nlohmann::ordered_json::object();
  auto others = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < forms.size(); ++i) {
    whose[forms[i].name] = c.of_graphs[i];
    if (i + decoys >= forms.size()) others.push_back(forms[i].name);
  }
  const auto line = [](const nlohmann::ordered_json& j) {
    return j.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  };
  return "{\"sequences\": " + line(whose) + ",\n\"decoys\": " + line(others) + ",\n" +
         result::to_text({.graphs = models, .known = {}}).substr(1);
}
} // namespace detail

/// The suite of some models, of which `forms` are cut; where it is anonymous, with the sequences of
/// the last `decoys` of them mixed in.
inline suite suite_of(const std::vector<model::graph>& models,
                      const std::vector<model::graph>& forms, const model::granularity& how,
                      bool anonymous, std::size_t decoys = 0, emit_options o = {}) {
  model::sequence_catalogue c = model::unique_sequences(forms, how);
  suite out{.layers = c.layers, .sequences = c.sequences, .unique = std::ssize(c.unique)};
  std::vector<model::graph> graphs;
  if (anonymous)
    out.map = detail::map_text(models, forms, c, decoys);
  else
    graphs = models;
  for (auto& [name, s] : c.unique) {
    out.views += model::only_views(s);
    out.unresolved += !model::resolved(s);
    if (model::resolved(s)) graphs.push_back(std::move(s));
  }
  const model::catalogue all = model::unique_layers(graphs);
  for (const model::catalogue_entry& l : all.layers)
    o.known.insert(op::name(l.layer));
  out.files = emit(all.layers, graphs, o);
  return out;
}

} // namespace benanza::generator
