// SPDX-License-Identifier: Apache-2.0
// Where does a tensor end that a kernel is given? A launch says only where it begins. But where
// copies of all operands rotate through a block of memory, none reaches into the next: every place
// in the block is then as far from where it was in an earlier launch of the same kernel, with the
// same numbers, as every other, and further than the first place is from the last.
//
//   rotation r;   r.see({{block, {x, y}}});   r.see({{block, {x + d, y + d}}});
//   r.end_of(block, x) == x + d
#pragma once

#include "last_results.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

namespace fake {

/// Launches of one kernel with the same numbers.
class rotation {
public:
  using places = std::map<std::int64_t, std::vector<std::uintptr_t>>; ///< by their blocks

  void see(const places& now) {
    for (const auto& its : now) {
      const std::vector<std::uintptr_t>& at = its.second; // clang 14 captures no bindings
      const auto before = last_.find(its.first);
      if (before == last_.end() || before->second.size() != at.size()) continue;
      const auto moved = [&](std::size_t i) { return at[i] - before->second[i]; };
      bool together = true;
      for (std::size_t i = 1; i < at.size(); ++i)
        together = together && moved(i) == moved(0);
      const std::uintptr_t apart = std::min(moved(0), std::uintptr_t{0} - moved(0));
      const auto [low, high] = std::minmax_element(at.begin(), at.end());
      if (!together || apart <= *high - *low) continue;
      const auto known = apart_.emplace(its.first, apart).first;
      known->second = std::min(known->second, apart);
    }
    last_ = now;
  }
  bool knows(std::int64_t block) const { return apart_.contains(block); }
  /// Behind all tensors of a launch whose first place in the block is this one.
  std::uintptr_t end_of(std::int64_t block, std::uintptr_t first) const {
    const auto known = apart_.find(block);
    return known == apart_.end() ? std::numeric_limits<std::uintptr_t>::max()
                                 : first + known->second;
  }

  last_results last{};

private:
  places last_{};
  std::map<std::int64_t, std::uintptr_t> apart_{};
};

} // namespace fake
