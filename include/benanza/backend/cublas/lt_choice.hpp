// SPDX-License-Identifier: Apache-2.0
// What is an algorithm to cublasLt? A number with a value for each of its settings: tile, stages,
// parts of k, and so on. Its id says them all, and the same algorithm is made again from it; ids
// mean nothing to another version of the library.
//
//   lt_choice c = *parse_lt("lt:algo21_tile20_stages8_splitk1_red0_swz0_cust0_inner0_cluster0");
//   c[lt_setting::tile] == 20;   id_of(c) is that text again
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::backend::cublas {

/// What an algorithm of cublasLt is made of, in the order of its id.
enum class lt_setting : std::uint8_t {
  algo,
  tile,
  stages,
  splitk,
  reduction,
  swizzle,
  custom,
  inner,
  cluster
};
inline constexpr std::array<std::string_view, 9> lt_setting_names{
    "algo", "tile", "stages", "splitk", "red", "swz", "cust", "inner", "cluster"};

/// What stands before the ids of cublasLt's algorithms.
inline constexpr std::string_view lt_prefix = "lt:";

/// An algorithm with its settings.
struct lt_choice {
  std::array<std::int64_t, lt_setting_names.size()> values{};

  std::int64_t operator[](lt_setting s) const { return values[static_cast<std::size_t>(s)]; }
  std::int64_t& operator[](lt_setting s) { return values[static_cast<std::size_t>(s)]; }
  bool operator==(const lt_choice&) const = default;
};

/// The id of a choice.
inline std::string id_of(const lt_choice& c) {
  std::string text(lt_prefix);
  for (std::size_t i = 0; i < c.values.size(); ++i)
    text.append(i == 0 ? "" : "_").append(lt_setting_names[i]).append(std::to_string(c.values[i]));
  return text;
}

/// The choice of an id; nothing where the text is none.
inline std::optional<lt_choice> parse_lt(std::string_view text) {
  lt_choice c;
  std::string_view rest = text;
  if (!rest.starts_with(lt_prefix)) return std::nullopt;
  rest.remove_prefix(lt_prefix.size());
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    if (i > 0) {
      if (!rest.starts_with('_')) return std::nullopt;
      rest.remove_prefix(1);
    }
    if (!rest.starts_with(lt_setting_names[i])) return std::nullopt;
    rest.remove_prefix(lt_setting_names[i].size());
    const auto [end, bad] = std::from_chars(rest.data(), rest.data() + rest.size(), c.values[i]);
    if (bad != std::errc{}) return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
  // Only one text names an algorithm: no signs, no zeros in front, nothing behind.
  if (id_of(c) != text) return std::nullopt;
  for (const std::int64_t v : c.values)
    if (v < 0) return std::nullopt;
  return c;
}

} // namespace benanza::backend::cublas
