// SPDX-License-Identifier: Apache-2.0
// How does untrusted text reach a terminal? Without anything that could steer one: control
// characters (C0, DEL, C1), marks that turn the direction of writing, separators of lines and bytes
// that are no UTF-8 become '?'. And cut to a length that a person still reads.
//
//   printable("\x1b[31mred\n") == "?[31mred?";   printable(name, 40)   // at most 40 bytes
#pragma once

#include "language.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace benanza {

/// Bytes of a name or a reason that are shown at most.
inline constexpr std::size_t longest_shown = 1000;

namespace detail {
/// How many bytes the character at the front has; 0 if it is no UTF-8. Overlong forms and halves
/// of UTF-16 pairs are none.
inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t n = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < n) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const unsigned second = byte(1);
  const bool valid = !(first == 0xe0 && second < 0xa0) && !(first == 0xed && second > 0x9f) &&
                     !(first == 0xf0 && second < 0x90) && !(first == 0xf4 && second > 0x8f);
  return valid ? n : 0;
}

/// May this character, which is valid UTF-8, be shown?
inline bool harmless(std::string_view c) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(c[i]); };
  if (c.size() == 1) return byte(0) >= 0x20 && byte(0) != 0x7f;
  if (c.size() == 2) {
    if (byte(0) == 0xc2) return byte(1) >= 0xa0; // C1: U+0080 to U+009F
    return c != "\u061c";                        // Arabic letter mark
  }
  if (c.size() != 3) return byte(0) != 0xf3 || byte(1) != 0xa0;  // tags: U+E0000 to U+EFFFF
  if (byte(0) == 0xef && byte(1) == 0xbf) return byte(2) < 0xbe; // no characters: U+FFFE, U+FFFF
  if (byte(0) != 0xe2) return c != "\ufeff";
  if (byte(1) == 0x80) // U+200B to U+200F, U+2028 to U+202E
    return !(byte(2) >= 0x8b && byte(2) <= 0x8f) && !(byte(2) >= 0xa8 && byte(2) <= 0xae);
  return byte(1) != 0x81 || byte(2) < 0xa0; // U+2060 to U+206F
}
} // namespace detail

/// `text` with everything replaced that could steer a terminal, in at most `most` bytes; what is
/// cut ends in "...".
inline std::string printable(std::string_view text, std::size_t most = longest_shown) {
  constexpr std::string_view more = "...";
  std::string out;
  std::size_t end = 0; // of what stays if it has to be cut
  while (!text.empty()) {
    const std::size_t n = detail::utf8_length(text);
    const std::string_view c = text.substr(0, n == 0 ? 1 : n);
    const std::string_view shown = n != 0 && detail::harmless(c) ? c : "?";
    if (out.size() + shown.size() > most) {
      out.resize(end);
      return out.append(more.substr(0, most));
    }
    out += shown;
    if (out.size() + more.size() <= most) end = out.size();
    text.remove_prefix(c.size());
  }
  return out;
}

} // namespace benanza
