// SPDX-License-Identifier: Apache-2.0
// How long did it take? Since a stopwatch was made, on the clock that never goes back.
//
//   const stopwatch watch;   work();   watch.ns()   // 1250.0
#pragma once

#include <chrono>

namespace benanza {

/// Runs from when it is made.
class stopwatch {
public:
  using clock = std::chrono::steady_clock;

  double ns() const {
    return std::chrono::duration<double, std::nano>(clock::now() - start_).count();
  }
  double seconds() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

private:
  clock::time_point start_ = clock::now();
};

} // namespace benanza
