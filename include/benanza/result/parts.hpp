// SPDX-License-Identifier: Apache-2.0
// Where did the time of a whole model's run go? A measurement of one names its parts, one a line:
// each node that ran, by its algorithm and its name, and all changes of layout together.
//
//   part_name("onednn", "jit:avx512_core", "conv1")   // "onednn/jit:avx512_core conv1"
#pragma once

#include "../core/text.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::result {

/// How a plan ran, as the algorithm of its case: its steps one after the other, or those side by
/// side on a device that do not wait for each other.
inline constexpr std::string_view in_order = "plan", side_by_side = "streams";

/// How a chain was chosen whose layers were not measured, as the algorithm of its case: each layer
/// by what a library takes first, or by what was named.
inline constexpr std::string_view by_first_choice = "first", by_named_choice = "named";

/// The same in one order with the events of levels taken: of none of its parts, of each layer, and
/// also of each call of a library within one (measure/chain/levels.hpp).
inline constexpr std::string_view model_level = "level-model", layer_level = "level-layer",
                                  call_level = "level-call";

/// True for the run of a level.
inline bool of_a_level(std::string_view algorithm) {
  return algorithm == model_level || algorithm == layer_level || algorithm == call_level;
}

/// The part that holds all changes of layout.
inline constexpr std::string_view reorders_part = "reorders";

/// The part that is one change of layout or copy, before the node that wants it.
inline std::string reorder_before(std::string_view node) {
  std::string out = std::string(reorders_part) + " before " + std::string(node);
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}
inline bool is_reorder(std::string_view part) {
  return part == reorders_part || part.starts_with(std::string(reorders_part) + " before ");
}

/// The part that a node is; names of nodes may hold anything.
inline std::string part_name(std::string_view backend, std::string_view algorithm,
                             std::string_view node) {
  std::string out = std::string(backend) + '/' + std::string(algorithm) + ' ' + std::string(node);
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

/// The line of `part_layers` of what is no layer.
inline constexpr std::string_view no_layer_line = "-";

/// How the text of `counted` begins where nothing was.
inline constexpr std::string_view not_counted = "not counted: ";

/// The lines of a measurement's `parts`.
inline std::vector<std::string_view> part_lines(std::string_view parts) {
  return items(parts, "\n");
}

} // namespace benanza::result
