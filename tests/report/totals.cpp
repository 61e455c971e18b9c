// SPDX-License-Identifier: Apache-2.0
// Are figures for batches, chain runs and weights in the last cache in the table and in the JSON?
#include "pages.hpp"

#include <doctest/doctest.h>

#include <benanza/model/footprint.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace test_of_totals {
using namespace pages;

TEST_CASE("a batch of several says what each item takes, and how many that is a second") {
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
  CHECK(holds(text, "each item   bound 154 us, 6488 items/s; expected "));
  CHECK(holds(text, "run         2.00 ms (4000 items/s) as one chain"));
  const json a = json::parse(json_report(r, models, false))["analyses"][0];
  CHECK(a["bound_rate"]["ns_per_item"].get<double>() == doctest::Approx(1233e3 / 8));
  CHECK(a["expected_rate"]["items_per_s"].get<double>() ==
        doctest::Approx(8e9 / a["expected"]["ns"].get<double>()));
  CHECK(a["runs"][0]["items_per_s"] == 4000);
}

TEST_CASE("a run is compared at its own clock too, where that is reported") {
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
  const auto [text, unknown] = of();
  CHECK_FALSE(holds(text, "at the clock of the run"));
  CHECK(unknown["prediction_at_clock_ns"].is_null());
  CHECK(unknown["prediction_error_at_clock"].is_null());
  CHECK_FALSE(json::parse(json_report(r, analyse(r), false))["analyses"][0]["expected"].contains(
      "still_ns"));
  for (measurement& of_layer : r.measurements)
    of_layer.clock_ns = 1000;
  r.measurements.back().clock_ns = 1100;
  const auto [clocked_text, clocked] = of();
  CHECK(holds(clocked_text, "at the clock of the run"));
  check_width(clocked_text);
  CHECK(clocked["prediction_ns"] == unknown["prediction_ns"]);
  CHECK(clocked["prediction_error"] == unknown["prediction_error"]);
  CHECK(clocked["prediction_at_clock_ns"] > unknown["prediction_ns"]);
  const json e = json::parse(json_report(r, analyse(r), false))["analyses"][0]["expected"];
  CHECK(e["still_ns"].get<double>() + 1000 * e["ns_per_clock_ns"].get<double>() ==
        doctest::Approx(e["ns"].get<double>()));
  CHECK(clocked["prediction_error_at_clock"].get<double>() ==
        doctest::Approx(clocked["prediction_at_clock_ns"].get<double>() / m.median_ns - 1));
  r.measurements.back().disturbed = "another process ran: wait";
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
  m.parts = {{"reorders", 1e9}};
  m.disturbed = "another process ran: wait";
  r.measurements.push_back(m);
  const auto models = analyse(r);
  const std::string text = text_report(r, models, {});
  CHECK(holds(text, "no comparison"));
  CHECK(holds(text, "another process ran"));
  CHECK_FALSE(holds(text, "slower than predicted"));
  const json a = json::parse(json_report(r, models, false))["analyses"][0];
  CHECK(a["runs"][0]["disturbed"] == m.disturbed);
  CHECK(a["runs"][0]["prediction_error"].is_null());
}
} // namespace test_of_totals
