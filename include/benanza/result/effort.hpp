// SPDX-License-Identifier: Apache-2.0
// With how much effort was a run measured? Four efforts, from a first look to half a second for
// every case, each with the seconds that a case is sampled for at most. A run that gives cases less
// time reaches a lower one. Results of a run count where no higher one is asked for.
//
//   effort e = effort_of(run);   reached(effort::thorough, 0.1) == effort::normal
#pragma once

#include "../core/text.hpp"
#include "run.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace benanza::result {

enum class effort { quick, normal, thorough, exhaustive };

inline constexpr std::array<std::pair<std::string_view, effort>, 4> effort_names{
    {{"quick", effort::quick},
     {"normal", effort::normal},
     {"thorough", effort::thorough},
     {"exhaustive", effort::exhaustive}}};

constexpr std::string_view name(effort e) {
  for (const auto& [text, known] : effort_names)
    if (known == e) return text;
  return "?";
}

/// The effort of that name; nothing if there is none.
constexpr std::optional<effort> parse_effort(std::string_view text) {
  for (const auto& [known, e] : effort_names)
    if (known == text) return e;
  return std::nullopt;
}

/// Seconds of sampling that an effort gives to a case, at most.
constexpr double seconds_of(effort e) {
  switch (e) {
  case effort::quick: return 0.03;
  case effort::normal: return 0.1;
  case effort::thorough: return 0.3;
  case effort::exhaustive: return 0.5;
  }
  return 0;
}

/// What an effort comes to if a case gets `seconds` in place of its own: more make it no higher.
constexpr effort reached(effort e, double seconds) {
  while (e != effort::quick && seconds < seconds_of(e))
    e = static_cast<effort>(static_cast<int>(e) - 1);
  return e;
}

/// The effort that a run reached; of several runs in one the lowest, and the usual one where
/// nothing is said.
inline effort effort_of(const run& r) {
  const auto measuring = r.provenance.find("measuring");
  if (measuring == r.provenance.end()) return effort::normal;
  std::optional<effort> least;
  std::optional<double> seconds;
  const auto each_of = [&](const char* fact, auto&& take) {
    const auto found = measuring->second.find(fact);
    if (found == measuring->second.end()) return;
    for (const std::string_view one : items(found->second, "; "))
      take(one);
  };
  each_of("effort", [&](std::string_view text) {
    if (const auto e = parse_effort(text)) least = std::min(least.value_or(*e), *e);
  });
  each_of("min_time_s", [&](std::string_view text) {
    if (const double s = std::strtod(std::string(text).c_str(), nullptr); s > 0)
      seconds = std::min(seconds.value_or(s), s);
  });
  const effort e = least.value_or(effort::normal);
  return reached(e, seconds.value_or(seconds_of(e)));
}

} // namespace benanza::result
