// SPDX-License-Identifier: Apache-2.0
// Which whole models are to run? The plans of some files; each becomes a group of one case, on as
// many threads as its times were taken with. Plans take the place of layers.
//
//   auto plans = read_plans({"plan.json"});   groups_of(plans, libraries, provenance)
#pragma once

#include "../../result/input_text.hpp"
#include "plan_subject.hpp"

namespace benanza::measure {

/// The plans of the files, checked.
inline std::vector<result::plan> read_plans(const std::vector<std::string>& files) {
  std::vector<result::plan> out;
  for (const std::string& file : files) {
    constexpr std::size_t most = std::size_t{256} << 20;
    out.push_back(result::read_plan(result::input_text(file, most, "the plan"), file));
  }
  return out;
}

/// The most threads that layers or plans want.
inline int most_threads(const std::vector<int>& of_layers, const std::vector<result::plan>& plans) {
  int most = 1;
  if (plans.empty()) most = *std::max_element(of_layers.begin(), of_layers.end());
  for (const result::plan& p : plans)
    most = std::max(most, p.threads);
  return most;
}

/// A group for each plan; refuses two of one model in one setting.
inline std::vector<group>
groups_of(const std::vector<result::plan>& plans, const library_list& libraries,
          const std::map<std::string, std::map<std::string, std::string>>& here,
          const parameters& thresholds = usual_parameters, const chain_request& asked = {}) {
  std::vector<group> out;
  for (const result::plan& p : plans) {
    out.push_back(plan_group(p, libraries, here, thresholds, asked));
    for (std::size_t i = 0; i + 1 < out.size(); ++i)
      if (out[i].cases[0].name == out.back().cases[0].name)
        throw error("two plans of the same model, type and threads", p.graph.name,
                    "run them one at a time");
  }
  return out;
}

} // namespace benanza::measure
