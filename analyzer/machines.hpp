// SPDX-License-Identifier: Apache-2.0
// How does one page show several machines? Files of one machine are merged, as always; each machine
// is analysed for itself, and the page holds them beside each other. No other format does.
//
//   if (auto machines = by_machine(std::move(runs)); machines.size() > 1)
//     return report_machines(std::move(machines), to);
#pragma once

#include "html_format.hpp"
#include "model_commands.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::analyzer {

/// Runs by the machine that they say they are of, in the order in which machines come.
inline std::vector<std::vector<result::run>> by_machine(std::vector<result::run> runs) {
  std::vector<std::vector<result::run>> out;
  for (result::run& r : runs) {
    const auto its = [&](const std::vector<result::run>& all) {
      return result::detail::difference(all.front().provenance.at(result::machine_section),
                                        r.provenance.at(result::machine_section))
          .empty();
    };
    const auto found = std::find_if(out.begin(), out.end(), its);
    if (found == out.end())
      out.emplace_back().push_back(std::move(r));
    else
      found->push_back(std::move(r));
  }
  return out;
}

namespace detail {
/// A machine's results, analysed. Its input refers to it.
struct machine_answer {
  result::run run;
  std::optional<bound::source> source{};
  std::vector<bound::model_bound> models{}, others{};
  std::vector<advice::advised> advised{};
  std::string lacking{};

  machine_answer(result::run measured, const request& asked)
      : run(std::move(measured)) {
    choose_backends(run, asked);
    choose_device(run, asked.device);
    if (run.graphs.empty()) run.graphs.push_back(loose_layers(run));
    source.emplace(run);
    models = select(*source, asked.wanted);
    others = related(*source, models);
    advised = advice::advise_all(
        *source, models, {}, {.others = &others, .latency_limit_ns = 1e6 * asked.latency_limit_ms});
    lacking = shortfall(models);
  }
};
} // namespace detail

/// A page about several machines.
inline status report_machines(std::vector<std::vector<result::run>> machines, const answer& to) {
  const request& asked = to.asked;
  if (!asked.plan.empty() || !asked.missing.empty() || !asked.frameworks.empty() ||
      !asked.limits.empty())
    throw error("a plan, a filter, a limit and a framework's run are of one machine",
                machines[0][0].source + " and " + machines[1][0].source,
                "give results of one machine");
  std::deque<detail::machine_answer> all;
  std::vector<report::input> inputs;
  std::string lacking;
  for (std::vector<result::run>& runs : machines) {
    const detail::machine_answer& one =
        all.emplace_back(put_together(std::move(runs), asked), asked);
    to.check(one.lacking, one.run.source);
    inputs.push_back(
        {.run = one.run, .models = one.models, .advised = one.advised, .lacking = one.lacking});
    if (lacking.empty()) lacking = one.lacking;
  }
  to.write(html_format(inputs));
  return to.partial(lacking);
}

} // namespace benanza::analyzer
