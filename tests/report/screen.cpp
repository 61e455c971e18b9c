// SPDX-License-Identifier: Apache-2.0
// Does the first screen answer what a person asks, in 35 lines of 80 columns, and do the sections
// behind it add up?
#include "analyzer/report/screen.hpp"
#include "analyzer/report/kinds.hpp"
#include "analyzer/report/layers.hpp"
#include "pages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace test_of_screen {
using namespace pages;
using benanza::advice::advise_all;
using benanza::advice::advised;
using benanza::bound::source;
using benanza::trace::profile;

profile slow_framework() {
  profile p{.source = "ort.json", .framework = "onnxruntime", .version = "1.32.0"};
  p.model = "block";
  p.threads = 1;
  p.latency_ns = {1.40e6, 1.41e6, 1.43e6};
  const std::vector<std::pair<const char*, double>> ran{
      {"node0", 900},  {"reorder", 30}, {"node1", 9.2},  {"node2", 110},
      {"node3", 15.2}, {"node4", 9.2},  {"node5", 200.0}};
  for (const auto& [name, us] : ran) {
    p.operators.push_back(
        {.name = name, .type = std::string(name) == "reorder" ? "ReorderInput" : "Op"});
    p.operators.back().ns = {us * 1000, us * 1000};
  }
  return p;
}

TEST_CASE("the first screen has at most 35 lines, of 80 columns where the terminal has no more") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> models{analyse(r)[0]};
  for (const bool beside : {false, true}) {
    const std::vector<profile> profiles(beside ? 1 : 0, slow_framework());
    const std::vector<advised> all = advise_all(s, models, profiles);
    const std::string text = benanza::report::first_screen(r, all[0], 80);
    check_width(text);
    CHECK(std::count(text.begin(), text.end(), '\n') <= 35);
    CHECK(holds(text, "expected run"));
    CHECK(holds(text, "lower bound"));
    CHECK(holds(text, "Where the time of the best run goes"));
    CHECK(holds(text, "Sure?"));
    CHECK(holds(text, "ONNX Runtime 1.32.0") == beside);
  }
}

TEST_CASE("a framework's run: what it is faster in first, then the steps, then what it loses") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> models{analyse(r)[0]};
  const std::vector<profile> profiles{slow_framework()};
  const std::vector<advised> all = advise_all(s, models, profiles);
  const std::string text =
      benanza::report::text_report(r, all, models, {.advice = true, .columns = 80});
  check_width(text);
  check_golden(text, "report_framework.txt");
  const std::size_t faster = text.find("a fault of ours"), steps = text.find("From the run of");
  CHECK(faster < steps);
  CHECK(steps < text.find("best algorithm layer", steps));
  CHECK(holds(text, "Added by the framework: 1 ReorderInput 30.0 us."));

  const json a = json::parse(json_report(r, models, false, all))["analyses"][0];
  CHECK(a["frameworks"][0]["bars"][0]["id"] == "between_operators");
  CHECK(a["frameworks"][0]["operators"].size() == 6);
  CHECK(a["frameworks"][0]["added"][0]["type"] == "ReorderInput");
  REQUIRE(!a["advice"]["items"].empty());
  for (const json& i : a["advice"]["items"])
    for (const char* field :
         {"id", "kind", "what", "do", "saves", "leads_to", "assumes", "costs", "check", "evidence"})
      CHECK(i.contains(field));
  CHECK(a["advice"]["run"] == "ONNX Runtime 1.32.0");
  CHECK(a["advice"]["run_supposed"] == false);
  CHECK(a["advice"]["items"][0]["do"]["who"] == "makers");
  CHECK(a["advice"]["not_measured"][0]["what"] == "more than 1 thread, of 2 cores");
}

TEST_CASE("whether a framework runs branches side by side is said where its profile shows it") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> models{analyse(r)[0]};
  for (const std::optional<bool> told : {std::optional<bool>(), {true}, {false}}) {
    std::vector<profile> profiles{slow_framework()};
    profiles[0].overlapping = told;
    const std::vector<advised> all = advise_all(s, models, profiles);
    const std::string text =
        benanza::report::text_report(r, all, models, {.advice = true, .columns = 80});
    CHECK(holds(text, "no branches side by side") == (told == false));
    CHECK(holds(text, "Operators ran at the same time") == (told == true));
    const json a = json::parse(json_report(r, models, false, all))["analyses"][0];
    CHECK(a["frameworks"][0]["overlapping"] == (told ? json(*told) : json()));
  }
}

