// SPDX-License-Identifier: Apache-2.0
// Which facts of the machine do bounds need, and does the run tell them? Numbers above zero from
// its provenance.
//
//   machine_number(run, "cores").value_or(1)
#pragma once

#include "../result/schema.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace benanza::bound {

/// A fact of a section that is a number, the least of several where runs were put together; nothing
/// if the run does not say or it is none.
inline std::optional<std::int64_t> number_of(const result::run& r, const std::string& section,
                                             const std::string& key) {
  const auto facts = r.provenance.find(section);
  if (facts == r.provenance.end()) return std::nullopt;
  const auto fact = facts->second.find(key);
  if (fact == facts->second.end()) return std::nullopt;
  std::optional<std::int64_t> least;
  const std::string& text = fact->second;
  for (const char *at = text.data(), *const last = at + text.size();; at += 2) {
    std::int64_t value = 0;
    const auto [end, bad] = std::from_chars(at, last, value);
    if (bad != std::errc{} || value < 1) return std::nullopt;
    least = std::min(least.value_or(value), value);
    if (end == last) return least;
    if (!std::string_view(end, last).starts_with("; ")) return std::nullopt;
    at = end;
  }
}

/// The same of the machine.
inline std::optional<std::int64_t> machine_number(const result::run& r, const std::string& key) {
  return number_of(r, "machine", key);
}

} // namespace benanza::bound
