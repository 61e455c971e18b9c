// SPDX-License-Identifier: Apache-2.0
// Is a step of training never taken for a run of the model, and does its bound add up?
#include "analyzer/report/screen.hpp"
#include "analyzer/training/page.hpp"
#include "pages.hpp"

#include <benanza/bound/layout/plan.hpp>
#include <benanza/model/training.hpp>
#include <doctest/doctest.h>

namespace test_of_training_steps {
using namespace benanza;
using benanza::test::holds;
using doctest::Approx;

/// Two convolutions and a Relu; forward 100 us each, by activations 110, by weights 150.
result::run trained() {
  result::run r = synthetic::empty_run();
  const std::string conv = "Conv/1x64x56x56-64x3x3-s1-p1";
  model::graph g =
      synthetic::make_graph("net@batch=1", {conv, "Relu/1x64x56x56", conv}, {{}, {0}, {1}});
  g.model = "net";
  g.nodes[0].operands = {{model::model_input}, {model::constant}};
  g.nodes[1].operands = {{0}};
  g.nodes[2].operands = {{1}, {model::constant}};
  r.graphs.push_back(model::training_step(g));
  synthetic::add(r, conv, "jit", 0, 100e3);
  synthetic::add(r, "ConvTranspose/1x64x56x56-64x3x3-s1-p1", "jit", 0, 110e3);
  synthetic::add(r, "ConvWeightGradient/1x64x56x56-64x3x3-s1-p1", "jit", 0, 150e3);
  return r;
}

TEST_CASE("the lower bound of a step is the sum of its parts") {
  const result::run r = trained();
  const auto all = pages::analyse(r);
  REQUIRE(all.size() == 1);
  const auto step = report::step_times_of(all[0]);
  REQUIRE(step);
  CHECK(step->forward_ns + step->by_activations_ns + step->by_weights_ns ==
        Approx(all[0].bound.sequential.ns));
  CHECK(step->by_weights_ns > step->forward_ns);
  CHECK(step->by_activations_ns < step->forward_ns); // none by the model's input
  CHECK_FALSE(report::step_times_of(pages::analyse(synthetic::small_run())[0]));

  const std::string text = pages::text_report(r, all, {});
  for (const char* part : {"expected, products alone", "products forward",
                           "gradients by activations", "gradients by weights", "are left out"})
    CHECK_MESSAGE(holds(text, part), part, "\n", text);
  const bound::source source(r);
  const auto advised = advice::advise_all(source, all, {});
  CHECK(holds(report::first_screen(r, advised[0]), "are left out"));
  const std::string details = pages::text_report(r, all, {.details = true});
  const std::string remark = all[0].graph->assumptions.back().substr(0, 30);
  REQUIRE(holds(details, remark));
  CHECK(details.find(remark) == details.rfind(remark));
  CHECK_FALSE(holds(text, "expected run "));
  CHECK_FALSE(holds(text, "measure_framework"));
}

TEST_CASE("a step is no run: it has no plan, and no framework's profile is one of it") {
  const result::run r = trained();
  const auto all = pages::analyse(r);
  CHECK_THROWS_WITH_AS(bound::plan_of(r, all[0], false), doctest::Contains("step of training"),
                       error);
  trace::profile p;
  p.source = "ort.json";
  p.model = "net";
  p.framework = "onnxruntime";
  const bound::source s(r);
  CHECK_THROWS_AS(advice::advise_all(s, all, {p}), error);
}
} // namespace test_of_training_steps
