// SPDX-License-Identifier: Apache-2.0
// Where does a framework's time go against the best kernels? Bars and steps add up, the
// faster one is named, and what the profiler adds is taken off.
#include "framework_runs.hpp"

namespace test_of_comparison {
using namespace framework_runs;

TEST_CASE("the bars add up to the framework's run") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  const profile p = unfused(1400);
  const comparison c = compare(p, all[0]);
  REQUIRE(c.bars.size() > 4);
  double left = c.latency.ns;
  for (const bar& b : c.bars) {
    CAPTURE(b.id);
    CHECK(b.left_ns == doctest::Approx(left - b.takes.ns));
    CHECK(b.takes.low_ns <= b.takes.ns);
    CHECK(b.takes.ns <= b.takes.high_ns);
    left = b.left_ns;
  }
  CHECK(taken(c, "between_operators") == doctest::Approx(1400e3 - 1353.6e3));
  CHECK(taken(c, "added_operators") == 0);
  CHECK(c.matched_nodes == 6);
  CHECK(c.unexplained_ns == taken(c, "between_operators"));
  // The first convolution by the algorithm of channels last: 800 in place of about 710 us.
  REQUIRE(c.slower.size() == 1);
  CHECK(c.slower[0].layer == synthetic::conv);
  CHECK(c.slower[0].lost_ns() == doctest::Approx(90e3).epsilon(0.2));
  CHECK(c.faster.empty());
}

TEST_CASE("the steps down have one for the rewritten graph, with a framework and without") {
  const run r = synthetic::rewritten_run(60e3);
  const source s{r};
  const std::vector<model_bound> all{figures(s)};
  REQUIRE(all[0].rewritten);
  profile p{.source = "ort.json", .framework = "onnxruntime", .version = "1.32.0"};
  p.model = "net";
  p.threads = 1;
  p.batch = 1;
  p.latency_ns = {150e3, 150e3, 151e3};
  const advised a = advise_one(s, all, p);
  REQUIRE(a.frameworks.size() == 1);
  const auto ends = [&](const std::vector<bar>& bars) {
    const auto at =
        std::find_if(bars.begin(), bars.end(), [](const bar& b) { return b.id == "rewriting"; });
    REQUIRE(at != bars.end());
    CHECK(at->left_ns == doctest::Approx(60e3));
    CHECK(at->takes.ns == doctest::Approx(40e3));
  };
  ends(a.frameworks[0].bars);
  ends(descent_of(a).bars);
}

TEST_CASE("what kernels far above the machine's limits take is a step of its own") {
  run r = synthetic::small_run();
  double took = 0;
  for (benanza::result::measurement& m : r.measurements)
    if (m.family == "Relu") m.fallback = "host", took = m.min_ns = 400e3, m.samples_ns = {took};
  const benanza::bound::limits tenth{[&](const auto& l, numeric, int, std::int64_t) {
    return benanza::op::name(l) == synthetic::relu ? std::optional(benanza::bound::roof{took / 10})
                                                   : std::nullopt;
  }};
  const source s(r, tenth);
  const std::vector<model_bound> all{figures(s)};
  profile p{.source = "ort.json", .framework = "onnxruntime", .version = "1.32.0"};
  p.model = all[0].graph->model;
  p.latency_ns = {2000e3, 2000e3, 2001e3};
  const comparison c = compare(p, all[0]);
  const double slow = taken(c, "slow_kernels");
  CHECK(slow == doctest::Approx(0.9 * took));
  CHECK(all[0].beyond_rooflines_ns() == doctest::Approx(slow));
  const auto bars = descent_of({.model = &all[0]}).bars;
  CHECK(std::count_if(bars.begin(), bars.end(), [&](const bar& b) {
          return b.id == "slow_kernels" && b.takes.ns == doctest::Approx(slow);
        }) == 1);
}

TEST_CASE("a framework that fuses is compared with fused layers") {
  const run r = synthetic::fused_run();
  const source s(r);
  const model_bound b = figures(s);
  profile p = unfused(1400);
  p.operators = {ran("node1", "Conv", 720), ran("node4", "Conv", 133),
                 ran("node5", "Softmax", 410)};
  const comparison c = compare(p, b);
  REQUIRE(c.operators.size() == 3);
  CHECK(c.operators[0].nodes == std::vector{0, 1});
  CHECK(c.operators[0].layer.starts_with("Conv"));
  CHECK(c.operators[0].best_ns == doctest::Approx(712e3).epsilon(0.02));
  CHECK(c.operators[1].nodes == std::vector{2, 3, 4});
  CHECK(c.slower.empty());
  CHECK(std::abs(taken(c, "fusion")) < 5e3); // there is nothing left to fuse
}

