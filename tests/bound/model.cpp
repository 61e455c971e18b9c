// SPDX-License-Identifier: Apache-2.0
// Are a model's figures what its layers' samples and its graph make them? One small model, bent in
// every direction.
#include "analysed.hpp"

#include <benanza/bound/layout/plan.hpp>
#include <benanza/result/merge.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace test_of_model {
using namespace analysed;

TEST_CASE("the figures of a small model") {
  const run r = synthetic::small_run();
  const model_bound b = analyse(r);
  CHECK(b.bound.sequential.ns == 2 * 350e3 + 420e3 + 405e3 + 9e3 + 1.5e3);
  CHECK(b.bound.parallel.ns == 350e3 + 9e3 + 420e3 + 405e3 + 1.5e3);
  CHECK(b.bound.longest.nodes == std::vector<int>{0, 1, 3, 4, 5, 6});
  CHECK(b.workers == 2);
  CHECK(b.bound.reachable.ns == b.bound.parallel.ns);
  CHECK(b.assumption() == "unbounded workers");
  CHECK(b.weights.name() == "coldw");
  CHECK_FALSE(b.partial());
  CHECK(b.notes.empty());
  CHECK(b.faults.empty());
  CHECK(b.covered.view_nodes == 1);
  CHECK(b.covered.native + b.covered.host == doctest::Approx(1));
  CHECK(b.covered.host == doctest::Approx(1.5e3 / b.bound.sequential.ns));
  for (const benanza::bound::figure& f :
       {b.bound.sequential, b.bound.parallel, b.bound.reachable, b.prediction.sequential,
        b.prediction.parallel, b.prediction.reachable}) {
    CHECK(f.low_ns <= f.ns);
    CHECK(f.ns <= f.high_ns);
    CHECK(f.high_ns < 1.2 * f.ns);
  }
  CHECK(b.bound.sequential.ns < b.prediction.sequential.ns);
}

namespace {
/// A part of a transformer in both fused forms: a sum goes to the product before it, or to the
/// normalization behind it, which takes so long.
run stream_run(double normalized_sum_ns) {
  using benanza::model::constant, benanza::model::model_input;
  const std::string product = "MatMul/8x64-64x64-w", sum = "Add/8x64",
                    norm = "RMSNormalization/8x64-a1", both = "MatMul+Add/8x64-64x64-w",
                    normalized = "Add+RMSNormalization/8x64-a1-sum";
  run r = synthetic::empty_run();
  r.graphs.push_back(synthetic::make_graph("part@batch=1", {product, sum, norm, product, sum},
                                           {{}, {0}, {1}, {2}, {1, 3}}));
  r.graphs.push_back(
      synthetic::make_graph("part@batch=1,fused", {both, norm, both}, {{}, {0}, {0, 1}}));
  r.graphs.push_back(synthetic::make_graph("part@batch=1,fused-norms", {product, normalized, both},
                                           {{}, {0}, {1}}));
  const auto set = [&r](std::size_t graph, std::size_t node, std::vector<int> parts,
                        std::vector<benanza::model::operand> operands) {
    r.graphs[graph].nodes[node].parts = std::move(parts);
    r.graphs[graph].nodes[node].operands = std::move(operands);
  };
  set(0, 0, {}, {{model_input}, {constant}});
  set(0, 1, {}, {{0}, {model_input}});
  set(0, 2, {}, {{1}, {constant}});
  set(0, 3, {}, {{2}, {constant}});
  set(0, 4, {}, {{1}, {3}});
  set(1, 0, {0, 1}, {{model_input}, {constant}, {model_input}});
  set(1, 1, {2}, {{0}, {constant}});
  set(1, 2, {3, 4}, {{1}, {constant}, {0}});
  set(2, 0, {0}, {{model_input}, {constant}});
  set(2, 1, {1, 2}, {{0}, {constant}, {model_input}});
  set(2, 2, {3, 4}, {{1}, {constant}, {1, 1}});
  r.graphs[1].unfused = r.graphs[2].unfused = r.graphs[0].name;
  for (const auto& [layer, ns] : {std::pair{product, 100e3},
                                  {sum, 10e3},
                                  {norm, 10e3},
                                  {both, 105e3},
                                  {normalized, normalized_sum_ns}})
    synthetic::add_laid(r, layer, "plain", 0, "plain", "plain", ns);
  return r;
}
} // namespace

