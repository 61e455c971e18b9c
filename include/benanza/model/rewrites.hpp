// SPDX-License-Identifier: Apache-2.0
// How are rewrites written in a generated table? A line each, its words apart by ';': the rule,
// operations and bytes that it saves, and the nodes that compute less.
//
//   write_rewrites({{"strides moved back", {17, 20}, 512, 64}})  // "strides moved back;512;64;17
//   20\n"
#pragma once

#include "operands.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::model {

inline std::string write_rewrites(const std::vector<rewrite>& all) {
  std::string out;
  for (const rewrite& r : all) {
    std::vector<operand> nodes;
    for (const int n : r.nodes)
      nodes.push_back({n});
    out += r.rule + ';' + std::to_string(r.flops) + ';' + std::to_string(r.bytes) + ';' +
           write_operands(nodes) + '\n';
  }
  return out;
}

/// The rewrites that such lines say; nothing if one is none.
inline std::optional<std::vector<rewrite>> read_rewrites(std::string_view text) {
  std::vector<rewrite> out;
  for (const std::string_view line : items(text, "\n")) {
    const std::vector<std::string_view> words = split_at(line, ";");
    if (words.size() != 4) return std::nullopt;
    rewrite r{.rule = std::string(words[0])};
    const auto number = [](std::string_view word, std::int64_t& n) {
      const auto [end, bad] = std::from_chars(word.data(), word.data() + word.size(), n);
      return bad == std::errc{} && end == word.data() + word.size();
    };
    const auto nodes = read_operands(words[3], std::numeric_limits<int>::max());
    if (!number(words[1], r.flops) || r.flops < 0 || !number(words[2], r.bytes) || !nodes)
      return std::nullopt;
    r.nodes = inputs_of(*nodes);
    out.push_back(std::move(r));
  }
  return out;
}

/// "saves 0.757 of 7.76 GFLOP and 37.2 MB"; without `all`, not of how many.
inline std::string savings_text(const rewrite& r, std::int64_t all = 0) {
  const auto giga = [](std::int64_t n) {
    return fmt::format("{:.3g}", 1e-9 * static_cast<double>(n));
  };
  const double megabytes = 1e-6 * static_cast<double>(r.bytes);
  return fmt::format("saves {}{} GFLOP{}", giga(r.flops), all > 0 ? " of " + giga(all) : "",
                     megabytes < 0 ? fmt::format(", moves {:.3g} MB more", -megabytes)
                                   : fmt::format(" and {:.3g} MB", megabytes));
}

} // namespace benanza::model
