// SPDX-License-Identifier: Apache-2.0
// How are the cases told apart that load a model's weights? Family `model`, backend `load`, and the
// way as their algorithm: read, mmap, pack, setup, touch, populate, on a GPU pageable, pinned and
// pin, and attach with the number of shared objects.
//
//   load_way w = parse_load_way("attach:16");   w.name == "attach", w.objects == 16
#pragma once

#include "schema.hpp"

#include <charconv>
#include <string>
#include <string_view>

namespace benanza::result {

inline constexpr std::string_view load_backend = "load";

/// True for a case that loads a model, and does not run it.
inline bool of_a_load(const measurement& m) {
  return m.family == "model" && m.backend == load_backend;
}

/// A way to load.
struct load_way {
  std::string name{};
  int objects = 1; ///< shared ones that hold the weights

  std::string text() const {
    return name == "attach" ? name + ':' + std::to_string(objects) : name;
  }
};

/// The parts of a way's name; without a number it is of one object.
inline load_way parse_load_way(std::string_view text) {
  load_way out{std::string(text), 1};
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return out;
  int objects = 0;
  const char* last = text.data() + text.size();
  const auto [end, bad] = std::from_chars(text.data() + colon + 1, last, objects);
  if (bad == std::errc{} && end == last && objects > 0)
    out = {std::string(text.substr(0, colon)), objects};
  return out;
}

} // namespace benanza::result
