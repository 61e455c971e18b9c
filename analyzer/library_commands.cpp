// SPDX-License-Identifier: Apache-2.0
#include "library_commands.hpp"

#include "report/algorithms.hpp"
#include "report/versions.hpp"
#include "request.hpp"
#include "select.hpp"

#include <benanza/result/versions.hpp>

#include <string>
#include <utility>
#include <vector>

namespace benanza::analyzer {

status list_algorithms(const result::run& run, const answer& to) {
  const request& asked = to.asked;
  std::string wanted = asked.algorithms;
  for (const model::graph& g : run.graphs)
    for (const model::node& n : g.nodes)
      if (n.name == asked.algorithms && n.layer != model::no_layer)
        wanted = op::name(g.layers[static_cast<std::size_t>(n.layer)]);
  const auto all =
      report::algorithms_of(run, wanted, asked.wanted.type, asked.wanted.threads.value_or(0));
  if (all.empty())
    throw error("no measured layer has that in its name, and no node is called so",
                "--algorithms " + asked.algorithms, "--layers all lists the layers");
  to.write(report::algorithms_answer(all, !run.refused.empty()));
  return status::complete;
}

status report_versions(result::run& run, std::size_t rows, const answer& to) {
  if (run.graphs.empty()) run.graphs.push_back(loose_layers(run));
  const auto libraries = report::versions_in(run);
  if (libraries.empty())
    throw error("the results hold one version of each library", run.source,
                "build benanza_bench with -DBENANZA_ONEDNN_ROOTS=..., or give results of several");
  const std::vector<bound::model_bound> together = select(bound::source(run), to.asked.wanted);
  report::tables::chapter all;
  for (const auto& [library, versions] : libraries) {
    std::vector<result::run> runs; // the bounds refer to them
    runs.reserve(versions.size());
    std::vector<std::vector<bound::model_bound>> alone;
    for (const report::library_version& v : versions) {
      result::run& one = runs.emplace_back(run);
      std::erase_if(one.measurements, [&, &of = library](const result::measurement& m) {
        return result::library_of(m.backend) == of && m.backend != v.backend;
      });
      std::vector<bound::model_bound>& its = alone.emplace_back();
      const bound::source source(one);
      for (const bound::model_bound& b : together)
        its.push_back(bound::analyse(
            source, one.graphs[static_cast<std::size_t>(b.graph - run.graphs.data())],
            {b.type, b.threads}, {.workers = to.asked.wanted.workers}));
    }
    all.chapters.push_back(report::versions_answer(
        report::compare_versions(library, versions, alone, together), rows));
  }
  to.write(all);
  return status::complete;
}

} // namespace benanza::analyzer
