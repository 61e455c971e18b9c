// SPDX-License-Identifier: Apache-2.0
// Where did a chain run of a model take longer than was predicted? Its parts, and the steps
// that the prediction rests on, at the clock of the run: nodes are the same where name and
// algorithm are.
//
//   b = with_chain_runs(std::move(b), run);   b.runs[0].parts[0]   // {"conv1 ...", 1.5e6, 1.3e6}
#pragma once

#include "../result/load_case.hpp"
#include "../result/parts.hpp"
#include "figures.hpp"

#include <range/v3/algorithm/stable_sort.hpp>
#include <range/v3/view/zip.hpp>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::bound {

/// The parts of the run `m` of a form of `b` for which the prediction has a time too.
inline std::vector<run_part> parts_of(const measurement& m, bool fused, const model_bound& b) {
  const form_figures& form = b.form(fused);
  if (!form.layouts || !form.layouts->prediction) return {};
  const layout_solution& l = *form.layouts->prediction;
  const auto at_clock = [&m](double ns, const by_clock& clocked) {
    return m.clock_ns > 0 ? clocked.at(m.clock_ns) : ns;
  };
  std::map<std::string, double, std::less<>> expected{
      {std::string(result::reorders_part), at_clock(l.changes.ns, l.changes_clocked)}};
  for (const layout_step& s : l.steps)
    if (s.runs != nullptr) {
      const model::graph& g = s.fused ? *b.fused->graph : *b.graph;
      expected[result::part_name(s.runs->backend, s.runs->algorithm,
                                 g.nodes[detail::at(s.node)].name)] = at_clock(s.ns, s.clocked);
    }
  std::vector<run_part> out;
  for (const timed_part& p : m.parts)
    if (const auto found = expected.find(p.name); found != expected.end())
      out.push_back({p.name, p.ns, found->second});
  return out;
}

namespace detail {
/// The name of a variant at any batch: `bert@,sequence=128` of `bert@batch=8,sequence=128`.
inline std::string at_any_batch(const model::graph& g) {
  const std::string its = "batch=" + std::to_string(g.batch);
  std::string out = g.name;
  if (const auto at = out.find('@' + its); at != std::string::npos) out.erase(at + 1, its.size());
  return out;
}

/// The `offline` runs of the model at all batches in its type and on its threads, by batch.
inline std::vector<scenario_run> offline_runs(const model_bound& b, const result::run& r) {
  const std::string plain = at_any_batch(*b.graph),
                    fused = b.fused ? at_any_batch(*b.fused->graph) : "";
  std::vector<scenario_run> out;
  for (const measurement& m : r.measurements) {
    if (!result::of_a_scenario(m) || !m.state.starts_with("offline") || !m.error.empty() ||
        m.type != name(b.type) || m.threads != b.threads)
      continue;
    for (const model::graph& g : r.graphs)
      if (const std::string any = at_any_batch(g);
          g.name == m.key && (any == plain || any == fused))
        out.push_back({&m, any != plain, g.batch});
  }
  ranges::stable_sort(out, ranges::less{}, &scenario_run::batch);
  return out;
}
} // namespace detail

/// `b` with the chain runs and the scenarios of the model in its type and on its threads.
inline model_bound with_chain_runs(model_bound b, const result::run& r) {
  for (const measurement& m : r.measurements) {
    if (m.family != "model" || result::of_a_load(m) || result::of_a_level(m.algorithm) ||
        m.type != name(b.type) || m.threads != b.threads)
      continue;
    const bool unfused = m.key == b.graph->name, fused = b.fused && m.key == b.fused->graph->name;
    if (!unfused && !fused) continue;
    // By other choices than the prediction's it is compared with nothing.
    if (result::of_a_scenario(m) || m.algorithm == result::by_first_choice ||
        m.algorithm == result::by_named_choice) {
      if (m.error.empty()) b.scenarios.push_back({&m, fused, b.graph->batch});
      continue;
    }
    if (m.error.empty())
      b.runs.push_back({&m, fused, parts_of(m, fused, b)});
    else
      b.failed_runs.push_back(&m);
  }
  b.at_all_batches = detail::offline_runs(b, r);
  return b;
}

} // namespace benanza::bound
