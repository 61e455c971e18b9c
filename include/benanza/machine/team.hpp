// SPDX-License-Identifier: Apache-2.0
// How many threads has a parallel region, and which of them am I? OpenMP's answers; in a program
// that is built without OpenMP, because all it measures is a GPU, every region has one thread.
//
//   #pragma omp parallel num_threads(2)
//   { const std::int64_t share = n / team_size(), begin = share * team_rank(); ... }
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

namespace benanza::machine {

#ifdef _OPENMP

/// Whether this program can run on more than one thread.
inline constexpr bool has_teams = true;
/// Threads of the region that this is in.
inline int team_size() {
  return omp_get_num_threads();
}
/// Number of the thread that this is.
inline int team_rank() {
  return omp_get_thread_num();
}
/// Lets the threads of earlier regions end: they would spin on processors that others now need.
inline void dismiss_teams() {
  omp_pause_resource_all(omp_pause_soft);
}

#else

inline constexpr bool has_teams = false;
inline int team_size() {
  return 1;
}
inline int team_rank() {
  return 0;
}
inline void dismiss_teams() {}

#endif

} // namespace benanza::machine
