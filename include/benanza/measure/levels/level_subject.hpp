// SPDX-License-Identifier: Apache-2.0
// How is the chain of a plan timed at several levels? As a group of one case a level,
// `chain/level-model`, `chain/level-layer`, `chain/level-call`: runs of one chain, which do not
// compete.
//
//   group g = level_group(plan, libraries, here, level::layer);   runner.measure(g, stop);
#pragma once

#include "../../machine/processor_counters.hpp"
#include "../chain/plan_subject.hpp"
#include "level_run.hpp"

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::measure {

class level_subject final : public plan_subject {
public:
  using plan_subject::plan_subject;

  ready_case ready(const bench_case& c) override {
    double took_ns = 0; // of the first case: the others run its chain
    if (!of_all_) std::tie(of_all_, took_ns) = verified(c);
    return {std::make_unique<level_run>(of_all_, libraries_, level_of(c.algorithm.id), threads),
            took_ns};
  }
  void end() override { of_all_.reset(); }

  /// What the events of each level cost: its run's time less that of the level before. One that is
  /// lost in the noise is 0. And what the processor counts of each layer, in a run of its own.
  void conclude(std::vector<bench_case>& cases) const override {
    const std::vector<result::measurement>* before = nullptr;
    for (bench_case& c : cases) {
      for (std::size_t i = 0; before != nullptr && i < c.results.size(); ++i)
        if (i < before->size() && c.results[i].error.empty() && (*before)[i].error.empty())
          c.results[i].overhead_ns = std::max(0.0, c.results[i].median_ns - (*before)[i].median_ns);
      before = &c.results;
      if (level_of(c.algorithm.id) == level::layer && of_all_ && !of_all_->on_device())
        count_parts(*of_all_, c.results);
    }
  }

private:
  /// Notes what the processor counts of each part in a run that is not timed.
  static void count_parts(chain& c, std::vector<result::measurement>& of) {
    machine::processor_counters counters;
    std::string why = counters.refused();
    std::vector<std::vector<std::int64_t>> counted;
    if (why.empty()) c.run(1);
    for (std::size_t k = 0; why.empty() && k < c.steps(); ++k) {
      counters.begin();
      c.execute(k);
      const std::vector<double> values = counters.end();
      if (values.empty()) why = "others had the counters";
      counted.emplace_back(values.begin(), values.end());
    }
    for (result::measurement& m : of) {
      m.not_counted = !why.empty() || m.parts.size() == counted.size()
                          ? why
                          : "the times of its parts are not known";
      if (!m.not_counted.empty()) continue;
      const auto& names = counters.names();
      m.counters_of_parts.assign(names.begin(), names.end());
      for (std::size_t k = 0; k < counted.size(); ++k)
        m.parts[k].counted = counted[k];
    }
  }

  std::shared_ptr<chain> of_all_{}; ///< that all levels run
};

/// The group of a plan with the events of each level down to `deepest`; see plan_group.
inline group level_group(const result::plan& p, const library_list& libraries,
                         const std::map<std::string, std::map<std::string, std::string>>& here,
                         level deepest, const parameters& thresholds = usual_parameters) {
  refuse_from_elsewhere(p, libraries, here);
  group g{.what = std::make_shared<level_subject>(p, libraries, thresholds)};
  for (const named_level& l : named_levels)
    if (l.what <= deepest) {
      g.cases.push_back(chain_case(p, *g.what, l.algorithm, result::whole_run));
      g.cases.back().algorithm.equivalence.append(" ").append(l.word); // they do not compete
    }
  return g;
}

} // namespace benanza::measure
