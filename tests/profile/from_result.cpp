// SPDX-License-Identifier: Apache-2.0
#include "made_up.hpp"

#include <doctest/doctest.h>

using namespace benanza;
using namespace test_of_profile;

TEST_CASE("each level's times are those of the run in which it is the deepest") {
  const auto all = profile::levelled_runs(levels_run());
  REQUIRE(all.size() == 1);
  const profile::levelled_run& r = all[0];
  CHECK(r.model == "net");
  CHECK(r.batch == 1);
  CHECK(r.model_ns == 10e3);
  CHECK(r.free_of_events);
  CHECK(*r.layer_events_ns == doctest::Approx(500));
  CHECK(*r.call_events_ns == doctest::Approx(3500));
  REQUIRE(r.layers.size() == 3);
  CHECK(r.layers[0].name == "first");
  CHECK(r.layers[0].ran == "onednn/jit:avx2");
  CHECK(r.layers[0].type == "Relu");
  CHECK(r.layers[0].ns == 4e3);
  CHECK(*r.layers[0].with_calls_ns == 6e3);
  CHECK(*r.layers[0].flops == 1024);
  CHECK(*r.layers[0].bytes == 8192);
  CHECK(*r.layers[0].result_bytes == 4096);
  CHECK(r.layers[1].type == "reorder");
  CHECK_FALSE(r.layers[1].flops);
  CHECK(*r.layers[2].begin_ns == 5e3);
  CHECK(r.layers_ns() == 10e3);
  REQUIRE(r.calls.size() == 3);
  CHECK(r.calls[0].name == "jit:avx2");
  CHECK(r.calls[0].kind == "eltwise");
  CHECK(r.calls[2].layer == 1);
  CHECK(*r.calls_ns(1) == doctest::Approx(500));
  CHECK_FALSE(r.calls_ns(2));
}

TEST_CASE("a level that is missing or failed is said, and its times are not made up") {
  result::run r = levels_run();
  r.measurements[1].error = "too slow";
  auto all = profile::levelled_runs(r);
  REQUIRE(all[0].layers.size() == 3);
  CHECK(all[0].layers[0].ns == 6e3); // with the events of calls, which a note says
  CHECK(all[0].notes.size() == 2);
  CHECK_FALSE(all[0].call_events_ns);

  r = levels_run();
  r.measurements.resize(1);
  all = profile::levelled_runs(r);
  CHECK(all[0].layers.empty());
  CHECK(all[0].no_calls.find("--levels call") != std::string::npos);

  r.measurements.clear();
  CHECK_THROWS_WITH_AS(profile::levelled_runs(r), doctest::Contains("no run with levels"), error);
}

TEST_CASE("without what its parts are a run's layers have names only") {
  result::run r = levels_run();
  r.measurements[1].parts[0].layer.clear();
  const auto all = profile::levelled_runs(r);
  CHECK(all[0].layers[0].name == "first");
  CHECK(all[0].layers[0].type.empty());
  CHECK_FALSE(all[0].layers[0].flops);
  r.measurements[1].parts[0].layer = "Relu/of nothing";
  CHECK_THROWS_AS(profile::levelled_runs(r), error);
  for (result::measurement& m : r.measurements)
    m.key = "net", m.parts.clear();
  CHECK(profile::levelled_runs(r)[0].batch == 0);
}

TEST_CASE("what is in a result of strangers breaks nothing") {
  result::run r = levels_run();
  r.measurements[2].calls = {{99, "exec,cpu"}, {-1, "x"}, {-5, "exec,cpu,a,b,c"}};
  const auto all = profile::levelled_runs(r);
  REQUIRE(all[0].calls.size() == 3);
  for (const profile::call& c : all[0].calls)
    CHECK(c.layer < 0);
}

TEST_CASE("what the processor counted is reported layer by layer, or why nothing is") {
  result::run r = levels_run();
  CHECK(profile::levelled_runs(r)[0].not_counted == "the result has no counters of layers");
  r.measurements[1].not_counted = "forbidden";
  CHECK(profile::levelled_runs(r)[0].not_counted == "forbidden");
  r.measurements[1].not_counted.clear();
  r.measurements[1].counters_of_parts = {"instructions", "cycles"};
  r.measurements[1].parts[0].counted = {100, 50};
  r.measurements[1].parts[2].counted = {3};
  const auto all = profile::levelled_runs(r);
  CHECK(all[0].not_counted.empty());
  CHECK(all[0].counters == std::vector<std::string>{"instructions", "cycles"});
  CHECK(all[0].layers[0].counted == std::vector<double>{100, 50});
  CHECK(all[0].layers[2].counted == std::vector<double>{3});
}

TEST_CASE("a layer is next to the same algorithm measured alone") {
  result::run r = levels_run();
  result::measurement m = r.measurements[0];
  m.family = "Relu", m.key = "1x1024", m.backend = "onednn", m.algorithm = "jit:avx2";
  m.state = "hot", m.median_ns = 3e3;
  r.measurements.push_back(m);
  CHECK(*profile::levelled_runs(r)[0].layers[0].alone_ns == 3e3);
  m.state = "coldw", m.median_ns = 3.9e3;
  r.measurements.push_back(m);
  m.algorithm = "jit:avx512_core", m.median_ns = 1;
  r.measurements.push_back(m);
  const auto all = profile::levelled_runs(r);
  CHECK(*all[0].layers[0].alone_ns == 3.9e3);
  CHECK_FALSE(all[0].layers[2].alone_ns);
}
