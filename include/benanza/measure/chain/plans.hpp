// SPDX-License-Identifier: Apache-2.0
// Which whole models are to run? The plans of some files; each becomes a group, on as many threads
// as its times were taken with. Plans take the place of layers.
//
//   auto plans = read_plans({"plan.json"});   plan_group(plans[0], libraries, provenance)
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

/// Refuses two plans of one model in one setting.
inline void refuse_twins(const std::vector<group>& of_plans) {
  for (std::size_t i = 0; i < of_plans.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (of_plans[k].cases[0].name == of_plans[i].cases[0].name)
        throw error("two plans of the same model, type and threads", of_plans[i].what->key,
                    "run them one at a time");
}

} // namespace benanza::measure
