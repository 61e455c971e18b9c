// SPDX-License-Identifier: Apache-2.0
// Does the JSON say what the pages say, under fixed names?
#include "pages.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_of_json {
using namespace pages;

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

TEST_CASE("text that is no UTF-8 does not break the JSON") {
  run r = bent_run();
  r.graphs[0].name = "bad \xff name\x1b[2J";
  CHECK(json::accept(json_report(r, analyse(r), true)));
  CHECK_FALSE(holds(text_report(r, analyse(r), {}), "\x1b"));
}
} // namespace test_of_json
