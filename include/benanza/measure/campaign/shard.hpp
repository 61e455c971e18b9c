// SPDX-License-Identifier: Apache-2.0
// How is a run split over several machines or days? Whole groups are dealt out so that each part
// takes about the same time: the longest first, each to the part that has least so far. The split
// depends on nothing but the groups' algorithms, so all parts together are the whole run, each case
// once, even where the machine takes them to other cache states from part to part.
//
//   keep_shard(groups, 2, 4, request);   // the second of four
#pragma once

#include "../sampling/plan.hpp"
#include "../subjects/subject.hpp"

#include <algorithm>
#include <functional>
#include <range/v3/algorithm/min_element.hpp>
#include <range/v3/algorithm/sort.hpp>
#include <range/v3/algorithm/stable_sort.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/transform.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::measure {

/// Roughly how long a group takes; good for shares of a run, not for a clock.
inline double estimated_seconds(const group& g, const sampling_request& r) {
  constexpr double flops_per_second = 2e10, bytes_per_second = 5e9, preparing_s = 0.02;
  constexpr double fewest_executions = 8;
  const double execution = std::max(static_cast<double>(g.what->flops) / flops_per_second,
                                    static_cast<double>(g.what->bytes) / bytes_per_second);
  const double a_case =
      std::max(plan_of(r, g.what->time_share).seconds, fewest_executions * execution) *
          r.repetitions +
      preparing_s;
  std::set<std::pair<std::string_view, std::string_view>> algorithms;
  for (const bench_case& c : g.cases)
    algorithms.emplace(c.backend, c.algorithm.id);
  constexpr double states = 2;
  return preparing_s + a_case * states * static_cast<double>(algorithms.size());
}

/// Leaves part `shard` of `shards` of the groups, in their order.
inline void keep_shard(std::vector<group>& groups, int shard, int shards,
                       const sampling_request& r) {
  const auto parts = static_cast<std::size_t>(shards);
  if (parts == 1) return;
  if (parts > groups.size())
    throw error("there are only " + std::to_string(groups.size()) + " groups of cases to split",
                "--shard " + std::to_string(shard) + "/" + std::to_string(shards),
                "split into fewer parts");
  const auto cost =
      groups | ranges::views::transform([&](const group& g) { return estimated_seconds(g, r); }) |
      ranges::to<std::vector>();
  auto order = ranges::views::iota(std::size_t{0}, groups.size()) | ranges::to<std::vector>();
  ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return cost[i]; });
  std::vector<double> load(parts, 0.0);
  std::vector<std::size_t> mine;
  for (std::size_t i : order) {
    const auto least = ranges::min_element(load);
    *least += cost[i];
    if (least - load.begin() == shard - 1) mine.push_back(i);
  }
  ranges::sort(mine);
  groups = mine | ranges::views::transform([&](std::size_t i) { return std::move(groups[i]); }) |
           ranges::to<std::vector>();
}

} // namespace benanza::measure
