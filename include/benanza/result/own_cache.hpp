// SPDX-License-Identifier: Apache-2.0
// How long does what a network leaves in the last cache stay there? Until the network itself, or
// others on the same host, have read so much that it is gone; both are tried when layers are
// measured. Where there are no others, reading counts and time does not; where there are many, it
// is the other way round: weights of a model that takes 4 ms are still there when it runs again, of
// one that takes 40 they are not, however few they are.
//
//   own_cache c{.bytes = 32e6, .ns = 11e6};   c.gone(20e6, 6e6)   // a share of 1
#pragma once

#include "statistics.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace benanza::result {

/// The facts of a run's `measuring` section that hold `own_cache::bytes` and `own_cache::ns`.
inline constexpr const char *own_cache_bytes_fact = "last_cache_own_bytes",
                            *own_cache_ns_fact = "last_cache_own_ns";

/// A share that does not matter.
inline constexpr double hardly_any = 0.1;

/// Those who share a last cache take so many times as much away, or as little, from one quarter of
/// an hour to the next: seen on servers with one load or another.
inline constexpr double others_change = 2;

/// When half of what was in the last cache is gone: after reading so much in no time, after so much
/// time without reading; 0: never by that alone.
struct own_cache {
  double bytes = 0, ns = 0;

  /// False where there is none, or nothing is known of it.
  bool known() const { return bytes > 0 || ns > 0; }

  /// The share that is gone after `passed_ns` in which `read_bytes` were read; all where nothing is
  /// known. Where the rest does not matter, none or all.
  double gone(double read_bytes, double passed_ns) const {
    if (!known()) return 1;
    const double used = (bytes > 0 ? read_bytes / bytes : 0) + (ns > 0 ? passed_ns / ns : 0);
    const double share = used > 0 ? 1 / (1 + std::pow(used, -steepness)) : 0;
    return share < hardly_any ? 0 : share > 1 - hardly_any ? 1 : share;
  }

  /// The same if others take so many times as much away.
  own_cache beside(double times_others) const { return {.bytes = bytes, .ns = ns / times_others}; }

  /// Bytes that have to be read, so many a ns, until all is gone; 0: nothing is known.
  double bytes_until_gone(double bytes_per_ns) const {
    const double used = (bytes > 0 ? 1 / bytes : 0) + (ns > 0 ? 1 / (ns * bytes_per_ns) : 0);
    return used > 0 ? std::pow(1 / hardly_any - 1, 1 / steepness) / used : 0;
  }

private:
  /// As measured once a cache had settled: seven tenths of it take hardly a tenth, and 1.4 times as
  /// much leaves hardly one.
  static constexpr double steepness = 7;
};

/// Of bytes or ns as several looks found them: others come and go, so the median of what one uses
/// up counts.
inline double typical(std::vector<double> found) {
  for (double& v : found)
    v = v > 0 ? 1 / v : 0;
  const double used = median(std::move(found));
  return used > 0 ? 1 / used : 0;
}

} // namespace benanza::result
