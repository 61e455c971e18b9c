// SPDX-License-Identifier: Apache-2.0
// Which facts of the machine do bounds need, and does the run tell them? Numbers above zero from
// its provenance.
//
//   machine_number(run, "cores").value_or(1)
#pragma once

#include "../result/schema.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

namespace benanza::bound {

/// A fact of a section that is a number; nothing if the run does not say or it is none.
inline std::optional<std::int64_t> number_of(const result::run& r, const std::string& section,
                                             const std::string& key) {
  const auto facts = r.provenance.find(section);
  if (facts == r.provenance.end()) return std::nullopt;
  const auto fact = facts->second.find(key);
  if (fact == facts->second.end()) return std::nullopt;
  std::int64_t value = 0;
  const std::string& text = fact->second;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (bad != std::errc{} || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

/// The same of the machine.
inline std::optional<std::int64_t> machine_number(const result::run& r, const std::string& key) {
  return number_of(r, "machine", key);
}

} // namespace benanza::bound
