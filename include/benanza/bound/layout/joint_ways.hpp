// SPDX-License-Identifier: Apache-2.0
// How fast are some nodes together, as seen from outside? For every choice of the layouts in which
// they read and write what others pass, the fastest ways of the nodes, with the changes of layout
// between them.
//
//   for (const joint_way& j : together(problem, reads, {4, 5, 6})) ...   // j.seen.ns, j.ways
#pragma once

#include "problem.hpp"

#include <range/v3/action/sort.hpp>
#include <range/v3/action/unique.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace benanza::bound {

/// Ways of some nodes, and what they are together.
struct joint_way {
  way seen;
  std::vector<int> ways; ///< one a node
};

/// The fastest ways of `parts`, ascending nodes of `p` of which only the last is read outside, for
/// each choice of layouts that shows outside. `reads` are the tensors that each node reads.
inline std::vector<joint_way> together(const layout_problem& p,
                                       const std::vector<std::vector<int>>& reads,
                                       const std::vector<int>& parts) {
  using detail::at;
  const auto part_of = [&](int tensor) { // the part that makes it; -1: it comes from outside
    const auto found = std::find(parts.begin(), parts.end(), p.tensors[at(tensor)].maker);
    return found == parts.end() ? -1 : static_cast<int>(found - parts.begin());
  };
  // Of each tensor between parts the part that makes it, and the last that reads it.
  std::map<int, std::pair<int, std::size_t>> inside;
  for (std::size_t k = 0; k < parts.size(); ++k)
    for (int t : reads[at(parts[k])])
      if (const int made = part_of(t); made >= 0) inside[t] = {made, k};

  // Of partial choices that look the same to the parts that are left only the fastest is kept.
  using outside = std::vector<int>;
  std::map<outside, joint_way> known;
  known.emplace();
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const std::vector<way>& ways = p.nodes[at(parts[k])];
    std::map<outside, joint_way> next;
    for (const auto& [before, state] : known)
      for (std::size_t w = 0; w < ways.size(); ++w) {
        joint_way grown = state;
        grown.ways.push_back(static_cast<int>(w));
        grown.seen.ns += ways[w].ns;
        grown.seen.gives = ways[w].gives;
        std::vector<laid_tensor>& wants = grown.seen.wants;
        wants.insert(wants.end(), ways[w].wants.begin(), ways[w].wants.end());
        wants |= ranges::actions::sort | ranges::actions::unique;
        const auto made_as = [&](int part) {
          return p.nodes[at(parts[at(part)])][at(grown.ways[at(part)])].gives;
        };
        std::erase_if(wants, [&](const laid_tensor& t) { // settled by its last reader
          const auto i = inside.find(t.tensor);
          if (i == inside.end() || i->second.second != k) return false;
          grown.seen.ns +=
              p.tensors[at(t.tensor)].change_ns[static_cast<std::size_t>(made_as(i->second.first))]
                                               [static_cast<std::size_t>(t.as)];
          return true;
        });
        if (!std::isfinite(grown.seen.ns)) continue;
        outside seen{static_cast<int>(grown.seen.gives)};
        for (const auto& [tensor, span] : inside)
          if (span.first <= static_cast<int>(k) && span.second > k)
            seen.push_back(static_cast<int>(made_as(span.first)));
        for (const laid_tensor& t : wants)
          seen.push_back(4 * t.tensor + static_cast<int>(t.as));
        const auto [found, fresh] = next.try_emplace(std::move(seen), grown);
        if (!fresh && grown.seen.ns < found->second.seen.ns) found->second = std::move(grown);
      }
    known = std::move(next);
  }
  std::vector<joint_way> out;
  for (auto& [seen, state] : known)
    out.push_back(std::move(state));
  return out;
}

} // namespace benanza::bound
