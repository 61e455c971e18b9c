// SPDX-License-Identifier: Apache-2.0
// Where did a real run of a model take longer than was predicted? Its parts beside the steps that
// the prediction rests on, at the clock of the run: nodes are the same where name and algorithm
// are.
//
//   for (const run_part& p : parts_of(*run, true, b)) ...   // {"conv1 ...", 1.5e6, 1.3e6}
#pragma once

#include "../result/parts.hpp"
#include "figures.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::bound {

/// The parts of the run `m` of a form of `b` for which the prediction has a time too.
inline std::vector<run_part> parts_of(const measurement& m, bool fused, const model_bound& b) {
  const form_figures& form = fused ? static_cast<const form_figures&>(*b.fused) : b;
  if (!form.layouts || !form.layouts->prediction) return {};
  const laid_out& l = *form.layouts->prediction;
  const auto at_clock = [&m](double ns, const by_clock& clocked) {
    return m.clock_ns > 0 ? clocked.at(m.clock_ns) : ns;
  };
  std::map<std::string, double, std::less<>> expected{
      {std::string(result::reorders_part), at_clock(l.changes.ns, l.changes_clocked)}};
  for (const laid_step& s : l.steps)
    if (s.runs != nullptr) {
      const model::graph& g = s.fused ? *b.fused->graph : *b.graph;
      expected[result::part_name(s.runs->backend, s.runs->algorithm,
                                 g.nodes[static_cast<std::size_t>(s.node)].name)] =
          at_clock(s.ns, s.clocked);
    }
  std::vector<run_part> out;
  const std::vector<std::string_view> names = result::part_lines(m.parts);
  for (std::size_t i = 0; i < std::min(names.size(), m.parts_ns.size()); ++i)
    if (const auto found = expected.find(names[i]); found != expected.end())
      out.push_back({std::string(names[i]), m.parts_ns[i], found->second});
  return out;
}

} // namespace benanza::bound
