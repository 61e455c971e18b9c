// SPDX-License-Identifier: Apache-2.0
// Does a plan come back as it was written, and is what is no plan refused in one line?
#include "synthetic.hpp"

#include <benanza/result/plan.hpp>

#include <nlohmann/json.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <string>

namespace model = benanza::model;

namespace {

using benanza::result::json;
using benanza::result::ordered_json;
using benanza::result::plan;
using benanza::result::read_plan;
using benanza::result::to_json;

plan small_plan() {
  const auto r = synthetic::small_run();
  plan p;
  p.graph = r.graphs[0];
  p.threads = 2;
  p.type = benanza::numeric::bf16;
  p.bound_ns = 1e6;
  p.prediction_ns = 1.25e6;
  p.prediction_low_ns = 1.2e6;
  p.prediction_high_ns = 1.3e6;
  p.provenance = r.provenance;
  for (const auto& n : p.graph.nodes) {
    if (n.op == "Flatten")
      p.steps.emplace_back();
    else
      p.steps.push_back({"onednn", "jit:avx512_core", "blocked16,plain", "blocked16"});
  }
  return p;
}

/// The refusal of the small plan after a change to its document; empty if it was not refused.
std::string refusal(const std::function<void(ordered_json&)>& change) {
  ordered_json j = to_json(small_plan());
  change(j);
  try {
    (void)read_plan(j.dump(), "plan.json");
  } catch (const benanza::error& e) {
    return e.what();
  }
  return {};
}

void refused(const std::function<void(ordered_json&)>& change, const std::string& part) {
  const std::string said = refusal(change);
  CAPTURE(said);
  CHECK(said.find(part) != std::string::npos);
  CHECK(said.find("plan.json") != std::string::npos);
  CHECK(said.find('\n') == std::string::npos);
}

} // namespace

TEST_CASE("a plan comes back as it was written") {
  plan p = small_plan();
  p.graph.nodes[2].operands = {{1}, {0}, {model::constant}};
  p.graph.nodes[2].inputs = {0, 1};
  p.graph.nodes[2].parts = {3, 4};
  const plan back = read_plan(to_json(p).dump(1), "plan.json");
  CHECK(to_json(back) == to_json(p));
  CHECK(back.graph.nodes[2].operands == p.graph.nodes[2].operands);
  CHECK(back.graph.nodes[2].inputs == p.graph.nodes[2].inputs);
  CHECK(back.graph.nodes[2].parts == p.graph.nodes[2].parts);
  CHECK(back.steps == p.steps);
  CHECK(back.graph.layers == p.graph.layers);
  CHECK(back.type == p.type);
  CHECK(back.threads == 2);
  CHECK(back.prediction_low_ns == 1.2e6);
  CHECK(back.provenance == p.provenance);
  CHECK(back.steps[6] == benanza::result::plan_step{});
}

TEST_CASE("a view may say in which layout it hands on what it reads") {
  const auto view = [](ordered_json& j) {
    j["steps"][6] = {{"operand_layouts", "plain"}, {"result_layout", "plain"}};
  };
  CHECK(refusal(view).empty());
}

TEST_CASE("what is no plan is refused with its place") {
  using change = ordered_json;
  refused([](change& j) { j = change::array(); }, "not a plan");
  refused([](change& j) { j.erase("benanza_plan"); }, "not a plan");
  refused([](change& j) { j["benanza_plan"] = 2; }, "schema 2");
  refused([](change& j) { j["type"] = "f33"; }, "type");
  refused([](change& j) { j["type"] = 32; }, "type");
  refused([](change& j) { j.erase("type"); }, "type");
  refused([](change& j) { j["threads"] = 0; }, "threads");
  refused([](change& j) { j["threads"] = 1e30; }, "threads");
  refused([](change& j) { j["threads"] = std::numeric_limits<std::uint64_t>::max(); }, "threads");
  refused([](change& j) { j.erase("threads"); }, "lacks \"threads\"");
  refused([](change& j) { j["bound_ns"] = -1; }, "bound_ns");
  refused([](change& j) { j["prediction_ns"] = "fast"; }, "prediction_ns");
  refused([](change& j) { j["bound_ns"] = 1e308; }, "bound_ns");
  refused([](change& j) { j["prediction_low_ns"] = 2e6; }, "outside its interval");
  refused([](change& j) { j["provenance"].erase("machine"); }, "machine");
  refused([](change& j) { j["provenance"] = 1; }, "provenance");
  refused([](change& j) { j["provenance"]["machine"] = 1; }, "provenance");
  refused([](change& j) { j["provenance"]["machine"]["cores"] = 2; }, "provenance");
  refused([](change& j) { j.erase("graph"); }, "lacks \"graph\"");
  refused([](change& j) { j["graph"]["nodes"][2][2] = 99; }, "layer that the graph does not have");
  refused([](change& j) { j["graph"]["nodes"][2][2] = -1; }, "has no layer");
  refused([](change& j) { j.erase("steps"); }, "lacks \"steps\"");
  refused([](change& j) { j["steps"].erase(3); }, "one step for each node");
  refused([](change& j) { j["steps"][1] = "jit"; }, "node \"node1\"");
  refused([](change& j) { j["steps"][1].erase("algorithm"); }, "no algorithm");
  refused([](change& j) { j["steps"][1]["backend"] = 7; }, "backend");
  refused([](change& j) { j["steps"][6]["backend"] = "host"; }, "view");
  refused([](change& j) { j["steps"][1].erase("result_layout"); }, "lacks its layouts");
  refused([](change& j) { j["steps"][1]["result_layout"] = "diagonal"; }, "\"diagonal\"");
  refused([](change& j) { j["steps"][1]["result_layout"] = "any"; }, "\"any\"");
  refused([](change& j) { j["steps"][1]["operand_layouts"] = "plain,,plain"; }, "\"\"");
}

TEST_CASE("a plan that is nested without end is refused before it is read") {
  const std::string deep = std::string(90'000, '[') + std::string(90'000, ']');
  try {
    (void)read_plan("{\"benanza_plan\": " + deep + "}", "plan.json");
    FAIL("a nested plan was read");
  } catch (const benanza::error& e) {
    CHECK(std::string(e.what()).find("nested deeper than 64 levels (plan.json)") == 12);
  }
}

TEST_CASE("a plan that was cut off anywhere is refused") {
  const std::string text = to_json(small_plan()).dump();
  for (std::size_t n = 0; n < text.size(); n += 1 + n / 50)
    CHECK_THROWS_AS((void)read_plan(text.substr(0, n), "plan.json"), benanza::error);
}
