// SPDX-License-Identifier: Apache-2.0
// Which rows changed, and which come first?
//
//   give_verdicts(rows, limits{});   sort_rows(rows);   rows.front().says == verdict::slower
#pragma once

#include "rows.hpp"

#include "../core/error.hpp"

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

namespace benanza::compare::detail {

/// Gives rows of one kind their verdicts.
inline void give_verdicts(std::vector<row>& rows, const limits& l) {
  const std::vector<double> adjusted =
      holm(rows | ranges::views::transform([](const row& r) { return r.of.p; }) |
           ranges::to<std::vector>);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].adjusted = adjusted[i];
    rows[i].says = judge(rows[i].of, adjusted[i], l);
  }
}

/// What changed first, by what it weighs.
inline void sort_rows(std::vector<row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const row& a, const row& b) {
    const auto rank = [](const row& r) {
      const int group = r.says == verdict::slower || r.says == verdict::faster ? 0
                        : r.says == verdict::unsure                            ? 1
                                                                               : 2;
      return std::tuple(group, -std::abs(r.effect_share), -std::abs(r.of.change));
    };
    return rank(a) < rank(b);
  });
}

/// Refuses visits in turns of which some have no partner.
inline void check_turns(std::size_t before, std::size_t after, const std::string& which) {
  if (before != after)
    throw error("visits in turns are pairs, and there are " + std::to_string(before) +
                    " old ones and " + std::to_string(after) + " new ones",
                which, "give as many of both, in the order in which they were measured");
  if (before < 2)
    throw error("one turn tells nothing of how turns differ", which, "measure several");
}

/// Says that some times lack in a turn, and how they were judged.
inline std::string unpaired_note(std::size_t times) {
  return std::to_string(times) +
         (times == 1 ? " time lacks in some turns: it is" : " times lack in some turns: they are") +
         " judged as if not measured in turns";
}

} // namespace benanza::compare::detail
