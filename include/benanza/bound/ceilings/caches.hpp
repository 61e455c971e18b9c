// SPDX-License-Identifier: Apache-2.0
// Which cache holds a working set? By the sizes that the machine reports: of so many threads
// together for the private levels. Where it reports none, by the knees of a measured curve: the
// sizes after which the rate falls. Near the edge of a level a working set belongs to none.
//
//   cache_levels c(run, 2);   c.level_of(49152) == 0   // the L1 of both; then L2, L3, memory
#pragma once

#include "../../result/run.hpp"
#include "../facts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::bound {

/// Bytes of the data caches that `threads` threads have together.
class cache_levels {
public:
  /// A level that holds up to `bytes`; the last of them is memory and has no end.
  struct level {
    std::string name;
    double bytes = 0;
  };

  cache_levels(const result::run& r, int threads) {
    static constexpr std::array<std::array<std::string_view, 2>, 3> facts{
        {{"l1d_bytes", "L1"}, {"l2_bytes", "L2"}, {"llc_bytes", "L3"}}};
    for (const auto& [fact, cache] : facts) {
      const std::vector<std::int64_t> bytes = numbers_of(r, "machine", std::string(fact));
      if (bytes.size() != 1 || bytes[0] == 0) continue;
      const double held = static_cast<double>(bytes[0]) * (cache == "L3" ? 1 : threads);
      // A last level that is the second one under another name, or smaller, adds nothing.
      if (levels_.empty() || held > levels_.back().bytes)
        levels_.push_back({std::string(cache), held});
    }
  }

  /// Levels at the knees of a curve.
  explicit cache_levels(const std::vector<double>& knees) {
    for (double bytes : knees)
      levels_.push_back({"knee " + std::to_string(levels_.size() + 1), bytes});
  }

  /// Caches only, the smallest first.
  const std::vector<level>& caches() const { return levels_; }
  /// The name of a level: a cache, or memory behind the last.
  std::string name(std::size_t i) const { return i < levels_.size() ? levels_[i].name : "memory"; }

  /// The level that a working set is clearly in: three quarters of it at most, and twice the level
  /// before at least; nothing near an edge.
  std::optional<std::size_t> level_of(double working_set_bytes) const {
    for (std::size_t i = 0; i <= levels_.size(); ++i) {
      if (i > 0 && working_set_bytes < 2 * levels_[i - 1].bytes) return std::nullopt;
      if (i == levels_.size() || working_set_bytes <= 0.75 * levels_[i].bytes) return i;
      if (working_set_bytes < 2 * levels_[i].bytes) return std::nullopt;
    }
    return std::nullopt;
  }

private:
  std::vector<level> levels_;
};

/// A rate at a working set.
struct rate_at {
  double bytes = 0; ///< working set
  double bytes_per_ns = 0;
};

/// The largest working sets before the rate falls for good by over a fifth; `curve` is in ascending
/// order of working sets. A fall that takes several steps is one knee.
inline std::vector<double> knees(const std::vector<rate_at>& curve) {
  constexpr double fallen = 0.8, still_falling = 0.93;
  std::vector<double> out;
  double plateau = 0;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    plateau = std::max(plateau, curve[i].bytes_per_ns);
    if (i + 1 >= curve.size()) break;
    double ahead = 0;
    for (std::size_t j = i + 1; j < curve.size(); ++j)
      ahead = std::max(ahead, curve[j].bytes_per_ns);
    if (ahead >= fallen * plateau) continue;
    out.push_back(curve[i].bytes);
    while (i + 2 < curve.size() &&
           curve[i + 2].bytes_per_ns < still_falling * curve[i + 1].bytes_per_ns)
      ++i;
    plateau = 0;
  }
  return out;
}

} // namespace benanza::bound
