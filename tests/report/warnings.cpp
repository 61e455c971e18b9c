// SPDX-License-Identifier: Apache-2.0
// Is said what is missing, and what a person has to know before believing the figures?
#include "pages.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_of_warnings {
using namespace pages;

TEST_CASE("without reorders there is no prediction, in no table") {
  run r = synthetic::fused_run();
  std::erase_if(r.measurements, [](const measurement& m) { return m.family == "reorder"; });
  const auto models = analyse(r);
  const std::string text = text_report(r, models, {});
  check_width(text);
  CHECK(holds(text,
              "layouts paid for\n  no expected run: reorders were not measured\n    all plain"));
  CHECK(holds(text, "PARTIAL     6 reorders were not measured."));
  CHECK(holds(text, "    benanza_bench --model block@batch=1 --benchmark_filter='^reorder/'"));
  const json a = json::parse(json_report(r, models, true))["analyses"][0];
  CHECK(a["expected"].is_null());
  CHECK(a["expected_rate"].is_null());
  CHECK(a["partial"] == true);
  CHECK(a["missing"].size() == 6);
  CHECK(a["missing_command"] == models[0].missing_command);
  r.graphs.push_back(synthetic::make_graph("b", {synthetic::relu}, {{}}));
  const std::string table = text_report(r, analyse(r), {.pages = false});
  CHECK(holds(table, "         -   partly     0\n"));
}

TEST_CASE("a command that no person would copy reads its filter from a file") {
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

TEST_CASE("interference that hid behind the first calibration is reported") {
  run r = synthetic::fused_run();
  const auto reported = [&] {
    return holds(text_report(r, analyse(r), {}), "! interference was there all the");
  };
  CHECK_FALSE(reported());
  r.provenance["measuring"][benanza::result::begin_after_fact] = "0.3";
  CHECK(reported());
}

TEST_CASE("thresholds that were changed are on the page") {
  run r = synthetic::fused_run();
  r.provenance["measuring"]["parameters"] = "most_smt_loss=10";
  CHECK(holds(text_report(r, analyse(r), {}),
              "! measured with other thresholds than usual: most_smt_loss=10."));
}
} // namespace test_of_warnings
