// SPDX-License-Identifier: Apache-2.0
// How are the machine's own cases distinguished? Family `machine`, and a key of a kind, with the
// bytes of the working set or of the message after it where the time depends on them.
//
//   machine_key k = parse_machine_key("copy-32768");   k.kind == "copy", k.bytes == 32768
//   text(machine_key{"launch", 0}) == "launch"
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace benanza::result {

inline constexpr std::string_view machine_family = "machine";

/// Kinds that run arithmetic out of registers or out of a library: what a peak is taken from.
inline constexpr std::array<std::string_view, 3> peak_kinds{"fma", "matmul", "conv"};
/// Kinds that sweep a working set: what a bandwidth is taken from.
inline constexpr std::array<std::string_view, 6> bandwidth_kinds{"read",  "write",       "copy",
                                                                 "triad", "stream_copy", "memcpy"};

/// What a case of the machine measures.
struct machine_key {
  std::string kind{};
  std::int64_t bytes = 0; ///< 0: the kind has none
  bool operator==(const machine_key&) const = default;
};

/// The key as cases write it.
inline std::string text(const machine_key& k) {
  return k.bytes > 0 ? k.kind + '-' + std::to_string(k.bytes) : k.kind;
}

/// The parts of a key; a text without a number at its end is a kind alone.
inline machine_key parse_machine_key(std::string_view key) {
  const std::size_t dash = key.rfind('-');
  if (dash != std::string_view::npos) {
    std::int64_t bytes = 0;
    const char* last = key.data() + key.size();
    const auto [end, bad] = std::from_chars(key.data() + dash + 1, last, bytes);
    if (bad == std::errc{} && end == last && bytes > 0)
      return {std::string(key.substr(0, dash)), bytes};
  }
  return {std::string(key), 0};
}

/// True for the kinds that a peak is taken from.
inline bool of_a_peak(std::string_view kind) {
  return std::find(peak_kinds.begin(), peak_kinds.end(), kind) != peak_kinds.end();
}

/// True for the kinds that a bandwidth is taken from.
inline bool of_a_bandwidth(std::string_view kind) {
  return std::find(bandwidth_kinds.begin(), bandwidth_kinds.end(), kind) != bandwidth_kinds.end();
}

} // namespace benanza::result
