// SPDX-License-Identifier: Apache-2.0
#include "made_up.hpp"

#include <benanza/profile/analyses.hpp>
#include <doctest/doctest.h>

#include <string>

using namespace benanza;
using namespace test_of_profile;
using profile::cell;

namespace test_of_analyses {
double number(const cell& c) {
  if (const auto* n = std::get_if<std::int64_t>(&c)) return static_cast<double>(*n);
  return std::get<double>(c);
}
std::string text(const cell& c) {
  return std::get<std::string>(c);
}
bool empty(const cell& c) {
  return std::holds_alternative<nothing>(c);
}

profile::table made(const std::string& id, const std::vector<profile::levelled_run>& all) {
  const auto tables = profile::analyse({id}, all, all[0]);
  REQUIRE(tables.size() == 1);
  CHECK(tables[0].id == id);
  for (const auto& row : tables[0].rows)
    CHECK(row.size() == tables[0].columns.size());
  for (const profile::column& c : tables[0].columns)
    CHECK_FALSE(c.meaning.empty());
  return tables[0];
}

TEST_CASE("A1: throughput at each batch, and from which one on doubling pays no more") {
  std::vector<profile::levelled_run> all;
  for (const auto& [batch, scale] : {std::pair{4, 3.9}, {1, 1.0}, {2, 1.5}})
    all.push_back(profile::levelled_runs(levels_run(batch, scale))[0]);
  const profile::table t = made("A1", all);
  REQUIRE(t.rows.size() == 3);
  CHECK(number(t.rows[0][0]) == 1);
  CHECK(number(t.rows[0][1]) == doctest::Approx(10));
  CHECK(number(t.rows[1][2]) == doctest::Approx(2 / 15e-6));
  CHECK(number(t.rows[0][3]) == doctest::Approx(0.5));
  CHECK(number(t.rows[0][6]) == doctest::Approx(100));
  CHECK(t.notes[0].find("optimal batch: 2,") == 0); // 4 items take 39 us: 2.6 a batch of 1
  CHECK(made("A1", {all[0]}).notes[0].find("one batch was measured") == 0);
  // Of what was not measured nothing is said.
  CHECK(made("A1", {all[1], all[2]}).notes[0] ==
        "the best batch of those measured: 2; larger ones were not measured: benanza_generate "
        "net.onnx --batch 4 --no-sources -o larger && benanza_bench --graphs larger/graphs.json "
        "--benchmark_out=larger.json");
  all[1].who = all[2].who = "onnxruntime";
  CHECK(made("A1", {all[1], all[2]})
            .notes[0]
            .ends_with("benanza_measure_framework onnxruntime net.onnx --batch 4 --threads 1"));
}

TEST_CASE("layers: their table, and by type") {
  const auto all = profile::levelled_runs(levels_run());
  const profile::table a2 = made("A2", all);
  CHECK(text(a2.rows[0][1]) == "first");
  CHECK(number(a2.rows[0][5]) == doctest::Approx(40));
  CHECK(empty(a2.rows[0][6]));                        // it was not measured alone
  CHECK(number(a2.rows[0][7]) == doctest::Approx(2)); // 6 us with events of calls
  CHECK(number(a2.rows[0][8]) == doctest::Approx(4096. / 1048576));
  CHECK(empty(a2.rows[1][8]));
  CHECK(number(made("A3", all).rows[2][2]) == doctest::Approx(5));
  CHECK(empty(made("A4", all).rows[1][2]));
  const profile::table a5 = made("A5", all), a6 = made("A6", all), a7 = made("A7", all);
  CHECK(text(a5.rows[0][0]) == "Relu");
  CHECK(number(a5.rows[0][1]) == 2);
  CHECK(number(a6.rows[0][2]) == doctest::Approx(9));
  CHECK(number(a6.rows[1][3]) == doctest::Approx(10));
  CHECK(number(a7.rows[0][1]) == doctest::Approx(8192. / 1048576));
  CHECK(empty(a7.rows[1][1]));
}

TEST_CASE("calls: their table, their roofline, by name and by layer") {
  auto all = profile::levelled_runs(levels_run());
  CHECK(made("A8", all).rows.size() == 3);
  CHECK(text(made("A8", all).rows[0][3]) == "first");
  const profile::table a9 = made("A9", all); // the two of one layer share its work
  REQUIRE(a9.rows.size() == 1);
  CHECK(number(a9.rows[0][6]) == doctest::Approx(1024 / 3.5e3));
  const profile::table a10 = made("A10", all);
  CHECK(text(a10.rows[0][0]) == "eltwise jit:avx2");
  CHECK(number(a10.rows[1][1]) == 2);
  CHECK(number(a10.rows[1][3]) == doctest::Approx(12.5));
  CHECK(number(made("A11", all).rows[1][2]) == 2);
  CHECK(empty(made("A11", all).rows[2][3])); // our plain kernel reports no call
  const profile::table a13 = made("A13", all);
  CHECK(number(a13.rows[0][4]) == doctest::Approx(0.5));
  CHECK(empty(a13.rows[2][4]));
  CHECK(number(a13.rows[3][4]) == doctest::Approx(1)); // 5 us of layers with calls, less 4
  CHECK(a13.notes.size() == 1);
  // Calls by a clock of their own may take longer than their layer: that is no negative time.
  auto slow = all;
  slow[0].calls[0].ns = 5e3;
  const profile::table less = made("A13", slow);
  CHECK(number(less.rows[0][4]) == 0);
  CHECK(number(less.rows[0][5]) == 0);
  CHECK(number(less.rows[3][4]) == 0);
  REQUIRE(less.notes.size() == 2);
  CHECK(less.notes[1] ==
        "other time is 0 or less than noise, and 0 above, where calls took longer than their "
        "layer: first (by 25.0 %), all that have calls (by 10.0 %)");
  const profile::table a15 = made("A15", all);
  CHECK(number(a15.rows[0][1]) == doctest::Approx(4));
  CHECK(number(a15.rows[0][2]) == doctest::Approx(40));
  all[0].no_calls = "nobody looked";
  for (const char* id : {"A8", "A9", "A10", "A11", "A13", "A15"}) {
    CHECK(made(id, all).rows.empty());
    CHECK(made(id, all).notes == std::vector<std::string>{"nobody looked"});
  }
}

TEST_CASE("rooflines: by the machine's most where it was measured") {
  auto all = profile::levelled_runs(levels_run());
  CHECK(empty(made("A14", all).rows[0][8]));
  CHECK(made("A14", all).notes[0].find("machine's most is not in the result") != std::string::npos);
  all[0].peak_flops_per_ns = 40;
  all[0].memory_bytes_per_ns = 10;
  all[0].layers[0].roof_ns = 1e3;
  const profile::table t = made("A14", all);
  CHECK(number(t.rows[0][5]) == doctest::Approx(0.125)); // of 4 FLOP/B that the machine wants
  CHECK(number(t.rows[0][7]) == doctest::Approx(25));
  CHECK(text(t.rows[0][8]) == "memory");
  all[0].layers[0].flops = 1e6;
  CHECK(text(made("A14", all).rows[0][8]) == "arithmetic");
  CHECK(number(made("A12", all).rows[2][4]) == doctest::Approx(1024 / 5e3));
  CHECK(made("A12", all)
            .notes[0]
            .find("layer first is above the measured peak of 40 GFLOP/s: that "
                  "cannot be") == 0);
  all[0].layers[0].ran = "onednn/jit_wino_4x3";
  CHECK(made("A12", all).notes[0].find("Winograd does fewer operations") != std::string::npos);
}

TEST_CASE("T: thirds of the layers by their number") {
  const profile::table t = made("T", profile::levelled_runs(levels_run()));
  REQUIRE(t.rows.size() == 3);
  CHECK(text(t.rows[0][0]) == "begin");
  CHECK(number(t.rows[0][3]) == doctest::Approx(40));
  CHECK(text(t.rows[1][6]) == "reorder");
  CHECK(number(t.rows[2][2]) == doctest::Approx(5));
}

TEST_CASE("analyses are asked for by name") {
  CHECK(profile::analyses_named("A6,A2,A6") == std::vector<std::string>{"A6", "A2"});
  CHECK(profile::analyses_named("all").size() == 16);
  CHECK_THROWS_WITH_AS(profile::analyses_named("A2,A16"), doctest::Contains("A16"), error);
  CHECK_THROWS_AS(profile::analyses_named(""), error);
}
} // namespace test_of_analyses
