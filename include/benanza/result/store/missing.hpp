// SPDX-License-Identifier: Apache-2.0
// Which layers of some models were not measured yet? Of all unique layers those that a store lacks
// on a system, in one of the types and on one of the numbers of threads that are asked for. Without
// types, those of the models that use a layer count, and without an effort the usual one. What was
// tried is there, also if all of its cases failed or nothing runs it: that has a reason, and trying
// again would give it again. Each question is one look into the store, however many results it
// holds.
//
//   auto m = missing(store, system, catalogue.layers, graphs, {.threads = {1}});
//   m.names   // of those to measure: "Relu/1x64", ...      m.failed["Einsum/..."]   // the reason
#pragma once

#include "../../model/unique.hpp"
#include "../fields.hpp"
#include "store.hpp"

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace benanza::result::store {

/// In which types, on how many threads and with what effort layers should have been measured.
struct wanted_settings {
  std::vector<numeric> types{}; ///< empty: the types of the models themselves
  std::vector<int> threads{1};
  effort least = effort::normal;
};

/// What a store says of the layers of some models.
struct missing_layers {
  std::set<std::string> names;               ///< of those that it lacks
  std::map<std::string, std::string> failed; ///< those it has no time of, by name, and why
};

/// What the store lacks. Views are measured nowhere, and never missing. A layer that nothing runs
/// in a type is measured in the models' own, which then count too.
inline missing_layers missing(const store& s, std::int64_t system,
                              std::span<const model::catalogue_entry> layers,
                              std::span<const model::graph> graphs,
                              const wanted_settings& wanted = {}) {
  missing_layers out;
  for (const model::catalogue_entry& e : layers) {
    if (op::is_view(e.layer)) continue;
    std::set<numeric> own;
    for (const model::use& u : e.uses)
      own.insert(graphs[u.graph].type);
    const std::string_view family = op::family(e.layer);
    const std::string key = op::key(e.layer);
    const std::string layer = op::name(e.layer);
    for (const int threads : wanted.threads) {
      bool lacking = false, timed = false, falls_back = false;
      std::string why;
      const auto look = [&](numeric type) {
        if (s.holds(system, family, key, name(type), threads, wanted.least)) {
          timed = true;
          return;
        }
        const auto row = s.failure(system, family, key, name(type), threads, wanted.least);
        lacking = lacking || !row;
        falls_back = falls_back || (row && nothing_runs(*row));
        if (why.empty() && row) why = row->error;
      };
      const std::set<numeric> asked =
          wanted.types.empty() ? own : std::set(wanted.types.begin(), wanted.types.end());
      for (const numeric type : asked)
        look(type);
      if (falls_back && !lacking)
        for (const numeric type : own)
          if (!asked.contains(type)) look(type);
      if (lacking)
        out.names.insert(layer);
      else if (!timed)
        out.failed.emplace(layer, why);
    }
  }
  for (const std::string& name : out.names)
    out.failed.erase(name);
  return out;
}

} // namespace benanza::result::store
