// SPDX-License-Identifier: Apache-2.0
// Does a plan name what the prediction rests on, as a graph that can be run as it is?
#include "result/synthetic.hpp"

#include <benanza/bound/layout/plan.hpp>
#include <benanza/bound/model.hpp>
#include <benanza/result/parts.hpp>
#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using benanza::numeric;
using benanza::bound::model_bound;
using benanza::bound::plan_of;
using benanza::bound::source;
using benanza::result::measurement;
using benanza::result::plan;
using benanza::result::plan_step;
using benanza::result::run;

plan make_plan(const run& r, bool fused) {
  return plan_of(r, benanza::bound::analyse(source(r), r.graphs[0], {numeric::f32, 1}), fused);
}

std::string refusal(const run& r, bool fused) {
  try {
    (void)make_plan(r, fused);
  } catch (const benanza::error& e) {
    return e.what();
  }
  return {};
}

std::vector<std::string> layers(const plan& p) {
  std::vector<std::string> out;
  for (const auto& n : p.graph.nodes)
    out.emplace_back(benanza::op::family(p.graph.layers[static_cast<std::size_t>(n.layer)]));
  return out;
}

} // namespace

TEST_CASE("an unfused plan is the model's graph with a step a node") {
  const run r = synthetic::fused_run();
  const plan p = make_plan(r, false);
  CHECK(p.graph.name == "block@batch=1");
  CHECK(p.graph.layers == r.graphs[0].layers);
  REQUIRE(p.steps.size() == 6);
  CHECK(p.steps[0] == plan_step{"onednn", "jit:avx512_core", "blocked16", "blocked16"});
  CHECK(p.steps[1] == plan_step{"onednn", "eltwise", "blocked16", "blocked16"});
  CHECK(p.steps[3] == plan_step{"onednn", "sum", "blocked16,blocked16", "blocked16"});
  CHECK(p.steps[5] == plan_step{"onednn", "plain", "plain", "plain"});
  CHECK(p.bound_ns < p.prediction_ns);
  CHECK(p.prediction_low_ns <= p.prediction_ns);
  CHECK(p.prediction_ns <= p.prediction_high_ns);
  CHECK(p.provenance == r.provenance);
}

TEST_CASE("the parts of a chain run are compared with all that the prediction is made of") {
  for (const bool fused : {false, true}) {
    run r = synthetic::fused_run();
    const plan p = make_plan(r, fused);
    measurement m = r.measurements.front();
    m.family = "model";
    m.key = p.graph.name;
    for (std::size_t i = 0; i < p.steps.size(); ++i)
      m.parts.push_back({benanza::result::part_name(p.steps[i].backend, p.steps[i].algorithm,
                                                    p.graph.nodes[i].name),
                         1000 + static_cast<double>(i)});
    m.parts.push_back({"nobody/knows me", 1});
    m.parts.push_back({"reorders", 2});
    r.measurements.push_back(m);
    const model_bound b = benanza::bound::analyse(source(r), r.graphs[0], {numeric::f32, 1});
    REQUIRE(b.runs.size() == 1);
    const auto& parts = b.runs[0].parts;
    REQUIRE(parts.size() == p.steps.size() + 1);
    double sum = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      sum += parts[i].expected_ns;
      CHECK(parts[i].ns == (i < p.steps.size() ? 1000 + static_cast<double>(i) : 2));
    }
    CHECK(sum == doctest::Approx(p.prediction_ns));

    // At another clock they add up to what is then expected of the whole.
    for (measurement& layer : r.measurements)
      layer.clock_ns = 1000;
    r.measurements.back().clock_ns = 1200;
    const model_bound faster = benanza::bound::analyse(source(r), r.graphs[0], {numeric::f32, 1});
    double slower_sum = 0;
    for (const auto& part : faster.runs[0].parts)
      slower_sum += part.expected_ns;
    CHECK(slower_sum > 1.05 * sum);
    const auto& form =
        fused ? static_cast<const benanza::bound::form_figures&>(*faster.fused) : faster;
    CHECK(slower_sum ==
          doctest::Approx(*benanza::bound::expected_at_clock(form, r.measurements.back())));
  }
}

TEST_CASE(
    "a fused plan splits the nodes that are faster as their parts, and says where they read") {
  run r = synthetic::fused_run();
  for (measurement& m : r.measurements)
    if (m.family == "Conv+Relu") // by more than its samples scatter
      for (double& ns : m.samples_ns)
        ns *= 0.9;
  const plan p = make_plan(r, true);
  CHECK(p.graph.name == "block@batch=1,fused");
  CHECK(layers(p) == std::vector<std::string>{"Conv+Relu", "Conv", "Add", "Relu", "Softmax"});
  const auto& n = p.graph.nodes;
  CHECK(n[1].inputs == std::vector<int>{0});
  CHECK(n[2].inputs == std::vector<int>{0, 1});
  CHECK(n[2].operands == std::vector<benanza::model::operand>{{1}, {0}});
  CHECK(n[4].inputs == std::vector<int>{3});
  CHECK(n[0].parts == std::vector<int>{0, 1});
  CHECK(n[3].parts == std::vector<int>{4});
  CHECK(p.steps[0].algorithm == "jit:avx512_core");
}

TEST_CASE("a join that is faster as one stays one") {
  run r = synthetic::fused_run();
  for (measurement& m : r.measurements)
    if (m.family == "Conv+Add+Relu")
      for (double& ns : m.samples_ns)
        ns /= 2;
  CHECK(layers(make_plan(r, true)) ==
        std::vector<std::string>{"Conv+Relu", "Conv+Add+Relu", "Softmax"});
}

TEST_CASE("there is no plan for what was not measured") {
  run r = synthetic::fused_run();
  std::erase_if(r.measurements, [](const measurement& m) { return m.family == "Add"; });
  CHECK(refusal(r, false).find("no time was measured for Add/1x64x56x56") != std::string::npos);
  CHECK(refusal(synthetic::small_run(), false).find("layouts are not known") != std::string::npos);
  r = synthetic::fused_run();
  std::erase_if(r.measurements, [](const measurement& m) {
    return m.family == "reorder" || m.algorithm == "gemm:jit";
  });
  CHECK(refusal(r, true).find("reorder") != std::string::npos);
}
