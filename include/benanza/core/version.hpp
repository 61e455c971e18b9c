// SPDX-License-Identifier: Apache-2.0
// Which version of Benanza is this? The one place that says it: CMake reads it here, and so do
// users of the headers alone. Raised too when times mean something else than before, as of what a
// cache state leaves: a store keeps the results of two versions apart.
//
//   #if BENANZA_VERSION_MAJOR == 0 && BENANZA_VERSION_MINOR < 3
//   std::puts(benanza::version_text("benanza_analyze", {{"fmt", "9.1.0"}}).c_str());
#pragma once

#include "language.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#define BENANZA_VERSION_MAJOR 0
#define BENANZA_VERSION_MINOR 3
#define BENANZA_VERSION_PATCH 0

#define BENANZA_TEXT_OF_(x) #x
#define BENANZA_TEXT_OF(x) BENANZA_TEXT_OF_(x)
/// "0.3.0"
#define BENANZA_VERSION                                                                            \
  BENANZA_TEXT_OF(BENANZA_VERSION_MAJOR)                                                           \
  "." BENANZA_TEXT_OF(BENANZA_VERSION_MINOR) "." BENANZA_TEXT_OF(BENANZA_VERSION_PATCH)

namespace benanza {

/// The git revision, in a program that was built with cmake/benanza_revision.cmake; null in others.
[[gnu::weak]] const char* built_revision();

/// The git revision that this program was built from, or "unknown".
inline std::string_view revision() {
  return built_revision != nullptr ? built_revision() : "unknown";
}

/// The compiler of the program that includes this: "gcc 12.2.0".
inline constexpr const char* compiler =
#ifdef __clang__
    "clang " __clang_version__;
#else
    "gcc " __VERSION__;
#endif

/// A library and its version.
using named_version = std::pair<std::string, std::string>;

/// A version that a library gives as one number, major * 1000^2 + minor * 1000 + patch (`step`
/// 1000): 3021012 is "3.21.12".
inline std::string version_of_number(long number, long step) {
  return std::to_string(number / (step * step)) + "." + std::to_string(number / step % step) + "." +
         std::to_string(number % step);
}

/// What a program prints for --version: a line for itself, then one for its revision, its compiler
/// and each library that it has.
template <class Libraries = std::initializer_list<named_version>>
std::string version_text(std::string_view program, const Libraries& libraries) {
  std::string out = std::string(program) + " " BENANZA_VERSION "\n";
  const auto line = [&out](std::string name, std::string_view value) {
    constexpr std::size_t column = 18;
    name.resize(std::max(name.size() + 1, column), ' ');
    out.append(name).append(value) += '\n';
  };
  line("revision", revision());
  line("compiler", compiler);
  for (const auto& [name, version] : libraries)
    line(name, version);
  return out;
}

} // namespace benanza
