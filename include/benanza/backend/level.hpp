// SPDX-License-Identifier: Apache-2.0
// How does one program have the best of our kernels on any processor? They are compiled for several
// levels of processors, each into a module, and the highest that this processor has is opened.
// BENANZA_LEVEL names a lower one.
//
//   const kernel_level levels[] = {{"x86-64-v2", "/folder/benanza_host-x86-64-v2.so", runs}, ...};
//   chosen_level(levels, "").name   // "x86-64-v4"
#pragma once

#include "../core/error.hpp"

#include <cstdlib>
#include <span>
#include <string>

namespace benanza::backend {

inline constexpr const char* level_variable = "BENANZA_LEVEL";

/// A module of kernels.
struct kernel_level {
  std::string name;
  std::string built; ///< its file, where it was built
  bool (*runs)();    ///< has this processor the instructions?
};

/// The level to open: the highest that runs here of `levels`, which rise, or the one that is named.
inline const kernel_level& chosen_level(std::span<const kernel_level> levels,
                                        const std::string& named) {
  std::string have;
  const kernel_level* best = nullptr;
  for (const kernel_level& l : levels)
    if (l.runs() && (named.empty() || named == l.name)) best = &l;
  if (best != nullptr) return *best;
  for (const kernel_level& l : levels)
    if (l.runs()) have += (have.empty() ? "" : ", ") + l.name;
  if (!named.empty() && !have.empty())
    throw error("there are no kernels of this level for this processor; there are " + have,
                std::string(level_variable) + "=" + named);
  throw error("this processor has fewer instructions than " + levels.front().name +
                  ", for which our kernels were compiled",
              "the backend host", "build the programs on this machine");
}

inline const kernel_level& chosen_level(std::span<const kernel_level> levels) {
  const char* named = std::getenv(level_variable);
  return chosen_level(levels, named != nullptr ? named : "");
}

} // namespace benanza::backend