TEST_CASE("where the framework is faster, that is said first: it is a fault of ours") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  profile p = unfused(1000);
  p.operators[0].ns = {400e3, 400e3};
  const advised a = advise_one(s, all, p);
  REQUIRE(a.frameworks.size() == 1);
  REQUIRE(a.frameworks[0].faster.size() == 1);
  CHECK(a.frameworks[0].faster[0].layer == synthetic::conv);
  CHECK(of_id(a.list, "algorithm/") == nullptr);
}

TEST_CASE("a framework that cuts layers elsewhere is faster only where all of them are together") {
  const run r = synthetic::fused_run();
  const source s(r);
  const model_bound b = figures(s);
  // Ours are the convolution with its Relu, and all between that and the Softmax.
  profile p = unfused(1400);
  p.operators = {ran("node0", "Conv", 850), ran("node2", "Conv", 60), ran("node4", "Add", 60),
                 ran("node5", "Softmax", 410)};
  p.operators[1].stands_for = {"node1", "node2"};
  p.operators[2].stands_for = {"node3", "node4"};
  const comparison c = compare(p, b);
  REQUIRE(c.operators.size() == 4);
  CHECK(c.operators[1].nodes == std::vector{1, 2});
  for (const compared_operator& o : c.operators)
    CHECK(o.verdict() >= 0);
  CHECK(c.faster.empty());
  REQUIRE(c.groups.size() == 2);
  CHECK(c.groups[0].nodes == std::vector{0, 1, 2, 3, 4});
  CHECK(c.groups[0].ns == 970e3);
  p.operators[0].ns = {600e3, 600e3, 600e3};
  CHECK(compare(p, b).faster.size() == 1);
}

TEST_CASE("what is faster than predicted but not than the bound is no fault of ours") {
  run r = synthetic::fused_run();
  for (auto& m : r.measurements) // with cold weights it takes twice as long here
    if (m.family == "Conv" && m.state == "coldw")
      for (double& ns : m.samples_ns)
        ns *= 2;
  for (auto& m : r.measurements)
    benanza::result::recompute(m);
  r.provenance["machine"]["l2_bytes"] = "1024";
  const source s(r);
  const model_bound b = figures(s);
  profile p = unfused(2500);
  p.operators[0].ns = {1000e3, 1000e3};
  const comparison c = compare(p, b);
  CHECK(c.operators[0].best_ns > 1300e3);
  CHECK(c.operators[0].least_ns == doctest::Approx(700e3));
  CHECK(c.faster.empty());
}

TEST_CASE("noise is no verdict") {
  const run r = synthetic::fused_run();
  const source s(r);
  const model_bound b = figures(s);
  profile p = unfused(1400);
  p.operators[0].ns = {600e3, 745e3, 900e3}; // five per cent over the best, and scattered
  CHECK(compare(p, b).slower.empty());
}

TEST_CASE("what the profiler adds to operators is taken off, and is no time between them") {
  const run r = synthetic::fused_run();
  const source s(r);
  const model_bound b = figures(s);
  profile p = unfused(1200); // its operators: 1353.6
  CHECK(compare(unfused(1400), b).profiler == profiler_cost{});
  p.profiled_ns = {1400e3, 1400e3};
  const comparison c = compare(p, b);
  const double added = 6 * c.profiler.least_ns; // of each of 6 operators
  CHECK(c.profiler.most_ns < 10e3);             // the shortest takes no more
  CHECK(c.profiler.pace == doctest::Approx(1200e3 / (1400e3 - added)));
  CHECK(c.operators[0].ns == doctest::Approx(c.profiler.taken(800e3)));
  p.empty_operator = benanza::trace::empty_operator_times{.profiled_ns = 30e3, .ns = 0};
  const comparison measured = compare(p, b); // that much is 180 us: more than was too much
  CHECK(measured.profiler.pace == 1);
  CHECK(measured.profiler.least_ns == 30e3);
  CHECK(measured.operators[0].ns == doctest::Approx(770e3));
}

TEST_CASE("without a profile of its operators, what is lost is not explained, which is said") {
  const run r = synthetic::fused_run();
  const source s(r);
  const model_bound b = figures(s);
  profile p = unfused(1400);
  p.operators.clear();
  const comparison c = compare(p, b);
  CHECK(c.bars.at(0).id == "unexplained");
  CHECK(c.unexplained_ns == doctest::Approx(1400e3 - b.fused->prediction.sequential.ns));
  CHECK_FALSE(c.profiled());
}
} // namespace test_of_comparison