TEST_CASE(
    "what one can do comes first, with how; then what makers can do, and what is not worth it") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> models{analyse(r)[0]};
  std::vector<profile> profiles{slow_framework(), slow_framework()};
  profiles[1].framework = "openvino";
  profiles[1].version = "2026.4";
  profiles[1].latency_ns = {1.31e6, 1.31e6, 1.31e6};
  const std::vector<advised> all = advise_all(s, models, profiles);
  const std::string text = benanza::report::first_screen(r, all[0]);
  check_width(text);
  const std::size_t you = text.find("What you can do"),
                    switched = text.find(" 1 OpenVINO 2026.4: 1.41 ms -> 1.31 ms (run the model"),
                    makers = text.find("What only the makers of ONNX Runtime can do"),
                    no_way = text.find("No way is known today"), not_worth = text.find("Not worth");
  CHECK(you < switched);
  CHECK(switched < makers);
  CHECK(makers < no_way);
  CHECK(no_way < not_worth);
  CHECK(not_worth < text.size());
  CHECK(holds(text, "Not measured: more than 1 thread, of 2 cores. This does:\n"
                    "    benanza_bench --model block@batch=1 --threads 1,2"));
}

TEST_CASE("the layers on the first page are those of the run above them, by the times of a run") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> models{analyse(r)[0]};
  const std::string text =
      benanza::report::text_report(r, advise_all(s, models, {}), models, text_options{});
  check_width(text);
  const std::size_t table = text.find("Layers of that run, fused, with caches as in a run:");
  REQUIRE(table != text.npos);
  CHECK(text.find("uses path", table) == text.npos);
  double sum = 0, kinds = 0;
  for (const auto& l : benanza::report::layers_in_run(models[0])) {
    CHECK(text.find(l.layer->name, table) != text.npos);
    sum += l.ns;
  }
  for (const auto& k : benanza::report::operator_kinds(models[0]))
    kinds += k.ns;
  REQUIRE(models[0].fused->layouts->prediction);
  const auto& run = *models[0].fused->layouts->prediction;
  CHECK(sum + run.changes.ns == doctest::Approx(run.total.ns));
  CHECK(kinds == doctest::Approx(run.total.ns));
}

TEST_CASE("a profiler that slowed a run much is said above the rows, in every format") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> models{analyse(r)[0]};
  std::vector<profile> profiles{slow_framework()};
  profiles[0].profiled_ns = {3.2e6};
  for (auto& o : profiles[0].operators)
    for (double& ns : o.ns)
      ns *= 2;
  const std::vector<advised> all = advise_all(s, models, profiles);
  const std::string text = benanza::report::text_report(r, all, models, text_options{});
  check_width(text);
  const std::size_t said = text.find("The profiler of ONNX Runtime");
  CHECK(said < text.find("From the run of"));
  CHECK(holds(json_report(r, models, false, all), "made all of its runs longer"));
}

TEST_CASE("a bound that a framework beats is said to be wrong") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> models{analyse(r)[0]};
  std::vector<profile> profiles{slow_framework()};
  profiles[0].latency_ns = {0.5e6, 0.6e6};
  const std::vector<advised> all = advise_all(s, models, profiles);
  CHECK(holds(benanza::report::first_screen(r, all[0]), "beats the lower bound, so that is wrong"));
}

TEST_CASE("a framework that is below the bound by less exact Winograds is compared with those") {
  run r = synthetic::fused_run();
  for (measurement& m : r.measurements)
    m.type = m.equivalence = "f16";
  const auto said = [&](double least_ns) {
    const source s(r);
    const std::vector<model_bound> models{
        benanza::bound::analyse(s, r.graphs[0], {numeric::f16, 1}, {.workers = 1})};
    std::vector<profile> profiles{slow_framework()};
    profiles[0].latency_ns = {least_ns, least_ns};
    profiles[0].operators[0].kernel = "cudnn::winograd_nonfused::winogradForwardData4x4";
    std::string text = benanza::report::first_screen(r, advise_all(s, models, profiles)[0]);
    for (std::size_t at = 0; (at = text.find("\n  ", at)) != text.npos;)
      text.replace(at, 3, " ");
    return text;
  };
  CHECK(holds(said(1.1e6), "is below the lower bound by Winograd kernels (1 operator), which are"));
  CHECK(holds(said(1.1e6), "less exact than f16: none that is faster was measured here."));
  synthetic::add(r, synthetic::conv, "winograd", 9, 500e3, 1.1, "f16");
  for (measurement& m : r.measurements)
    if (m.algorithm == "winograd") m.equivalence = "f16-winograd";
  CHECK(holds(said(1.1e6), "with f16-winograd the bound is 1.04 ms."));
  CHECK_FALSE(holds(said(1.1e6), "wrong"));
  CHECK(holds(said(1.0e6), "it beats that too, so that is wrong"));
  CHECK_FALSE(holds(said(1.4e6), "below the lower bound"));
}

