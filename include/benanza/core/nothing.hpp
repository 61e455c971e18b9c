// SPDX-License-Identifier: Apache-2.0
// What does a std::variant of strings, lists and numbers hold where there is no value?
//
//   using cell = std::variant<nothing, std::string, double>;
#pragma once

namespace benanza {

/// No value. Its copy is not trivial, which matters: libstdc++ takes a variant that has only
/// trivial kinds, strings and lists for one that always holds something, and when there is no
/// memory for a copy of it destroys what was never made.
struct nothing {
  constexpr nothing() = default;
  constexpr nothing(const nothing&) noexcept {}
  constexpr nothing& operator=(const nothing&) noexcept { return *this; }
  bool operator==(const nothing&) const = default;
};

} // namespace benanza
