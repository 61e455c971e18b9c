// SPDX-License-Identifier: Apache-2.0
// How often did the framework run its model while it was logged? Behind some calls of a warm-up the
// same calls follow again and again: their period is found, and each iteration's place. What
// algorithms they chose does not matter, since that settles only with time.
//
//   iterations it = find_iterations(log);   it.count == 3;   it.at(2)   // {212, 318}
#pragma once

#include "call.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza::trace {

/// Where the iterations of a log are among its entries.
struct iterations {
  std::size_t first = 0;  ///< entry at which the first whole one begins
  std::size_t length = 0; ///< entries of one
  std::size_t count = 0;  ///< whole ones; 1, and all entries in it, where nothing is repeated
  std::size_t behind = 0; ///< entries behind the last whole one

  /// First entry of iteration `i`, from 0, and the one behind its last.
  std::pair<std::size_t, std::size_t> at(std::size_t i) const {
    return {first + i * length, first + (i + 1) * length};
  }
  bool operator==(const iterations&) const = default;
};

namespace detail {
/// At each place how many numbers from there on equal those at the front (the Z function).
inline std::vector<std::size_t> prefix_lengths(const std::vector<int>& s) {
  std::vector<std::size_t> z(s.size());
  for (std::size_t i = 1, from = 0, to = 0; i < s.size(); ++i) {
    if (i < to) z[i] = std::min(to - i, z[i - from]);
    while (i + z[i] < s.size() && s[z[i]] == s[i + z[i]])
      ++z[i];
    if (i + z[i] > to) from = i, to = i + z[i];
  }
  return z;
}
} // namespace detail

/// The period with which `s` ends, two times at least: of those that explain most of it the
/// shortest. What holds less than half of the different numbers, as a few that happen to be alike
/// at the end, is no period; a warm-up may be as long as it likes.
inline iterations find_period(const std::vector<int>& s) {
  iterations out{.first = 0, .length = s.size(), .count = s.empty() ? 0U : 1U, .behind = 0};
  const std::vector<int> reversed(s.rbegin(), s.rend());
  const std::vector<std::size_t> z = detail::prefix_lengths(reversed);
  const std::size_t different = std::set<int>(s.begin(), s.end()).size();
  std::set<int> seen; // in the last p numbers
  std::size_t covered = 0;
  for (std::size_t p = 1; 2 * p <= s.size(); ++p) {
    seen.insert(reversed[p - 1]);
    if (z[p] >= p && p + z[p] > covered && 2 * seen.size() >= different) {
      covered = p + z[p];
      out.length = p;
    }
  }
  if (covered == 0) return out;
  out.count = covered / out.length;
  out.behind = covered % out.length;
  if (covered != s.size()) { // counted from the end, where a warm-up went before
    out.first = s.size() - out.count * out.length;
    out.behind = 0;
  }
  return out;
}

/// The iterations of a log.
inline iterations find_iterations(const call_log& l) {
  std::unordered_map<std::string, int> number;
  std::vector<int> what_of_call;
  for (const call& c : l.calls) {
    const auto [found, fresh] =
        number.try_emplace(texts_of(c).first, static_cast<int>(number.size()));
    what_of_call.push_back(found->second);
  }
  std::vector<int> sequence;
  sequence.reserve(l.entries.size());
  for (const entry& e : l.entries)
    sequence.push_back(what_of_call[static_cast<std::size_t>(e.call)]);
  return find_period(sequence);
}

} // namespace benanza::trace
