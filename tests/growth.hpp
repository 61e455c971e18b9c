// SPDX-License-Identifier: Apache-2.0
// How does the time of some work grow with its size? Of four times as much in time of the
// processor: about 4 where it is in proportion, about 16 where it grows by the square.
#pragma once

#include <algorithm>
#include <ctime>
#include <limits>
#include <utility>

namespace benanza::test {

/// Above it time grows faster than size, whatever else the machine does.
inline constexpr double near_proportion = 9;

/// The time of `work(4 * n)` over that of `work(n)`, each the least of some tries. `make(n)` gives
/// the work of a size, and is not timed.
template <class Make>
double growth(int n, const Make& make) {
  const auto least = [&](int size) {
    const auto work = make(size);
    double s = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) {
      const std::clock_t begin = std::clock();
      work();
      s = std::min(s, double(std::clock() - begin));
    }
    return std::max(s, 1.0);
  };
  const double small = least(n);
  return least(4 * n) / small;
}

} // namespace benanza::test