TEST_CASE("of two fused forms the one with the lower bound counts") {
  const run r = stream_run(12e3);
  const model_bound b = analyse(r);
  REQUIRE(b.fused);
  CHECK(b.fused->graph->name == "part@batch=1,fused-norms");
  CHECK(b.bound.sequential.ns == 230e3);
  CHECK(b.fused->bound.sequential.ns == 100e3 + 12e3 + 105e3);
  CHECK(b.fused->layouts->bound->total.ns == 217e3);
  CHECK_FALSE(b.partial());
  // The sum is the second result of what the plan runs.
  const benanza::result::plan p = benanza::bound::plan_of(r, b, true);
  REQUIRE(p.graph.nodes.size() == 3);
  CHECK(benanza::model::write_operands(p.graph.nodes[2].operands) == "1 c 1.1");

  const run slower = stream_run(18e3);
  const model_bound other = analyse(slower);
  CHECK(other.fused->graph->name == "part@batch=1,fused");
  CHECK(other.fused->bound.sequential.ns == 105e3 + 10e3 + 105e3);
  // As its parts it has the sum from the addition again.
  run alone = stream_run(30e3);
  alone.graphs.erase(alone.graphs.begin() + 1);
  const model_bound parts = analyse(alone);
  CHECK(parts.fused->bound.sequential.ns == 100e3 + 10e3 + 10e3 + 105e3);
  const benanza::result::plan apart = benanza::bound::plan_of(alone, parts, true);
  REQUIRE(apart.graph.nodes.size() == 4);
  CHECK(benanza::model::write_operands(apart.graph.nodes[3].operands) == "2 c 1");
}

TEST_CASE("the bound is that of the rewritten graph where that was measured to be faster") {
  const run faster = synthetic::rewritten_run(60e3);
  const model_bound b = analyse(faster);
  CHECK(b.bound.sequential.ns == 100e3);
  REQUIRE(b.rewritten);
  CHECK(b.best_form().bound.sequential.ns == 60e3);
  CHECK(b.rewritten->graph->rewrites.size() == 1);
  CHECK_FALSE(b.partial());
  const run slower = synthetic::rewritten_run(140e3);
  const model_bound own = analyse(slower);
  CHECK_FALSE(own.rewritten);
  CHECK(&own.best_graph() == &own);
  const run lacks = synthetic::rewritten_run(0);
  const model_bound partly = analyse(lacks);
  CHECK_FALSE(partly.rewritten);
  CHECK(partly.partial());
  CHECK(partly.missing == std::vector<std::string>{"Conv/1x8x8x8-8x3x3-s2-p1"});
  CHECK(!partly.missing_command.empty());
  CHECK(std::find(partly.notes.begin(), partly.notes.end(),
                  "not all of the rewritten graph was measured: it sets no bound") !=
        partly.notes.end());
}

TEST_CASE("the order of entries, and whether they came in one file, mean nothing") {
  const run r = benanza::result::merge({synthetic::small_run()});
  run even = synthetic::small_run(), odd = even;
  even.measurements.clear();
  odd.measurements.clear();
  for (std::size_t i = 0; i < r.measurements.size(); ++i)
    (i % 2 == 0 ? even : odd).measurements.push_back(r.measurements[i]);
  std::reverse(odd.measurements.begin(), odd.measurements.end());
  const run both = benanza::result::merge({odd, even});
  const model_bound a = analyse(r), b = analyse(both);
  CHECK(a.bound.sequential.high_ns == b.bound.sequential.high_ns);
  CHECK(a.prediction.sequential.ns == b.prediction.sequential.ns);
  CHECK(a.prediction.parallel.low_ns == b.prediction.parallel.low_ns);
}

TEST_CASE("weights that fit a core's own cache are predicted from hot times") {
  run r = synthetic::small_run();
  const model_bound cold = analyse(r);
  r.provenance["machine"]["l2_bytes"] = std::to_string(cold.prepared_weight_bytes);
  const model_bound hot = analyse(r);
  CHECK(hot.weights.name() == "hot");
  CHECK(hot.prediction.sequential.ns < cold.prediction.sequential.ns);
  CHECK(hot.bound.sequential.ns == cold.bound.sequential.ns);
  CHECK(hot.layers[2].name == synthetic::conv);
  CHECK(hot.layers[2].algorithms.chosen->algorithm == "jit_wino_4x3:avx512_core");
  CHECK(cold.layers[2].algorithms.chosen->algorithm == "jit_wino_4x3:avx512_core");
  r.provenance["machine"]["l2_bytes"] = std::to_string(cold.prepared_weight_bytes - 1);
  CHECK(analyse(r).weights.name() == "coldw");
  r.provenance["machine"].erase("l2_bytes");
  CHECK(analyse(r).weights.name() == "coldw");
  CHECK(holds(analyse(r).notes, "own cache"));
}

