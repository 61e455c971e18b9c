// SPDX-License-Identifier: Apache-2.0
// What is an algorithm to cublasLt? A number with a value for each of its settings: tile, stages,
// parts of k, and so on. Its id says them all, and the same algorithm is made again from it. Where
// they do not suffice, as the 64 bytes of the library hold more than the settings, the id ends in a
// hash of these bytes. Ids mean nothing to another version of the library.
//
//   lt_choice c = *parse_lt("lt:algo21_tile20_stages8_splitk1_red0_swz0_cust0_inner0_cluster0");
//   c[lt_setting::tile] == 20;   id_of(c) is that text again
//   "lt:algo66_..._cluster2-fast-accum-h09ab12cd" has fast_accum and hash "09ab12cd"
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

/// The prefix of the ids of cublasLt's algorithms.
inline constexpr std::string_view lt_prefix = "lt:";
/// Suffixes behind the settings: FP8 is added up in fewer bits; a hash follows.
inline constexpr std::string_view fast_accum_suffix = "-fast-accum", hash_prefix = "-h";
inline constexpr std::size_t hash_digits = 8;

/// An algorithm with its settings.
struct lt_choice {
  std::array<std::int64_t, lt_setting_names.size()> values{};
  bool fast_accum = false; ///< how the product is to be added up; no setting of the algorithm
  std::string hash{};      ///< of the library's bytes; empty: the settings say all

  std::int64_t operator[](lt_setting s) const { return values[static_cast<std::size_t>(s)]; }
  std::int64_t& operator[](lt_setting s) { return values[static_cast<std::size_t>(s)]; }
  bool operator==(const lt_choice&) const = default;
};

/// The id of a choice.
inline std::string id_of(const lt_choice& c) {
  std::string text(lt_prefix);
  for (std::size_t i = 0; i < c.values.size(); ++i)
    text.append(i == 0 ? "" : "_").append(lt_setting_names[i]).append(std::to_string(c.values[i]));
  if (c.fast_accum) text.append(fast_accum_suffix);
  if (!c.hash.empty()) text.append(hash_prefix).append(c.hash);
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
  c.fast_accum = rest.starts_with(fast_accum_suffix);
  if (c.fast_accum) rest.remove_prefix(fast_accum_suffix.size());
  if (rest.starts_with(hash_prefix)) {
    c.hash = rest.substr(hash_prefix.size());
    if (c.hash.size() != hash_digits ||
        c.hash.find_first_not_of("0123456789abcdef") != std::string::npos)
      return std::nullopt;
  }
  // Only one text names an algorithm: no signs, no zeros in front, nothing behind.
  if (id_of(c) != text) return std::nullopt;
  for (const std::int64_t v : c.values)
    if (v < 0) return std::nullopt;
  return c;
}

} // namespace benanza::backend::cublas
