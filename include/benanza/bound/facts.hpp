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

/// A fact of the machine that is a number; nothing if the run does not say or it is none.
inline std::optional<std::int64_t> machine_number(const result::run& r, const std::string& key) {
  const auto machine = r.provenance.find("machine");
  if (machine == r.provenance.end()) return std::nullopt;
  const auto fact = machine->second.find(key);
  if (fact == machine->second.end()) return std::nullopt;
  std::int64_t value = 0;
  const std::string& text = fact->second;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (bad != std::errc{} || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

} // namespace benanza::bound
