// SPDX-License-Identifier: Apache-2.0
// What does a lost device cost? The algorithm that lost it, and a process; not the others.
#include "gpu_engines.hpp"

#include <benanza/backend/cudnn/device_table.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace benanza::test;

TEST_CASE("gpu: who loses the device is named, and costs no other algorithm its times") {
  const std::string bad = configuration_of(small_conv); // in one layout or in several
  const std::string script = "cost 20us\nid " + bad + " launch-failure";
  const fake_run here({small_conv}, script, cudnn_json + "--states hot");
  CHECK(here.ended.status == 1);
  REQUIRE(here.records.size() == 1);
  CHECK(here.records[0]["error"] == "cudaErrorLaunchFailure");
  std::string loser;
  for (const gpu_row& row : here.rows)
    if (row.error.starts_with("device lost: ")) {
      CHECK(loser.empty());
      loser = row.algorithm;
      CHECK(holds(row.error, "cudaErrorLaunchFailure"));
    }
  CHECK(loser.ends_with(bad));
  for (const gpu_row& row : here.rows)
    if (row.algorithm != loser) CHECK(row.error == "device lost by cudnn/" + loser);

  // As users run it: one process lists; each loser takes one along when the group is measured, and
  // one when it is tried again; and one measures the others.
  const fake_run apart({small_conv}, script, cudnn_json + "--states hot", layers_bench, false);
  CHECK(apart.ended.status == 1);
  CHECK(apart.rows.size() == here.rows.size());
  std::size_t losers = 0;
  for (const gpu_row& row : apart.rows) {
    CAPTURE(row.algorithm);
    if (row.algorithm.ends_with(bad)) {
      CHECK(row.error.starts_with("device lost: "));
      ++losers;
    } else {
      CHECK(row.error == "");
      CHECK(is(row.min_ns, 20e3));
    }
  }
  CHECK(losers > 0);
  CHECK(apart.rows.size() > losers + 10);
  CHECK(apart.records.size() <= 2 + 2 * losers);
}

TEST_CASE(
    "gpu: algorithms side by side that lose the device do not pass for a device that is gone") {
  const std::string hot = cudnn_json + "--states hot --benchmark_filter='^[A-Z].*/cudnn/eng'";
  const fake_run listed({small_conv}, "", hot + " --benchmark_dry_run");
  REQUIRE(listed.rows.size() > 6);
  // Those that are made ready first.
  std::string script = "cost 20us\n";
  for (std::size_t i = 0; i < 3; ++i)
    script += "id " + listed.rows[i].algorithm + " launch-failure\n";
  const fake_run r({small_conv}, script, hot, layers_bench, false);
  REQUIRE(r.rows.size() == listed.rows.size());
  for (std::size_t i = 0; i < r.rows.size(); ++i) {
    CAPTURE(r.rows[i].algorithm);
    CHECK(r.rows[i].algorithm == listed.rows[i].algorithm);
    CHECK(r.rows[i].error.starts_with("device lost: ") == (i < 3));
    CHECK(r.rows[i].error.empty() == (i >= 3));
  }
}

TEST_CASE("gpu: a device that is lost while it is sampled is blamed on what was being timed") {
  const auto engines = engines_of(small_conv);
  const std::vector<std::int64_t> two(engines.begin(), engines.begin() + 2);
  const fake_run r({small_conv}, "cost 20us\ndevice-lost-after 40",
                   cudnn_json + "--states hot" + only(two));
  CHECK(r.ended.status == 1);
  REQUIRE(!r.rows.empty());
  std::set<std::string> losers;
  for (const gpu_row& row : r.rows)
    if (row.error.starts_with("device lost: ")) losers.insert(row.algorithm);
  REQUIRE(losers.size() == 1);
  for (const gpu_row& row : r.rows)
    if (row.algorithm != *losers.begin())
      CHECK(row.error == "device lost by cudnn/" + *losers.begin());
  REQUIRE(r.records.size() == 1);
  std::int64_t executions = 0;
  for (const auto& [name, count] : r.records[0]["executions"].items())
    executions += count.get<std::int64_t>();
  CHECK(executions == 40);
}

TEST_CASE("gpu: a device that is gone for all, and memory for many, cost few processes") {
  const fake_run gone({small_conv}, "device-lost-after 0", cudnn_json + "--states hot",
                      layers_bench, false);
  CHECK(gone.ended.status == 1);
  REQUIRE(gone.rows.size() > 4);
  CHECK(gone.records.size() <= 4);
  for (const gpu_row& row : gone.rows)
    CHECK(row.error.starts_with("device lost"));

  const std::int64_t l2 = std::int64_t{benanza::backend::cudnn::find_device("h200")->l2_kib} << 10;
  const fake_run full({small_conv}, "malloc-limit " + std::to_string(4 * l2 + 300'000), cudnn_json,
                      layers_bench, false);
  CHECK(full.records.size() <= 5);
  int hot = 0, starved = 0;
  for (const gpu_row& row : full.rows) {
    hot += row.state == "hot" && row.error.empty();
    starved += row.error == "out of memory";
  }
  CHECK(hot > 0);
  CHECK(starved > 4);
}
