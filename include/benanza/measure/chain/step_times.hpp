// SPDX-License-Identifier: Apache-2.0
// What did each step of a chain take, in each of its executions?
//
//   step_times t(3);   t.add(5e3);   ...   t.end(total_ns);   t.of({total_ns})[0]
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace benanza::measure {

/// Nanoseconds by step; the same number of executions for each.
using times_by_step = std::vector<std::vector<double>>;

/// The sums over those steps that are `wanted`, by their number; one an execution.
template <class Wanted>
std::vector<double> sums(const times_by_step& times, Wanted&& wanted) {
  std::vector<double> out(times.empty() ? 0 : times[0].size(), 0);
  for (std::size_t k = 0; k < times.size(); ++k)
    for (std::size_t i = 0; wanted(k) && i < out.size(); ++i)
      out[i] += times[k][i];
  return out;
}

/// Of the first executions of a chain; later ones are not kept.
class step_times {
public:
  static constexpr std::size_t most_kept = 4096;

  explicit step_times(std::size_t steps = 0)
      : steps_(steps) {}

  bool full() const { return totals_ns_.size() >= most_kept; }
  /// The next step took so long.
  void add(double ns) { timed_ns_.push_back(ns); }
  /// An execution has ended, and took so long as a whole.
  void end(double total_ns) { totals_ns_.push_back(total_ns); }

  /// Those of the executions that took one of `totals_ns`; empty: there are none.
  times_by_step of(const std::vector<double>& totals_ns) const {
    times_by_step out(steps_);
    for (std::size_t e = 0; e < totals_ns_.size(); ++e)
      if (std::find(totals_ns.begin(), totals_ns.end(), totals_ns_[e]) != totals_ns.end())
        for (std::size_t k = 0; k < steps_; ++k)
          out[k].push_back(timed_ns_[e * steps_ + k]);
    return out.empty() || out[0].empty() ? times_by_step{} : out;
  }

private:
  std::size_t steps_;
  std::vector<double> totals_ns_{};
  std::vector<double> timed_ns_{}; ///< all steps of one execution in a row
};

} // namespace benanza::measure
