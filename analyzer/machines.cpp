// SPDX-License-Identifier: Apache-2.0
#include "machines.hpp"

#include "frameworks/framework_runs.hpp"
#include "html/html_format.hpp"
#include "model_commands.hpp"
#include "read_results.hpp"
#include "report/input.hpp"
#include "report/limits.hpp"
#include "request.hpp"
#include "select.hpp"

#include <benanza/result/versions.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace benanza::analyzer {

std::vector<std::vector<result::run>> by_machine(std::vector<result::run> runs) {
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

namespace {
/// A machine's results, analysed. Its input refers to it.
struct machine_answer {
  result::run run;
  std::vector<trace::profile> profiles; ///< of frameworks, measured there
  std::optional<bound::source> source{};
  std::vector<bound::model_bound> models{}, others{};
  std::vector<advice::advised> advised{};
  std::vector<report::limit_answer> limits{};
  std::string lacking{};
  std::vector<std::string> left_out{}; ///< runs of frameworks that belong to no figures

  machine_answer(result::run measured, std::vector<trace::profile> frameworks,
                 const std::vector<report::limit>& asked_limits, const request& asked)
      : run(std::move(measured))
      , profiles(std::move(frameworks)) {
    choose_backends(run, asked);
    choose_device(run, asked.device);
    if (run.graphs.empty()) run.graphs.push_back(loose_layers(run));
    source.emplace(run);
    models = select(*source, asked.wanted);
    others = related(*source, models);
    advised = advice::advise_all(
        *source, models, profiles,
        {.others = &others, .latency_limit_ns = asked.latency_limit_ns, .left_out = &left_out});
    limits = report::hold_to(asked_limits, advised);
    lacking = shortfall(models);
  }
};
} // namespace

status report_machines(std::vector<std::vector<result::run>> machines, const answer& to) {
  const request& asked = to.asked;
  if (!asked.plan.empty() || !asked.missing.empty())
    throw error("a plan and a filter are of one machine",
                machines[0][0].source + " and " + machines[1][0].source,
                "give results of one machine");
  const std::vector<report::limit> limits(asked.limits.begin(), asked.limits.end());
  std::vector<std::vector<trace::profile>> profiles(machines.size());
  for (trace::profile& p : read_framework_runs(asked.frameworks))
    profiles[machine_for(p, machines)].push_back(std::move(p));
  std::deque<machine_answer> all;
  std::vector<report::input> inputs;
  std::vector<report::limit_answer> held;
  std::string lacking;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    const machine_answer& one = all.emplace_back(put_together(std::move(machines[i]), asked),
                                                 std::move(profiles[i]), limits, asked);
    to.check(one.lacking, one.run.source);
    to.left_out(one.left_out);
    inputs.push_back({.run = one.run,
                      .models = one.models,
                      .advised = one.advised,
                      .lacking = one.lacking,
                      .limits = one.limits});
    held.insert(held.end(), one.limits.begin(), one.limits.end());
    if (lacking.empty()) lacking = one.lacking;
  }
  report::check_limits(limits, held);
  if (lacking.empty()) lacking = report::unsure_limits(held);
  to.write(html_format(inputs));
  return to.keeps(report::broken_limits(held), lacking);
}

} // namespace benanza::analyzer
