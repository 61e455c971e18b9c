// SPDX-License-Identifier: Apache-2.0
// How does work that times nothing use the whole machine? By threads of its own and the caller,
// which is bound to a core: threads inherit that, so each first takes back all processors.
//
//   on_all_processors(16, [&] { for (std::size_t i = next++; i < n; i = next++) ...; });
#pragma once

#include "environment.hpp"

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace benanza::machine {

/// Calls `work`, which must not throw, once on each of as many threads as the run has processors,
/// `most` at most; the caller is one of them. Returns when all are done.
template <class Work>
void on_all_processors(std::size_t most, const Work& work) {
  const environment& run = entered();
  std::vector<std::jthread> others;
  while (others.size() + 1 < std::min(most, static_cast<std::size_t>(run.processors)))
    others.emplace_back([&] {
      widen(run);
      work();
    });
  work();
}

} // namespace benanza::machine