TEST_CASE("workers: the cores that a layer leaves free") {
  run r = synthetic::small_run();
  for (measurement& m : r.measurements)
    m.threads = 2;
  const model_bound b = analyse(r, numeric::f32, 2);
  CHECK(b.workers == 1);
  CHECK(b.bound.reachable.ns == b.bound.sequential.ns);
  CHECK(b.assumption() == "each layer has the whole device to itself");
  r.provenance["machine"]["cores"] = "many";
  CHECK(analyse(r, numeric::f32, 2).workers == 1);
  CHECK(holds(analyse(r, numeric::f32, 2).notes, "how many cores"));
}

TEST_CASE("the number of workers can be asked for") {
  const run r = synthetic::small_run();
  const benanza::bound::source source(r);
  const model_bound b =
      benanza::bound::analyse(source, r.graphs[0], {numeric::f32, 1}, {.workers = 1});
  CHECK(b.workers == 1);
  CHECK(b.bound.reachable.ns == b.bound.sequential.ns);
}

TEST_CASE("no figure of the fused form is above that of the unfused one") {
  // Few samples that scatter, as algorithms have that were stopped early: what a way is chosen by
  // and what is reported of it differ.
  const auto of = [](const std::optional<benanza::bound::layout_solution>& l) {
    return l->total.ns;
  };
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    run r = synthetic::fused_run();
    synthetic::random dice{seed};
    for (measurement& m : r.measurements) {
      const double least = m.min_ns;
      m.samples_ns.clear();
      for (int i = 0; i < 4; ++i)
        m.samples_ns.push_back(least * (1 + 0.5 * dice.unit()));
      m.min_ns = 0;
      benanza::result::recompute(m);
    }
    const model_bound b = analyse(r);
    REQUIRE(b.fused);
    REQUIRE(b.fused->layouts->prediction);
    CHECK(of(b.fused->layouts->bound) <= of(b.layouts->bound));
    CHECK(of(b.fused->layouts->prediction) <= of(b.layouts->prediction));
    CHECK(b.fused->layouts->plain_prediction->ns <= b.layouts->plain_prediction->ns);
    for (auto totals :
         {&benanza::bound::form_figures::bound, &benanza::bound::form_figures::prediction})
      for (auto kind : {&benanza::bound::totals::sequential, &benanza::bound::totals::parallel,
                        &benanza::bound::totals::reachable})
        CHECK(((*b.fused).*totals.*kind).ns <= (b.*totals.*kind).ns * (1 + 1e-12));
  }
}

TEST_CASE("a slower layer never lowers a figure of its model") {
  const run r = synthetic::small_run();
  const model_bound before = analyse(r);
  for (const auto& layer : before.layers) {
    if (!layer.timed()) continue;
    run slower = r;
    for (measurement& m : slower.measurements)
      if (m.family + '/' + m.key == layer.name) {
        for (double& s : m.samples_ns)
          s *= 1.25;
        benanza::result::recompute(m);
        m.min_ns = *std::min_element(m.samples_ns.begin(), m.samples_ns.end());
      }
    const model_bound after = analyse(slower);
    CHECK(after.bound.sequential.ns > before.bound.sequential.ns);
    CHECK(after.bound.parallel.ns >= before.bound.parallel.ns);
    CHECK(after.bound.reachable.ns >= before.bound.reachable.ns);
    CHECK(after.prediction.sequential.ns > before.prediction.sequential.ns);
  }
}

TEST_CASE("on random models: parallel <= reachable <= sequential, as bound and as prediction") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    run r = synthetic::empty_run();
    r.graphs.push_back(synthetic::random_graph("g", 9, seed, 3));
    synthetic::random dice{seed};
    for (const auto& l : r.graphs[0].layers)
      synthetic::add(r, benanza::op::name(l), "a", 0, 1e3 * (1 + dice.unit()));
    const model_bound b = analyse(r);
    for (const auto& t : {b.bound, b.prediction}) {
      CHECK(t.parallel.ns <= t.reachable.ns);
      CHECK(t.reachable.ns <= t.sequential.ns * (1 + 1e-12));
    }
    CHECK(b.bound.sequential.ns <= b.prediction.sequential.ns);
  }
}

TEST_CASE("analysing takes far less time than a person notices") {
  // Of our own processor time: others may use it too. The least of three.
  const auto seconds = [](int layers) {
    const run r = synthetic::large_run(1, layers, 4, 20);
    double least = 1e30;
    for (int i = 0; i < 3; ++i) {
      const std::clock_t start = std::clock();
      (void)analyse(r);
      least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return least;
  };
  const double small = seconds(100), large = seconds(1000);
  MESSAGE("a model of 100 layers: " << 1e3 * small << " ms, of 1000: " << 1e3 * large << " ms");
  CHECK(large < 200 * std::max(small, 1e-5));
}
} // namespace test_of_model
