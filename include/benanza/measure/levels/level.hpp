// SPDX-License-Identifier: Apache-2.0
// How deep may events be taken of a whole model's run? Each level has a word on the command line,
// and the algorithm of its case.
//
//   parse_level("layer") == level::layer   level_of("level-layer") == level::layer
#pragma once

#include "../../result/parts.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace benanza::measure {

/// How deep events are taken; each with those before it.
enum class level { none, model, layer, call };

struct named_level {
  measure::level what;
  std::string_view word; ///< on the command line
  std::string_view algorithm;
};
inline constexpr std::array<named_level, 3> named_levels{{
    {level::model, "model", result::model_level},
    {level::layer, "layer", result::layer_level},
    {level::call, "call", result::call_level},
}};

/// The level of a case's algorithm; none: it is no level's.
inline level level_of(std::string_view algorithm) {
  for (const named_level& l : named_levels)
    if (l.algorithm == algorithm) return l.what;
  return level::none;
}

inline std::optional<level> parse_level(std::string_view word) {
  for (const named_level& l : named_levels)
    if (l.word == word) return l.what;
  return std::nullopt;
}

} // namespace benanza::measure
