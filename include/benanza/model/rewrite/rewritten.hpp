// SPDX-License-Identifier: Apache-2.0
// What did rewriting change? The names of the nodes that the rules add, and what each rule saved.
//
//   rewritten_from("/up/Conv/front")  // "/up/Conv"
#pragma once

#include "../graph.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace benanza::model {

/// What is behind the name of a node in the names of those that take its place: of a convolution
/// after an upsampling; of the Gathers of fewer rows; and of a convolution's first and last
/// channels, of the Resize between, and of their sum.
inline constexpr std::string_view upsampled_mark = "/upsampled", taken_mark = "/taken",
                                  front_mark = "/front", back_mark = "/back",
                                  widened_mark = "/widened", sum_mark = "/sum";

/// The name of the node of the model's own graph that a rewritten node computes, or a part of it.
inline std::string_view rewritten_from(std::string_view name) {
  for (const std::string_view mark : {upsampled_mark, front_mark, back_mark})
    if (name.ends_with(mark)) name.remove_suffix(mark.size());
  return name;
}

/// What the rewrites of one rule are together: at how many nodes, and what they save.
inline std::vector<rewrite> by_rule(const std::vector<rewrite>& all) {
  std::vector<rewrite> out;
  for (const rewrite& r : all) {
    auto same =
        std::find_if(out.begin(), out.end(), [&r](const rewrite& o) { return o.rule == r.rule; });
    if (same == out.end()) {
      out.push_back(r);
      continue;
    }
    same->nodes.insert(same->nodes.end(), r.nodes.begin(), r.nodes.end());
    same->flops += r.flops;
    same->bytes += r.bytes;
  }
  for (rewrite& r : out) {
    std::sort(r.nodes.begin(), r.nodes.end());
    r.nodes.erase(std::unique(r.nodes.begin(), r.nodes.end()), r.nodes.end());
  }
  return out;
}

} // namespace benanza::model
