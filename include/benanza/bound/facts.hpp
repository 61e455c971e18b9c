// SPDX-License-Identifier: Apache-2.0
// Which facts of the machine do bounds need, and does the run hold them? Numbers from its
// provenance.
//
//   machine_number(run, "cores").value_or(1)
#pragma once

#include "../result/run.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace benanza::bound {

/// A fact of a section that is a number, or several where runs were put together; none if the run
/// does not say or one is no number.
inline std::vector<std::int64_t> numbers_of(const result::run& r, const std::string& section,
                                            const std::string& key) {
  const auto facts = r.provenance.find(section);
  if (facts == r.provenance.end()) return {};
  const auto fact = facts->second.find(key);
  if (fact == facts->second.end()) return {};
  std::vector<std::int64_t> out;
  const std::string& text = fact->second;
  for (const char *at = text.data(), *const last = at + text.size();; at += 2) {
    std::int64_t& value = out.emplace_back();
    const auto [end, bad] = std::from_chars(at, last, value);
    if (bad != std::errc{} || value < 0) return {};
    if (end == last) return out;
    if (!std::string_view(end, last).starts_with("; ")) return {};
    at = end;
  }
}

/// A fact that is a number above zero, the least of several where runs were put together; nothing
/// if the run does not say or it is none.
inline std::optional<std::int64_t> number_of(const result::run& r, const std::string& section,
                                             const std::string& key) {
  const std::vector<std::int64_t> all = numbers_of(r, section, key);
  const auto least = std::min_element(all.begin(), all.end());
  return least != all.end() && *least > 0 ? std::optional(*least) : std::nullopt;
}

/// The same of the machine.
inline std::optional<std::int64_t> machine_number(const result::run& r, const std::string& key) {
  return number_of(r, "machine", key);
}

} // namespace benanza::bound
