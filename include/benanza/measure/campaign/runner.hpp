// SPDX-License-Identifier: Apache-2.0
// Who measures a group? A `runner`: this process itself, or one of its own (supervisor.hpp) that
// may crash without taking the run along. Either fills in the results of the cases it is asked for.
//
//   local_runner r(group_runner_of_this_process);   r.measure(g, all_cases(g), interrupted);
#pragma once

#include "group_runner.hpp"

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/iota.hpp>
#include <utility>
#include <vector>

namespace benanza::measure {

/// Places of cases in a group.
using case_list = std::vector<std::size_t>;

inline case_list all_cases(const group& g) {
  return ranges::views::iota(std::size_t{0}, g.cases.size()) | ranges::to<case_list>();
}

/// A case without times: only the reason.
inline std::vector<result::measurement> failed_case(const group& g, std::size_t i,
                                                    const std::string& why) {
  std::vector<result::measurement> one{group_runner::blank(g, g.cases[i])};
  one[0].error = why;
  return one;
}

/// How a failure begins that is the run's and not the case's: there was no room for a worker, say.
/// It is not kept: the next run measures the case.
inline constexpr const char* no_worker_error = "a worker process cannot be";

/// Measures cases of groups, one group after the other.
class runner {
public:
  virtual ~runner() = default;
  /// Fills in the results of the cases `which` of `g`; ends early once `stop` is set.
  virtual void measure(group& g, const case_list& which, const std::atomic<bool>& stop) = 0;
  /// What a team of so many threads has seen of the machine.
  virtual machine_seen seen(int team) const = 0;
};

/// Measures in this process: the fastest to start, and a crash ends it.
class local_runner final : public runner {
public:
  explicit local_runner(group_runner& r)
      : runner_(r) {}

  void measure(group& g, const case_list& which, const std::atomic<bool>& stop) override {
    group part{.what = g.what, .ahead = g.ahead};
    for (std::size_t i : which)
      part.cases.push_back(g.cases[i]);
    runner_.measure(part, stop);
    for (std::size_t i = 0; i < which.size(); ++i)
      g.cases[which[i]].results = std::move(part.cases[i].results);
  }
  machine_seen seen(int team) const override { return runner_.seen(team); }

private:
  group_runner& runner_;
};

} // namespace benanza::measure
