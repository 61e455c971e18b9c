// SPDX-License-Identifier: Apache-2.0
#include "framework_runs.hpp"

#include "../report/heading.hpp"
#include "../report/units.hpp"

#include <benanza/trace/profile/read_profile.hpp>

#include <algorithm>
#include <utility>

namespace benanza::analyzer {

std::vector<trace::profile> read_framework_runs(const std::vector<std::string>& files) {
  std::vector<std::vector<trace::profile>> groups;
  for (const std::string& f : files) {
    trace::profile p = trace::read_profile_file(f);
    const auto agree = []<class Value>(const Value& a, const Value& b) {
      return a == b || a == Value{} || b == Value{};
    };
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& g) {
      const trace::profile& first = g.front();
      return agree(first.framework, p.framework) && agree(first.version, p.version) &&
             agree(first.settings, p.settings) && agree(first.model, p.model) &&
             agree(first.structure, p.structure) && agree(first.processor, p.processor) &&
             agree(first.processors, p.processors) && agree(first.precision, p.precision) &&
             agree(first.threads, p.threads) && agree(first.batch, p.batch);
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

std::string machine_of(const trace::profile& p) {
  return printable(p.processor) +
         (p.processors > 0 ? " with " + report::counted(p.processors, "processor") : "");
}

bool fits(const trace::profile& p, const result::run& r) {
  const auto is = [&](const char* fact, const std::string& its) {
    const std::string known = report::fact(r, result::machine_section, fact);
    return known.empty() || its.empty() || known == its;
  };
  return is("cpu", p.processor) &&
         is("processors_online", p.processors > 0 ? std::to_string(p.processors) : "");
}

std::size_t machine_for(const trace::profile& p,
                        const std::vector<std::vector<result::run>>& machines) {
  std::string known;
  for (const std::vector<result::run>& m : machines)
    known += (known.empty() ? "" : ", ") + printable(m.front().source);
  if (p.processor.empty())
    throw error("this run of a framework does not say on which of several machines it was measured",
                p.source, "give a file that benanza_measure_framework measured, or one machine");
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < machines.size(); ++i)
    if (fits(p, machines[i].front())) found.push_back(i);
  if (found.size() != 1)
    throw error("this run of a framework was measured on " + machine_of(p) + ", which " +
                    (found.empty() ? "none" : "more than one") + " of the results is of",
                p.source,
                found.empty() ? "give results of that machine beside those of " + known
                              : "give results of one machine, not " + known);
  return found.front();
}

void check_machine(trace::profile& p, const result::run& r) {
  if (!fits(p, r))
    p.warnings.push_back("it was measured on another machine than the result: on " + machine_of(p));
}

} // namespace benanza::analyzer
