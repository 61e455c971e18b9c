// SPDX-License-Identifier: Apache-2.0
// Does the report say what the figures are, and what they rest on? The page of a small model with
// everything that can be wrong with it is compared with tests/golden/report_tiny.txt; to accept a
// new page, run with BENANZA_UPDATE_GOLDEN=1 and read the difference.
#include "../program.hpp"
#include "../result/synthetic.hpp"

#include "benanza/report/json.hpp"
#include "benanza/report/text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

using benanza::numeric;
using benanza::bound::model_bound;
using benanza::report::json_report;
using benanza::report::text_report;
using benanza::result::json;
using benanza::result::measurement;
using benanza::result::run;

/// The small model with a hole, a failed case, a disturbed one and a layer on a reference loop.
run bent_run() {
  run r = synthetic::small_run();
  r.graphs[0].nodes[5].layer = benanza::model::no_layer;
  r.graphs[0].nodes[5].op = "NonZero";
  r.graphs[0].nodes[5].problem = "how large its output is depends on values";
  std::erase_if(r.measurements, [](const measurement& m) { return m.family == "Softmax"; });
  for (measurement& m : r.measurements) {
    if (m.algorithm == "ref:any") m.error = "took longer than the limit of 10 s";
    if (m.key == "1x64x56x56-256x1x1-s1-b") m.disturbed = "another process used the CPU";
    if (m.family == "Relu") m.fallback = "ref";
  }
  std::erase_if(r.measurements,
                [](const measurement& m) { return m.key.starts_with("1x512x7x7"); });
  return r;
}

std::vector<model_bound> analyse(const run& r, std::vector<numeric> types = {numeric::f32}) {
  const benanza::bound::source source(r);
  std::vector<model_bound> out;
  for (const auto& g : r.graphs)
    for (numeric t : types)
      out.push_back(benanza::bound::analyse(source, g, {t, 1}));
  return out;
}

using benanza::test::holds;

void check_width(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    const bool command = line.find("    benanza_bench ") == 0;
    CHECK((line.size() <= benanza::report::columns || command));
    CHECK((line.empty() || line.back() != ' '));
  }
}

} // namespace

