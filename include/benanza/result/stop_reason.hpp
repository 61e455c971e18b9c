// SPDX-License-Identifier: Apache-2.0
// Why did the sampling of a case end? One of a short closed list of texts; the one of a case that
// was stopped because it could not win goes on with how far it was behind.
//
//   m.stop_reason = raced_out(1.6);   // "raced out: 1.6 times the best"
//   was_raced_out(m.stop_reason)      // its few samples must not win by luck
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace benanza::result {

inline constexpr std::string_view minimum_settled = "minimum settled";
inline constexpr std::string_view median_settled = "median settled";
inline constexpr std::string_view small_spread = "spread under 1 %";
inline constexpr std::string_view time_limit = "time limit";
inline constexpr std::string_view fewest_samples = "fewest samples: one execution takes long";
inline constexpr std::string_view disturbed_too_long = "disturbed too long";
inline constexpr std::string_view stopped = "interrupted";

/// The reason of a case that cannot win: `ratio` times as slow as the best of its rivals.
inline std::string raced_out(double ratio) {
  char text[64];
  std::snprintf(text, sizeof text,
                ratio < 10 ? "raced out: %.2g times the best" : "raced out: %.0f times the best",
                ratio);
  return text;
}

/// True if the case was stopped early because it could not win.
constexpr bool was_raced_out(std::string_view stop_reason) {
  return stop_reason.starts_with("raced out");
}

} // namespace benanza::result
