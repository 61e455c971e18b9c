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

inline std::string named_level() {
  const char* named = std::getenv(level_variable);
  return named != nullptr ? named : "";
}

inline const kernel_level& chosen_level(std::span<const kernel_level> levels) {
  return chosen_level(levels, named_level());
}

/// Has this program kernels of several levels? What opens them sets it.
inline bool& has_levels() {
  static bool several = false;
  return several;
}

/// Refuses a level that is named where there are none.
inline void require_levels() {
  if (const std::string named = named_level(); !named.empty() && !has_levels())
    throw error("this program's kernels are of one level, the processor's that compiled them",
                std::string(level_variable) + "=" + named,
                "leave it out, or build with -DBENANZA_LEVELS=ALL");
}

} // namespace benanza::backend
