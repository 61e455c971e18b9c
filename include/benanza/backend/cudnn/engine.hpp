// SPDX-License-Identifier: Apache-2.0
// What is an algorithm to cuDNN's graph API? An engine with values for its knobs. Its id says both,
// and the same plan can be made again from it; ids mean nothing to another version of the library.
//
//   engine_choice c = *parse_engine("eng62_k2=4_k13=0");   id_of(c) == "eng62_k2=4_k13=0"
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::backend::cudnn {

/// An engine and the values of its knobs, sorted by the knobs' types.
struct engine_choice {
  std::int64_t engine = 0; ///< its number among all engines of the graph's kind
  std::vector<std::pair<int, std::int64_t>> knobs{};

  bool operator==(const engine_choice&) const = default;
};

/// The id of a choice.
inline std::string id_of(const engine_choice& c) {
  std::string text = "eng" + std::to_string(c.engine);
  for (const auto& [type, value] : c.knobs)
    text += "_k" + std::to_string(type) + '=' + std::to_string(value);
  return text;
}

/// The choice of an id; nothing where the text is none.
inline std::optional<engine_choice> parse_engine(std::string_view text) {
  const auto number = [&text](auto& to) {
    const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), to);
    if (bad != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
  };
  const auto word = [&text](std::string_view w) {
    if (!text.starts_with(w)) return false;
    text.remove_prefix(w.size());
    return true;
  };
  engine_choice c;
  if (!word("eng") || !number(c.engine) || c.engine < 0) return std::nullopt;
  while (!text.empty()) {
    std::pair<int, std::int64_t> knob;
    if (!word("_k") || !number(knob.first) || !word("=") || !number(knob.second))
      return std::nullopt;
    if (knob.first < 0 || (!c.knobs.empty() && c.knobs.back().first >= knob.first))
      return std::nullopt;
    c.knobs.push_back(knob);
  }
  return c;
}

} // namespace benanza::backend::cudnn
