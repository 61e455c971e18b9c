// SPDX-License-Identifier: Apache-2.0
// When do queries arrive, and what would they wait in a queue? Arrivals of a Poisson process, given
// how many there are: the load that was asked for is the load that comes. A queue of one server
// says what their latencies have to be, so that measured ones can be held against it.
//
//   auto at = arrivals(20, 5, 1);                       // 100 of them, in ns, ascending
//   auto ns = queued(at, std::vector(100, 4e7));        // each waits for those before it
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace benanza::measure {

/// `rate` times `seconds` arrivals within `seconds`, at least one, in ns from the beginning. Of a
/// Poisson process so many arrivals lie anywhere, each alike. The same on every machine.
inline std::vector<double> arrivals(double rate, double seconds, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto count = static_cast<std::size_t>(std::max(1.0, std::round(rate * seconds)));
  std::vector<double> out(count);
  for (double& ns : out) // 53 bits: a distribution of the library's may differ between libraries
    ns = static_cast<double>(random() >> 11) * 0x1p-53 * seconds * 1e9;
  std::sort(out.begin(), out.end());
  return out;
}

/// How long each query is in a queue of one server, from its arrival to its end: it begins when it
/// has arrived and the one before it has ended.
inline std::vector<double> queued(const std::vector<double>& arrived_ns,
                                  const std::vector<double>& service_ns) {
  std::vector<double> out;
  double free_ns = 0;
  for (std::size_t i = 0; i < std::min(arrived_ns.size(), service_ns.size()); ++i) {
    free_ns = std::max(free_ns, arrived_ns[i]) + service_ns[i];
    out.push_back(free_ns - arrived_ns[i]);
  }
  return out;
}

} // namespace benanza::measure
