// SPDX-License-Identifier: Apache-2.0
// Which graphs among some are models, and in which form is each to be looked at? A graph of another
// name may be another form of one, fused or rewritten, and a sequence is no model. Of several fused
// forms the first is taken; where nothing is fused, the model itself.
//
//   for (const graph* g : one_form_each(graphs, form::fused)) ...
#pragma once

#include "sequence.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace benanza::model {

enum class form { unfused, fused };

/// Each model among `graphs` once, in their order.
inline std::vector<const graph*> one_form_each(std::span<const graph> graphs, form wanted) {
  std::map<std::string, const graph*> fused; // by the name of what it is the form of
  if (wanted == form::fused)
    for (const graph& g : graphs)
      if (!g.unfused.empty()) fused.emplace(g.unfused, &g);
  std::vector<const graph*> out;
  for (const graph& g : graphs) {
    if (is_sequence(g) || is_form(g)) continue;
    const auto its = fused.find(g.name);
    out.push_back(its == fused.end() ? &g : its->second);
  }
  return out;
}

} // namespace benanza::model
