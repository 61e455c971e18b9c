// SPDX-License-Identifier: Apache-2.0
// Where did the time of a whole model's run go? Its parts are each node that ran, by its
// algorithm and its name, and all changes of layout together.
//
//   part_name("onednn", "jit:avx512_core", "conv1")   // "onednn/jit:avx512_core conv1"
#pragma once

#include <string>
#include <string_view>

namespace benanza::result {

/// How a plan ran, as the algorithm of its case: its steps one after the other, or those side by
/// side on a device that do not wait for each other.
inline constexpr std::string_view in_order = "plan", side_by_side = "streams";

/// How a chain was chosen whose layers were not measured, as the algorithm of its case: each layer
/// by what a library takes first, or by what was named.
inline constexpr std::string_view by_first_choice = "first", by_named_choice = "named";

/// The same in one order with the events of levels taken: of none of its parts, of each layer, and
/// also of each call of a library within one (measure/levels/level_run.hpp).
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
  return std::string(reorders_part) + " before " + std::string(node);
}
inline bool is_reorder(std::string_view part) {
  return part == reorders_part || part.starts_with(std::string(reorders_part) + " before ");
}

/// The part that a node is.
inline std::string part_name(std::string_view backend, std::string_view algorithm,
                             std::string_view node) {
  return std::string(backend) + '/' + std::string(algorithm) + ' ' + std::string(node);
}

} // namespace benanza::result
