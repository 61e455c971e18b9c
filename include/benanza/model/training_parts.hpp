// SPDX-License-Identifier: Apache-2.0
// Which part of a step of training is a node? The end of its name says it.
//
//   part_of(n) == step_part::by_weights   // "conv2/by-weights"
#pragma once

#include "graph.hpp"

#include <string_view>

namespace benanza::model {

/// The parts of a step, and what is behind the names of their nodes.
enum class step_part { forward, by_source, by_second, by_weights };
inline constexpr std::string_view step_part_suffixes[]{"", "/by-source", "/by-second",
                                                       "/by-weights"};
inline step_part part_of(const node& n) {
  for (int part = 3; part > 0; --part)
    if (std::string_view(n.name).ends_with(step_part_suffixes[part]))
      return static_cast<step_part>(part);
  return step_part::forward;
}

} // namespace benanza::model
