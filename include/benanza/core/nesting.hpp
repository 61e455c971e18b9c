// SPDX-License-Identifier: Apache-2.0
// How deep is a JSON text nested? Libraries read and write it by recursion, one frame a level, and
// a file of brackets alone would use up the stack: it is refused before they see it. Cheap: one
// pass over the bytes, and no memory.
//
//   nesting("[[1], {\"a\": \"[\"}]") == 2;   refuse_nested(text, "run.json");
#pragma once

#include "error.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace benanza {

/// Levels of arrays and objects that any JSON of ours or of a library may have; ours have 8.
inline constexpr std::size_t deepest_json = 64;

/// Levels of arrays and objects of a JSON text. What is no JSON has some number too.
inline std::size_t nesting(std::string_view json) {
  std::size_t now = 0, most = 0;
  bool text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (text) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        text = false;
    } else if (c == '"') {
      text = true;
    } else if (c == '[' || c == '{') {
      most = std::max(most, ++now);
    } else if ((c == ']' || c == '}') && now > 0) {
      --now;
    }
  }
  return most;
}

/// The refusal of JSON that is nested deeper than any of ours.
inline error too_nested(std::string_view where) {
  return error("the JSON is nested deeper than " + std::to_string(deepest_json) + " levels", where,
               "give a file that a program of Benanza wrote");
}
inline void refuse_nested(std::string_view json, std::string_view where) {
  if (nesting(json) > deepest_json) throw too_nested(where);
}

} // namespace benanza
