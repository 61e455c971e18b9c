// SPDX-License-Identifier: Apache-2.0
// When do queries arrive, and what would they wait in a queue? Arrivals of a Poisson process, given
// how many there are: the load that was asked for is the load that comes. A queue of one server
// says what their latencies have to be, so that measured ones can be held against it; and which
// load keeps a limit of them, for which a run would have to last for minutes at every load that is
// tried.
//
//   auto at = arrivals(20, 5, 1);                       // 100 of them, in ns, ascending
//   auto ns = queued(at, std::vector(100, 4e7));        // each waits for those before it
//   offered_load l = highest_load({4e7, 4.1e7}, 1e8, 99, 1);   // l.per_s within its range
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace benanza::measure {

/// `rate` times `seconds` arrivals within `seconds`, at least one, in ns from the beginning. Given
/// how many, Poisson arrivals are independent and uniform. The same on every machine.
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

/// Queries a second, and what they are with other chances of the arrivals.
struct offered_load {
  double per_s = 0, lowest_per_s = 0, highest_per_s = 0;
};

/// The highest load at which that percentile of the latencies keeps the limit, where each execution
/// takes one of the times in `service_ns`: queries come by chance, and so many that some hundreds
/// are beyond the percentile; the median of several such queues, and their range.
inline offered_load highest_load(const std::vector<double>& service_ns, double limit_ns,
                                 double percentile, std::uint64_t seed) {
  constexpr int queues = 9, halvings = 24;
  const auto count = static_cast<std::size_t>(std::clamp(5e4 / (100 - percentile), 2e4, 5e5));
  const auto place = static_cast<std::ptrdiff_t>(percentile / 100 * static_cast<double>(count - 1));
  double sum_ns = 0;
  for (const double ns : service_ns)
    sum_ns += ns;
  const double most = static_cast<double>(service_ns.size()) / sum_ns; // executions in a ns
  std::vector<double> found, gaps(count), service(count), at(count);
  for (int q = 0; q < queues; ++q) {
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(q));
    const auto chance = [&random] { return static_cast<double>(random() >> 11) * 0x1p-53; };
    for (std::size_t i = 0; i < count; ++i) {
      gaps[i] = -std::log1p(-chance());
      service[i] =
          service_ns[static_cast<std::size_t>(chance() * static_cast<double>(service_ns.size()))];
    }
    double low = 0, high = most;
    for (int i = 0; i < halvings; ++i) {
      const double rate = (low + high) / 2;
      double now = 0;
      for (std::size_t k = 0; k < count; ++k)
        at[k] = now += gaps[k] / rate;
      std::vector<double> in = queued(at, service);
      std::nth_element(in.begin(), in.begin() + place, in.end());
      (in[static_cast<std::size_t>(place)] <= limit_ns ? low : high) = rate;
    }
    found.push_back(1e9 * low);
  }
  std::sort(found.begin(), found.end());
  return {found[queues / 2], found.front(), found.back()};
}

} // namespace benanza::measure
