// SPDX-License-Identifier: Apache-2.0
// Which layers of some models were not measured yet? Of all unique layers those of which the store
// holds no successful case on a system, in one of the types and on one of the numbers of threads
// that are asked for. Without types, those of the models that use a layer count. Each question is
// one look into the store, however many results it holds.
//
//   missing(store, system, catalogue.layers, graphs, {.threads = {1}})   // names: "Relu/1x64", ...
#pragma once

#include "../../model/unique.hpp"
#include "store.hpp"

#include <set>
#include <span>
#include <string>
#include <vector>

namespace benanza::result::store {

/// In which types and on how many threads layers should have been measured.
struct wanted_settings {
  std::vector<numeric> types{}; ///< empty: the types of the models themselves
  std::vector<int> threads{1};
};

/// The names of the layers that the store lacks. Views are measured nowhere, and never missing.
inline std::set<std::string> missing(const store& s, std::int64_t system,
                                     std::span<const model::catalogue_entry> layers,
                                     std::span<const model::graph> graphs,
                                     const wanted_settings& wanted = {}) {
  std::set<std::string> out;
  for (const model::catalogue_entry& e : layers) {
    if (op::is_view(e.layer)) continue;
    std::set<numeric> types(wanted.types.begin(), wanted.types.end());
    if (types.empty())
      for (const model::use& u : e.uses)
        types.insert(graphs[u.graph].type);
    const std::string_view family = op::family(e.layer);
    const std::string key = op::key(e.layer);
    for (const numeric type : types)
      for (const int threads : wanted.threads)
        if (!s.holds(system, family, key, name(type), threads)) out.insert(op::name(e.layer));
  }
  return out;
}

} // namespace benanza::result::store
