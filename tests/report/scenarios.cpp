// SPDX-License-Identifier: Apache-2.0
// Does `offline` say which batch gives most, and nothing about batches that were not measured?
#include "analyzer/scenario/page.hpp"
#include "pages.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test_of_scenarios {
using namespace pages;
using benanza::report::scenario_table;
using benanza::report::scenarios_json;

/// The block at batches, each with the executions a second of its `offline`.
run offline(const std::vector<std::pair<std::int64_t, double>>& batches) {
  run r = synthetic::fused_run();
  for (const auto& [batch, per_s] : batches) {
    benanza::model::graph g = r.graphs[0];
    g.name = "block@batch=" + std::to_string(batch);
    if (batch != 1) {
      g.batch = batch;
      r.graphs.push_back(g);
    }
    measurement m = r.measurements.front();
    m.family = "model";
    m.key = g.name;
    m.backend = benanza::result::chain_backend;
    m.algorithm = benanza::result::by_first_choice;
    m.state = "offline";
    m.name = "model/" + g.name + "/f32/chain/first/offline/t1";
    m.scenario = {.percentile = 99, .percentile_ns = 1e9 / per_s, .completed_per_s = per_s};
    r.measurements.push_back(m);
  }
  return r;
}

/// The block under a server's load with a limit of 50 ms, and what its 99th percentile was.
run served(double percentile_ns) {
  run r = offline({{1, 200}});
  measurement& m = r.measurements.back();
  m.state = "server:limit=50ms";
  m.name = "model/block/f32/chain/first/server:limit=50ms/t1";
  m.count = 264;
  m.scenario = {.percentile = 99,
                .percentile_ns = percentile_ns,
                .queued_ns = 49e6,
                .offered_per_s = 132,
                .completed_per_s = 131,
                .highest_per_s = 138,
                .highest_from_per_s = 132,
                .highest_to_per_s = 139};
  return r;
}

TEST_CASE("server: a percentile over its limit is named, with how many queries decide it") {
  const run low = served(48e6), high = served(62.9e6), none = offline({{1, 200}});
  const std::vector<model_bound> kept = analyse(low), over = analyse(high);
  CHECK_FALSE(holds(scenario_table(kept[0]), " over"));
  const std::string text = scenario_table(over[0]);
  check_width(text);
  CHECK(holds(text, "p99   62.9 ms      131/s over\n"));
  CHECK(holds(text, "    p99 rests on the slowest 3 of 264 queries\n"));
  CHECK(holds(text, "  over  the queries that were played took longer than the limit"));
  CHECK(scenarios_json(over[0])[0]["limit_ns"] == 50e6);
  CHECK(scenarios_json(analyse(none)[0])[0]["limit_ns"] == 0);

  run hopeless = served(62.9e6); // no load keeps its limit: no queue is said to
  hopeless.measurements.back().scenario = {.percentile = 99, .percentile_ns = 62.9e6};
  const std::string never = scenario_table(analyse(hopeless)[0]);
  CHECK(holds(never, "one query alone does not keep that limit"));
  CHECK_FALSE(holds(never, " over"));
}

TEST_CASE("details after the first screen say nothing twice") {
  const run r = served(48e6);
  const std::string text = text_report(r, analyse(r), {.details = true});
  REQUIRE(holds(text, "Under load"));
  CHECK(text.find("Under load") == text.rfind("Under load"));
}

TEST_CASE("offline: the batch that gives most, and the others") {
  const run r = offline({{8, 50}, {1, 200}, {32, 10}});
  const std::vector<model_bound> all = analyse(r);
  const std::string text = scenario_table(all[0]);
  CHECK(holds(text, "batch 1  "));
  CHECK(holds(text, "    batch 8, gives most                        p99   20.0 ms      400/s\n"));
  CHECK(text.find("batch 1  ") < text.find("batch 8,"));
  CHECK(text.find("batch 8,") < text.find("batch 32  "));
  CHECK_FALSE(holds(text, "not measured"));
  const auto j = scenarios_json(all[0]);
  REQUIRE(j[0]["batches"].size() == 3);
  CHECK(j[0]["batches"][1]["items_per_s"] == 400);
}

TEST_CASE(
    "offline: where the largest batch gives most, or there is one alone, more are asked for") {
  const std::string command = "benanza_generate block.onnx --batch 16 --no-sources -o larger && "
                              "benanza_bench --graphs larger/graphs.json --scenario offline "
                              "--benchmark_out=larger.json\n";
  const run two = offline({{1, 200}, {8, 50}});
  CHECK(holds(scenario_table(analyse(two)[0]),
              "larger batches were not measured. This does:\n    " + command));
  const run one = offline({{1, 200}});
  const std::string text = scenario_table(analyse(one)[0]);
  CHECK(holds(text, "other batches were not measured. This does:\n"));
  CHECK(holds(text, "--batch 2 "));
}

TEST_CASE("offline: other types, threads, models and sizes are not its batches") {
  run r = offline({{1, 200}, {8, 50}});
  r.measurements.back().threads = 2;
  CHECK(analyse(r)[0].at_all_batches.size() == 1);
  r.measurements.back().threads = 1;
  r.graphs.back().name = r.measurements.back().key = "block@batch=8,sequence=128";
  CHECK(analyse(r)[0].at_all_batches.size() == 1);
}

} // namespace test_of_scenarios