TEST_CASE("the page of a model with holes") {
  const run r = bent_run();
  const std::string text = text_report(r, analyse(r), {});
  check_width(text);
  const std::string path = BENANZA_SOURCE_FOLDER "/tests/golden/report_tiny.txt";
  if (std::getenv("BENANZA_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream in(path);
  const std::string golden{std::istreambuf_iterator<char>(in), {}};
  CHECK(text == golden);
}

TEST_CASE("a complete model has no warnings") {
  const run r = synthetic::small_run();
  const std::string text = text_report(r, analyse(r), {});
  check_width(text);
  CHECK(holds(text, "no node of 7 missing"));
  CHECK(holds(text, "- Views cost nothing: 1 Flatten."));
  CHECK_FALSE(holds(text, "! "));
  CHECK(holds(text, "assumes that there are unbounded"));
  CHECK(holds(text, "645w jit_wino_4x3"));
}

TEST_CASE("the page of a model with a fused form, layouts, ceilings and a run") {
  run r = synthetic::fused_run();
  measurement m = r.measurements.front();
  m.family = "model";
  m.key = "block@batch=1,fused";
  m.name = "model/block@batch=1,fused/f32/plan";
  m.samples_ns = {1.9e6, 2e6, 2.1e6};
  m.min_ns = 0;
  benanza::result::recompute(m);
  const auto part = [&m](std::string_view name, double ns) {
    m.parts.append(m.parts.empty() ? "" : "\n").append(name);
    m.parts_ns.push_back(ns);
  };
  part("onednn/jit:avx512_core node0", 800e3);
  part("onednn/jit:avx512_core node1", 109e3); // slower, but of no weight
  part("onednn/sum node2", 4e3);
  part("onednn/unheard_of node3", 5e5);
  part("reorders", 600e3);
  r.measurements.push_back(m);
  std::erase_if(r.measurements, [](const measurement& x) { return x.family == "Softmax"; });
  const benanza::bound::limits machine{[](const auto& l, numeric, int, std::int64_t flops) {
    return std::optional(
        benanza::bound::roof{static_cast<double>(benanza::op::cost(l).bytes(numeric::f32)) / 500 +
                             static_cast<double>(flops) / 1000});
  }};
  std::vector<model_bound> models;
  models.push_back(
      benanza::bound::analyse(benanza::bound::source(r, machine), r.graphs[0], {numeric::f32, 1}));
  const std::string text = text_report(r, models, {});
  check_width(text);
  const std::string path = BENANZA_SOURCE_FOLDER "/tests/golden/report_fused.txt";
  if (std::getenv("BENANZA_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream in(path);
  const std::string golden{std::istreambuf_iterator<char>(in), {}};
  CHECK(text == golden);

  const json a = json::parse(json_report(r, models, false))["analyses"][0];
  CHECK(a["fused"]["graph"] == "block@batch=1,fused");
  CHECK(a["fused"]["bound"]["sequential"]["ns"] == models[0].fused->bound.sequential.ns);
  CHECK(a["fused"]["layouts"]["prediction"]["exact"] == true);
  CHECK(a["layouts"]["bound"]["reorders"] == 2);
  CHECK(a["roofline"]["sequential"]["ns"] == models[0].roofline.sequential.ns);
  CHECK(a["runs"][0]["median_ns"] == 2e6);
  CHECK(a["runs"][0]["prediction_ns"] == a["expected"]["ns"]);
  CHECK(a["runs"][0]["disturbed"] == "");
  CHECK(a["runs"][0]["prediction_error"].get<double>() < -0.5);
  const json& parts = a["runs"][0]["parts"];
  CHECK(parts.back()["name"] == "reorders");
  CHECK(parts.back()["expected_ns"] == models[0].fused->layouts->prediction->changes.ns);
  CHECK(a["coverage"]["modelled_nodes"] == 1);
  CHECK(a["coverage"]["rooflines"][0]["name"] == "Softmax/1x64x56x56-a3");
}

TEST_CASE("a batch of several tells what each item takes, and how many that is a second") {
  run r = synthetic::fused_run();
  CHECK_FALSE(holds(text_report(r, analyse(r), {}), "items/s"));
  r.graphs[0].batch = r.graphs[1].batch = 8;
  measurement m = r.measurements.front();
  m.family = "model";
  m.key = "block@batch=1";
  m.samples_ns = {2e6};
  m.min_ns = 0;
  benanza::result::recompute(m);
  r.measurements.push_back(m);
  const auto models = analyse(r);
  const std::string text = text_report(r, models, {});
  check_width(text);
  CHECK(holds(text, "each item   bound 154 us, 6488 items/s; prediction "));
  CHECK(holds(text, "run         2.00 ms (4000 items/s) as one chain"));
  const json a = json::parse(json_report(r, models, false))["analyses"][0];
  CHECK(a["bound_rate"]["ns_per_item"].get<double>() == doctest::Approx(1233e3 / 8));
  CHECK(a["expected_rate"]["items_per_s"].get<double>() ==
        doctest::Approx(8e9 / a["expected"]["ns"].get<double>()));
  CHECK(a["runs"][0]["items_per_s"] == 4000);
}

TEST_CASE("without reorders there is no prediction, in no table") {
  run r = synthetic::fused_run();
  std::erase_if(r.measurements, [](const measurement& m) { return m.family == "reorder"; });
  const auto models = analyse(r);
  const std::string text = text_report(r, models, {});
  check_width(text);
  CHECK(
      holds(text, "layouts paid for\n  no prediction: reorders were not measured\n    all plain"));
  CHECK(holds(text, "PARTIAL     6 reorders were not measured."));
  CHECK(holds(text, "    benanza_bench --model block@batch=1 --benchmark_filter='^reorder/'"));
  const json a = json::parse(json_report(r, models, true))["analyses"][0];
  CHECK(a["expected"].is_null());
  CHECK(a["expected_rate"].is_null());
  CHECK(a["partial"] == true);
  CHECK(a["missing"].size() == 6);
  CHECK(a["missing_command"] == models[0].missing_command);
  r.graphs.push_back(synthetic::make_graph("b", {synthetic::relu}, {{}}));
  const std::string table = text_report(r, analyse(r), {.details = false});
  CHECK(holds(table, "         -  100.0 %     0\n"));
}

TEST_CASE("a command that nobody would copy reads its filter from a file") {
  run r = synthetic::large_run(1, 100, 1, 6);
  int n = 0;
  std::erase_if(r.measurements, [&](const measurement&) { return n++ % 4 < 2; });
  const auto models = analyse(r);
  CHECK(models[0].missing_command.size() > 800);
  const std::string text = text_report(r, models, {});
  check_width(text);
  CHECK(holds(text, "    benanza_analyze RESULT --missing missing.txt\n    benanza_bench --model "
                    "model0 --benchmark_filter=\"$(cat missing.txt)\" "
                    "--benchmark_out=missing.json\n"));
}

TEST_CASE("interference that hid behind the first calibration is told") {
  run r = synthetic::fused_run();
  const auto told = [&] {
    return holds(text_report(r, analyse(r), {}), "! interference was not seen when");
  };
  CHECK_FALSE(told());
  r.provenance["measuring"][benanza::result::begin_after_fact] = "0.3";
  CHECK(told());
}

TEST_CASE("a run is compared at its own clock too, where that is told") {
  run r = synthetic::fused_run();
  measurement m = r.measurements.front();
  m.family = "model";
  m.key = "block@batch=1";
  r.measurements.push_back(m);
  const auto of = [&] {
    const auto models = analyse(r);
    return std::pair(text_report(r, models, {}),
                     json::parse(json_report(r, models, false))["analyses"][0]["runs"][0]);
  };
  const auto [text, told] = of();
  CHECK_FALSE(holds(text, "at the clock of the run"));
  CHECK(told["prediction_at_clock_ns"].is_null());
  CHECK(told["prediction_error_at_clock"].is_null());
  CHECK_FALSE(json::parse(json_report(r, analyse(r), false))["analyses"][0]["expected"].contains(
      "still_ns"));
  for (measurement& of_layer : r.measurements)
    of_layer.clock_ns = 1000;
  r.measurements.back().clock_ns = 1100;
  const auto [clocked_text, clocked] = of();
  CHECK(holds(clocked_text, "at the clock of the run"));
  check_width(clocked_text);
  CHECK(clocked["prediction_ns"] == told["prediction_ns"]);
  CHECK(clocked["prediction_error"] == told["prediction_error"]);
  CHECK(clocked["prediction_at_clock_ns"] > told["prediction_ns"]);
  const json e = json::parse(json_report(r, analyse(r), false))["analyses"][0]["expected"];
  CHECK(e["still_ns"].get<double>() + 1000 * e["ns_per_clock_ns"].get<double>() ==
        doctest::Approx(e["ns"].get<double>()));
  CHECK(clocked["prediction_error_at_clock"].get<double>() ==
        doctest::Approx(clocked["prediction_at_clock_ns"].get<double>() / m.median_ns - 1));
  r.measurements.back().disturbed = "somebody else was there: wait";
  CHECK(of().second["prediction_error_at_clock"].is_null());
}

TEST_CASE("the report says how many of the weights it takes to have left the last cache") {
  run r = synthetic::fused_run();
  r.provenance["machine"]["l2_bytes"] = "1024";
  const auto all = analyse(r);
  CHECK(holds(text_report(r, all, {}), "from times with cold weights"));
  const json cold = json::parse(json_report(r, all, false))["analyses"][0];
  CHECK(cold["predicted_from"] == "coldw");
  CHECK(cold["weights_gone"] == 1);
  for (std::size_t i = 0, n = r.measurements.size(); i < n; ++i)
    if (r.measurements[i].state == "coldw") {
      r.measurements.push_back(r.measurements[i]);
      r.measurements.back().state = "llcw";
    }
  const std::int64_t reads = benanza::model::footprint_bytes(r.graphs[0], benanza::numeric::f32,
                                                             all[0].prepared_weight_bytes);
  r.provenance["measuring"]["last_cache_own_bytes"] = std::to_string(reads);
  const auto half = analyse(r);
  CHECK(holds(text_report(r, half, {}), "with weights of which 50 % left the last cache."));
  const json mixed = json::parse(json_report(r, half, false))["analyses"][0];
  CHECK(mixed["predicted_from"] == "llcw+coldw");
  CHECK(mixed["weights_gone"].get<double>() == doctest::Approx(0.5));
  CHECK(mixed["weights_gone_low"] == mixed["weights_gone"]); // others take nothing away
  const json& layers = mixed["layers"];
  CHECK(std::any_of(layers.begin(), layers.end(),
                    [](const json& l) { return l["prediction"]["state"] == "llcw+coldw"; }));
  r.provenance["measuring"]["last_cache_own_bytes"] = std::to_string(4 * reads);
  CHECK(holds(text_report(r, analyse(r), {}), "with weights that left all but the last cache"));
}

TEST_CASE("a run that was disturbed is not compared with the prediction") {
  run r = synthetic::fused_run();
  measurement m = r.measurements.front();
  m.family = "model";
  m.key = "block@batch=1";
  m.parts = "reorders";
  m.parts_ns = {1e9};
  m.disturbed = "somebody else was there: wait";
  r.measurements.push_back(m);
  const auto models = analyse(r);
  const std::string text = text_report(r, models, {});
  CHECK(holds(text, "no comparison"));
  CHECK(holds(text, "somebody else"));
  CHECK_FALSE(holds(text, "slower than predicted"));
  const json a = json::parse(json_report(r, models, false))["analyses"][0];
  CHECK(a["runs"][0]["disturbed"] == m.disturbed);
  CHECK(a["runs"][0]["prediction_error"].is_null());
}

TEST_CASE("layers far above their rooflines are ranked by the time that is lost") {
  run r = synthetic::small_run();
  for (measurement& m : r.measurements)
    if (m.family == "Relu") m.fallback = "host";
  // A roofline of a tenth for all layers.
  const benanza::bound::limits tenth{[&](const auto& l, numeric, int, std::int64_t) {
    double least = 0;
    for (const measurement& m : r.measurements)
      if (m.family + '/' + m.key == benanza::op::name(l) && (least == 0 || m.min_ns < least))
        least = m.min_ns;
    return least > 0 ? std::optional(benanza::bound::roof{least / 10}) : std::nullopt;
  }};
  const std::vector<model_bound> models{
      benanza::bound::analyse(benanza::bound::source(r, tenth), r.graphs[0], {numeric::f32, 1})};
  const auto lost = benanza::report::by_lost_time(models[0]);
  REQUIRE(lost.size() > 2);
  CHECK(lost[0].layer->name == synthetic::conv);
  CHECK(lost[0].uses == 2);
  CHECK(lost[0].lost_ns == doctest::Approx(2 * 0.9 * 350e3));
  for (std::size_t i = 1; i < lost.size(); ++i)
    CHECK(lost[i].lost_ns <= lost[i - 1].lost_ns);
  const std::string text = text_report(r, models, {});
  check_width(text);
  CHECK(holds(text, "Where the best algorithm stays far above the layer's roofline:"));
  CHECK(holds(text, "10.0 times the roofline"));
  CHECK(holds(text, "2 nodes run by plain kernels alone"));
  const json report = json::parse(json_report(r, models, false));
  CHECK(report["analyses"][0]["far_above_roofline"].size() == lost.size());
}

TEST_CASE("the first choices being best, there is nothing to choose") {
  run r = synthetic::small_run();
  std::erase_if(r.measurements, [](const measurement& m) { return m.algorithm_index != 0; });
  const std::string text = text_report(r, analyse(r), {});
  CHECK(holds(text, "the library's first choices are as good as any"));
  CHECK_FALSE(holds(text, "Where another algorithm"));
}

TEST_CASE("tables show so many rows and say how many they leave out") {
  const run r = synthetic::large_run(1, 40, 2, 6);
  const auto models = analyse(r);
  const auto rows = [&](std::size_t limit) {
    const std::string text = text_report(r, models, {.layers = limit});
    check_width(text);
    std::size_t n = 0;
    for (std::size_t at = text.find("  Conv/"); at != std::string::npos;
         at = text.find("  Conv/", at + 1))
      ++n;
    return n;
  };
  CHECK(rows(10) < 30);
  CHECK(rows(benanza::report::all_layers) >= 40);
  CHECK(holds(text_report(r, models, {.layers = 10}), "and 30 more layers (--layers all"));
  CHECK_FALSE(holds(text_report(r, models, {.layers = 0}), "and 0 more"));
}

TEST_CASE("several models: a line each, pages only where asked for") {
  run r = synthetic::small_run();
  r.graphs.push_back(r.graphs[0]);
  r.graphs[1].name = "a-model-of-which-the-name-is-long@batch=128";
  r.graphs[1].nodes[0].layer = benanza::model::no_layer;
  const auto models = analyse(r, {numeric::f32, numeric::bf16});
  const std::string brief = text_report(r, models, {.details = false});
  check_width(brief);
  CHECK(holds(brief, "tiny@batch=1         f32     1 1.54 ms"));
  CHECK(holds(brief, "--model NAME"));
  CHECK_FALSE(holds(brief, "GFLOP/s"));
  const std::string pages = text_report(r, models, {});
  check_width(pages);
  CHECK(holds(pages, "tiny@batch=1  batch 1  bf16  1 thread"));
  CHECK(holds(pages, "Not measured in bf16, so taken in f32: "));
}

TEST_CASE("the JSON says the same under fixed names") {
  const run r = bent_run();
  const auto models = analyse(r);
  const json out = json::parse(json_report(r, models, true));
  CHECK(out["schema"] == 1);
  CHECK(out["status"] == "partial");
  CHECK(out["provenance"]["machine"]["cpu"] == "Test CPU 9000");
  REQUIRE(out["analyses"].size() == 1);
  const json& a = out["analyses"][0];
  CHECK(a["model"] == "tiny@batch=1");
  CHECK(a["partial"] == true);
  CHECK(a["parallel_assumption"] == "unbounded workers");
  CHECK(a["bound"]["sequential"]["ns"] == models[0].bound.sequential.ns);
  CHECK(a["prediction"]["reachable"]["high_ns"] == models[0].prediction.reachable.high_ns);
  CHECK(a["bound"]["path_nodes"] == json(models[0].bound.longest.nodes));
  CHECK(a["views"]["Flatten"] == 1);
  CHECK(a["coverage"]["holes"].size() == 2);
  CHECK(a["coverage"]["holes"][0]["command"] ==
        "benanza_bench --benchmark_filter='^Conv/1x512x7x7-2048x1x1-s1-b/'");
  CHECK(a["failed_cases"] == 2);
  CHECK(a["disturbed"][0]["layer"] == synthetic::wide);
  double shares = 0;
  for (const json& l : a["layers"])
    shares += l.value("share", 0.0);
  CHECK(shares == doctest::Approx(1));
  CHECK(json::parse(json_report(r, models, false))["status"] == "complete");
}

TEST_CASE("nothing that steers a terminal gets to a page or into the JSON as it is") {
  run r = synthetic::small_run();
  const std::string evil = "evil\u009b31m\u202e\x1b]0;x\a" + std::string(5000, 'x');
  r.graphs[0].name = evil;
  r.provenance["machine"]["cpu"] = evil;
  for (int i = 0; i < 100; ++i)
    r.provenance["software"]["lib" + std::to_string(i) + "_version"] = evil;
  for (measurement& m : r.measurements)
    m.algorithm = evil + m.algorithm;
  std::vector<model_bound> models = analyse(r);
  models.back().notes.push_back(evil);
  const std::string page = text_report(r, models, {}), document = json_report(r, models, false);
  for (const std::string& text : {page, document})
    for (const char* bad : {"\u009b", "\u202e", "\x1b", "\a"})
      CHECK(text.find(bad) == std::string::npos);
  CHECK(page.size() < 50'000);
  CHECK(document.find("evil\\u009b31m\\u202e\\u001b]0;x\\u0007xxx") != std::string::npos);
}

TEST_CASE("text that is no UTF-8 does not break the JSON") {
  run r = bent_run();
  r.graphs[0].name = "bad \xff name\x1b[2J";
  CHECK(json::accept(json_report(r, analyse(r), true)));
  CHECK_FALSE(holds(text_report(r, analyse(r), {}), "\x1b"));
}
