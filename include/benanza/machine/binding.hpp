// SPDX-License-Identifier: Apache-2.0
// On which processor does a thread run? Binds the calling one, and finds another for its partner.
//
//   const int other = other_processor({0, 1});   bind_to(other)
#pragma once

#include <cstddef>
#include <sched.h>
#include <vector>

namespace benanza::machine {

/// A processor of `allowed` that the caller does not run on; -1: there is none.
inline int other_processor(const std::vector<int>& allowed) {
  const int here = sched_getcpu();
  for (int p : allowed)
    if (p != here) return p;
  return -1;
}

/// Binds the calling thread to a processor; says whether that worked.
inline bool bind_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(processor), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

} // namespace benanza::machine
