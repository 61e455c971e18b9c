// SPDX-License-Identifier: Apache-2.0
// Is this text what was written? FNV-1a in 64 bits, as 16 hexadecimal digits: it detects a line cut
// off by a crash, or a file that was edited. No protection against malice.
//
//   fnv1a("") == "cbf29ce484222325"
#pragma once

#include "language.hpp"

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace benanza {

/// The checksum of `text`.
inline std::string fnv1a(std::string_view text) {
  std::uint64_t h = 14695981039346656037u;
  for (char c : text)
    h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(h));
  return digits;
}

} // namespace benanza
