// SPDX-License-Identifier: Apache-2.0
#include <benanza/bench/level_lines.hpp>
#include <doctest/doctest.h>

using namespace benanza;

namespace test_of_level_lines {
struct no_subject final : measure::subject {
  measure::ready_case ready(const measure::bench_case&) override { return {}; }
};

measure::bench_case level(const char* algorithm, double ns, const std::vector<double>& parts = {}) {
  measure::bench_case c;
  c.algorithm.id = algorithm;
  c.results.assign(1, {});
  c.results[0].key = "net";
  c.results[0].type = "f32";
  c.results[0].algorithm = algorithm;
  c.results[0].median_ns = ns;
  for (const double one : parts)
    c.results[0].parts.push_back({"a layer", one});
  return c;
}

TEST_CASE("what the events of levels cost is said in a line") {
  std::vector<measure::group> groups(2);
  for (measure::group& g : groups)
    g.what = std::make_shared<no_subject>();
  groups[0].cases = {level("level-model", 1e6), level("level-layer", 1.1e6, {4e5, 5.5e5}),
                     level("level-call", 2.2e6)};
  groups[1].cases = {level("plan", 1e6)};
  const auto lines = bench::level_lines(groups);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == "net f32 t1: model 1000.0 us; events of layers +100.0 us (+10.0 %); events of "
                    "calls +1100.0 us (+100.0 %); layers add up to 95.0 %");
  groups[0].cases[1].results[0].error = "it failed";
  CHECK(bench::level_lines(groups)[0] == "net f32 t1: model 1000.0 us");
}
} // namespace test_of_level_lines
