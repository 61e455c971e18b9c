// SPDX-License-Identifier: Apache-2.0
// Are chain runs of a model found, and compared with its figures at their own clock?
#include "analysed.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace test_of_chain_runs {
using namespace analysed;

TEST_CASE("chain runs of the model are found, and are a fault if they beat the bound") {
  run r = synthetic::fused_run();
  measurement m = r.measurements.front();
  m.family = "model";
  m.algorithm = "plan";
  m.name = "model/block@batch=1/f32";
  const auto took = [&](const std::string& key, double ns, int threads = 1) {
    m.key = key;
    m.threads = threads;
    m.samples_ns = {ns, ns * 1.01};
    m.min_ns = 0;
    benanza::result::recompute(m);
    r.measurements.push_back(m);
  };
  took("block@batch=1,fused", 1.5e6);
  took("block@batch=1", 1e6);
  took("another", 1);
  took("block@batch=1", 1, 2);
  m.error = "a reason";
  took("block@batch=1", 1);
  const model_bound b = analyse(r);
  REQUIRE(b.runs.size() == 2);
  CHECK(b.runs[0].fused);
  CHECK_FALSE(b.runs[1].fused);
  CHECK(b.runs[1].run->min_ns == 1e6);
  REQUIRE(b.failed_runs.size() == 1);
  CHECK(b.failed_runs[0]->error == "a reason");
  CHECK(b.failed() == 1);
  CHECK(b.partial());
  CHECK(b.faults == std::vector<benanza::bound::fault>{
                        {"a run is faster than the bound", "model/block@batch=1/f32"}});
}

TEST_CASE("a run that beats the bound by its higher clock is no fault") {
  run r = synthetic::fused_run();
  measurement m = r.measurements.front();
  m.family = "model";
  m.key = "block@batch=1";
  m.samples_ns = {1.1e6, 1.2e6};
  m.min_ns = 0;
  benanza::result::recompute(m);
  for (measurement& layer : r.measurements)
    layer.min_clock_ns = 1000;
  const auto faults = [&](double run_clock_ns) {
    m.min_clock_ns = run_clock_ns;
    run with_run = r;
    with_run.measurements.push_back(m);
    return analyse(with_run).faults.size();
  };
  REQUIRE(analyse(r).bound.sequential.ns > 1.2e6);
  CHECK(faults(0) == 1); // unknown
  CHECK(faults(1000) == 1);
  CHECK(faults(1100) == 1);
  CHECK(faults(850) == 0);
  CHECK(faults(950) == 1); // by more than that
}

TEST_CASE("what a run at another clock is compared with") {
  run r = synthetic::fused_run();
  const model_bound still = analyse(r);
  REQUIRE(still.layouts);
  const double predicted = still.layouts->prediction->total.ns;
  measurement m = r.measurements.front();
  m.family = "model";
  m.key = "block@batch=1";
  m.min_ns = 2 * m.min_ns;
  CHECK_FALSE(benanza::bound::expected_at_clock(still, m)); // both clocks are unknown
  m.clock_ns = 1200;
  CHECK_FALSE(benanza::bound::expected_at_clock(still, m));
  for (measurement& layer : r.measurements)
    layer.clock_ns = 1000;
  const model_bound b = analyse(r);
  CHECK(b.layouts->prediction->total.ns == predicted);
  const auto at = [&](double clock_ns) {
    m.clock_ns = clock_ns;
    return *benanza::bound::expected_at_clock(b, m);
  };
  CHECK(at(1000) == doctest::Approx(predicted));
  // All of it is slower, but for what waits for memory.
  CHECK(at(1200) > 1.1 * predicted);
  CHECK(at(1200) < 1.2 * predicted);
  CHECK(at(900) < predicted);
  m.clock_ns = 0;
  CHECK_FALSE(benanza::bound::expected_at_clock(b, m));
}
} // namespace test_of_chain_runs
