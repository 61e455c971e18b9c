// SPDX-License-Identifier: Apache-2.0
// Which frameworks' runs do the files of --framework hold? Those of one framework and model are put
// together: its latency, its trace and what it says of its graph may be files of their own.
//
//   std::vector<trace::profile> runs = read_framework_runs({"ort.json", "openvino.json"});
#pragma once

#include <benanza/trace/profile/read_profile.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace benanza::analyzer {

/// The runs that the files hold, a framework and model each, in the order in which they are named.
inline std::vector<trace::profile> read_framework_runs(const std::vector<std::string>& files) {
  std::vector<std::vector<trace::profile>> groups;
  for (const std::string& f : files) {
    trace::profile p = trace::read_profile_file(f);
    const auto agree = [](const std::string& a, const std::string& b) {
      return a == b || a.empty() || b.empty();
    };
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& g) {
      return agree(g.front().framework, p.framework) && agree(g.front().model, p.model);
    });
    if (same == groups.end())
      groups.push_back({std::move(p)});
    else
      same->push_back(std::move(p));
  }
  std::vector<trace::profile> out;
  for (auto& g : groups)
    out.push_back(g.size() == 1 ? std::move(g.front()) : trace::join(std::move(g)));
  return out;
}

} // namespace benanza::analyzer