TEST_CASE("dims that were said are in the heading, on every page") {
  run r = synthetic::fused_run();
  for (benanza::model::graph& g : r.graphs)
    g.dims = {{"past", 512}, {"se\x1bq", 1}};
  const std::vector<model_bound> models = analyse(r);
  CHECK(holds(text_report(r, models, {}), "batch 1, past=512, se?q=1  f32"));
  const json report = json::parse(json_report(r, models, false));
  CHECK(report["analyses"][0]["dims"] == json{{"past", 512}, {"se\x1bq", 1}});
}

TEST_CASE(
    "a heading is cut where the terminal is narrow alone; changes go on below, and lose nothing") {
  run r = synthetic::fused_run();
  r.provenance["machine"]["cpu"] = std::string(100, 'x') + " end";
  const source s(r);
  const std::vector<model_bound> models{analyse(r)[0]};
  std::vector<advised> all = advise_all(s, models, {});
  REQUIRE_FALSE(all[0].list.items.empty());
  all[0].list.items[0].what = std::string(100, 'y') + " end";
  const auto screen = [&](std::size_t columns) {
    return benanza::report::first_screen(r, all[0], columns);
  };
  check_width(screen(80));
  check_width(screen(20)); // it has its least width
  CHECK(holds(screen(80), "xxx..."));
  CHECK(holds(screen(0), "xxx end"));
  for (const std::size_t terminal : {0U, 20U, 80U, 200U}) {
    const std::string text = screen(terminal);
    CHECK(holds(text, "yyy end"));
    const std::size_t from = text.find(" 1 y"), to = text.find("yyy end");
    REQUIRE(from < to);
    REQUIRE(to < text.size());
    const std::string its = text.substr(from, to + 3 - from);
    CHECK(std::count(its.begin(), its.end(), 'y') == 100);
  }
}

TEST_CASE("with nothing to gain it says so") {
  run r = synthetic::small_run();
  std::erase_if(r.measurements, [](const measurement& m) { return m.algorithm_index != 0; });
  const source s(r);
  const std::vector<model_bound> models{
      benanza::bound::analyse(s, r.graphs[0], {numeric::f32, 1}, {.workers = 1})};
  const std::vector<advised> all = advise_all(s, models, {});
  CHECK(holds(benanza::report::first_screen(r, all[0]), "Nothing to change"));
}

TEST_CASE("operators are grouped by what a person calls them") {
  using benanza::report::kind_name;
  CHECK(kind_name("Conv/1x64x56x56-64x3x3-s1-p1") == "Conv 3x3");
  CHECK(kind_name("Conv+Add+Relu/1x64x56x56-64x1x1-s2-b") == "Conv 1x1 /2");
  CHECK(kind_name("Conv/1x144x56x56-144x3x3-s1-p1-g144") == "Conv 3x3 grouped");
  CHECK(kind_name("Softmax/1x1000-a1") == "Softmax");
  CHECK(kind_name("MatMul+Add/1x128x768-768x768-w-w768") == "MatMul");
}

TEST_CASE("names of strangers do not steer a terminal") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> models{analyse(r)[0]};
  std::vector<profile> profiles{slow_framework()};
  const std::string evil = "evil\x1b[31m\u202e" + std::string(3000, 'x');
  profiles[0].version = profiles[0].framework = evil;
  profiles[0].warnings = {evil};
  for (auto& o : profiles[0].operators)
    o.type = o.kernel = evil;
  profiles[0].operators[1].name = evil;
  const std::vector<advised> all = advise_all(s, models, profiles);
  const std::string text =
      benanza::report::text_report(r, all, models, {.advice = true, .columns = 80});
  CHECK_FALSE(holds(text, "\x1b"));
  CHECK_FALSE(holds(text, "\u202e"));
  CHECK_FALSE(holds(json_report(r, models, false, all), "\x1b"));
}
} // namespace test_of_screen
