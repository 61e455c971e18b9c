// SPDX-License-Identifier: Apache-2.0
// benanza_analyze coldstart: the command around load/page.hpp.
#include "command.hpp"
#include "result/document.hpp"

#include <doctest/doctest.h>

namespace {
using benanza::test::analyze;
using benanza::test::holds;

std::string loaded_once() {
  benanza::result::run r = synthetic::fused_run();
  benanza::result::measurement m = r.measurements.front();
  m.family = "model";
  m.key = "block@batch=1";
  m.backend = "load";
  m.algorithm = "read";
  m.state = "warm";
  m.name = "model/block@batch=1/f32/load/read/warm/t1";
  r.measurements.push_back(m);
  return synthetic::text(r);
}
} // namespace

TEST_CASE("coldstart says in one line what to measure") {
  const auto page = analyze({"coldstart"}, loaded_once());
  CHECK(page.status == 1);
  CHECK(holds(page.out, "block@batch=1"));
  CHECK(holds(page.err, "--plan PLAN --load"));
  CHECK(analyze({"coldstart", "--strict"}, loaded_once()).status == 2);
  const auto json = analyze({"coldstart", "--format", "json"}, loaded_once());
  CHECK(nlohmann::json::parse(json.out).at("cold_starts").size() == 1);
}

TEST_CASE("coldstart refuses what holds no load, no such model and odd options") {
  const auto none = analyze({"coldstart"}, synthetic::text(synthetic::fused_run()));
  CHECK(none.status == 2);
  CHECK(none.out.empty());
  CHECK(holds(none.err, "no time of loading a model"));
  CHECK(holds(analyze({"coldstart", "--model", "vgg"}, loaded_once()).err, "--model vgg"));
  CHECK(analyze({"coldstart", "--odd"}, loaded_once()).status == 2);
  CHECK(holds(analyze({"coldstart", "--help"}).out, "--format"));
}

TEST_CASE("a load is no run of the model: it faults no bound") {
  const auto page = analyze({}, loaded_once());
  CHECK_FALSE(holds(page.out, "faster than the bound"));
}
