// SPDX-License-Identifier: Apache-2.0
// Does the page of a model say what the figures are, and what they rest on? That of a small model
// with everything that can be wrong with it is compared with tests/golden/report_tiny.txt.
#include "pages.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace test_of_page {
using namespace pages;

TEST_CASE("the page of a model with holes") {
  const run r = bent_run();
  const std::string text = text_report(r, analyse(r), {});
  check_width(text);
  check_golden(text, "report_tiny.txt");
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
  const auto part = [&m](const char* name, double ns) { m.parts.push_back({name, ns}); };
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
  const std::vector<model_bound> models = analyse(r, machine);
  const std::string text = text_report(r, models, {});
  check_width(text);
  check_golden(text, "report_fused.txt");

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

TEST_CASE("the first choices being best, there is nothing to choose") {
  run r = synthetic::small_run();
  std::erase_if(r.measurements, [](const measurement& m) { return m.algorithm_index != 0; });
  const std::string text = text_report(r, analyse(r), {});
  CHECK(holds(text, "the libraries' first choices are as good as any"));
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

TEST_CASE("measured means by any kernel in any type; which ones is said in parentheses") {
  run r = synthetic::small_run();
  for (measurement& m : r.measurements) {
    m.fallback.clear();
    if (m.family == "Relu") m.fallback = "host";
  }
  const auto coverage = [&r] {
    const std::string text = text_report(r, analyse(r), {});
    const std::size_t from = text.find("coverage    ");
    return text.substr(from, text.find('\n', from) - from);
  };
  CHECK(coverage() ==
        "coverage    measured 100.0 % (our plain kernels 0.6 %); no node of 7 missing");
  for (measurement& m : r.measurements)
    m.fallback.clear();
  CHECK(coverage() == "coverage    measured 100.0 %; no node of 7 missing");
  const json c = json::parse(json_report(r, analyse(r), false))["analyses"][0]["coverage"];
  CHECK(c["measured"].get<double>() == doctest::Approx(1));
}
} // namespace test_of_page
