// SPDX-License-Identifier: Apache-2.0
// Where does a run of a model find the weights of its layers? In a core's own caches, if they all
// fit; or else partly in the last cache, partly in memory. Layers are measured with all of them in
// one of these places; a time between two of them is mixed.
//
//   warmth w{.gone = 0.3};   w.mixed()   w.name() == "llcw+coldw"
#pragma once

#include <string_view>

namespace benanza::bound {

/// How warm weights are in a run of the model; by default: cold.
struct warmth {
  bool hot = false; ///< they never leave a core's own caches
  double gone = 1;  ///< the share that has left the last cache since the last run

  /// Neither as measured in one cache state nor in another.
  bool mixed() const { return !hot && gone > 0 && gone < 1; }
  /// The cache state of the cases that give the time; of two the colder.
  std::string_view state() const { return hot ? "hot" : gone > 0 ? "coldw" : "llcw"; }
  /// The token for reports.
  std::string_view name() const { return mixed() ? "llcw+coldw" : state(); }

  /// That in which cases of a cache state find them.
  static warmth in(std::string_view state) {
    return {.hot = state == "hot", .gone = state == "llcw" ? 0.0 : 1.0};
  }
};

} // namespace benanza::bound
