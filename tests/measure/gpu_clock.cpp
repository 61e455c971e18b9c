// SPDX-License-Identifier: Apache-2.0
// The benchmark program on a GPU whose clock, power and temperature are told by a script: what it
// waits for, what it throws away, and what it says in its result.
#include "../backend/cuda/fake_nvml.hpp"
#include "fake_gpu.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

using namespace benanza::test;
using cuda_test::fake_nvml;
using nlohmann::json;

namespace {
const std::string hot = "--backends cudnn --benchmark_format=json --states hot "
                        "--benchmark_filter='^[A-Z].*cudnn/eng[0-4][_/]'";

json parsed(const fake_run& r) {
  CAPTURE(r.ended.err);
  REQUIRE(json::accept(r.ended.out));
  return json::parse(r.ended.out);
}
const json& provenance(const json& result) {
  return result.at("context").at("benanza").at("provenance");
}
/// Whoever else uses this processor may disturb a case too: here only the GPU matters.
bool disturbed_by_gpu(const json& b) {
  return holds(b.value("disturbed", ""), "the GPU's");
}
} // namespace

TEST_CASE("gpu clock: facts are in the result, and each case has its energy") {
  const fake_nvml fake("sm 345 690 1980\nmemory 3201\nmost-sm 1980\ntemperature 41\npower 500000\n"
                       "power-limit 700000\nenergy 1000 2000 9500\nlimits 0\ndriver 580.65.06");
  const fake_run r({small_conv}, "cost 20us", hot);
  CHECK(r.ended.status == 0);
  const json result = parsed(r);
  const json &software = provenance(result).at("software"),
             &measuring = provenance(result).at("measuring");
  CHECK(software.at("cudnn_driver_version") == "580.65.06");
  CHECK(software.at("cudnn_most_clock_mhz") == "1980");
  CHECK(software.at("cudnn_power_limit_w") == "700");
  CHECK_FALSE(software.contains("cudnn_uuid")); // results of two cards of a kind go together
  CHECK(holds(measuring.at("device_uuid"), "GPU-"));
  for (const auto& [key, value] : software.items())
    CHECK_FALSE(holds(key, "condition"));
  CHECK(holds(measuring.at("device_condition"), "memory 3201 MHz, 500.0 W, 41 C"));
  CHECK(holds(measuring.at("device_condition_after"), "8.5 J since the start"));
  int timed = 0;
  for (const json& b : result.at("benchmarks")) {
    CHECK(b.at("energy_nj").get<double>() == doctest::Approx(500 * 20e3));
    CHECK_FALSE(disturbed_by_gpu(b));
    ++timed;
  }
  CHECK(timed > 0);
  CHECK(r.tidy());
}

TEST_CASE(
    "gpu clock: samples at a clock that was held down are repeated; if it stays, it says so") {
  {
    const fake_nvml fake("sm 1980\nlimits 0 0 0 0 64 64 0");
    const json result = parsed(fake_run({small_conv}, "cost 20us", hot));
    std::int64_t rejected = 0;
    for (const json& b : result.at("benchmarks")) {
      rejected += b.value("rejected", std::int64_t{0});
      CHECK_FALSE(disturbed_by_gpu(b));
    }
    CHECK(rejected > 0);
  }
  const fake_nvml fake("sm 1980\nlimits 32");
  const fake_run r({small_conv}, "cost 20us", hot);
  CHECK(r.ended.status == 0);
  const json result = parsed(r);
  CHECK_FALSE(result.at("benchmarks").empty());
  for (const json& b : result.at("benchmarks")) {
    CHECK(holds(b.at("disturbed"), "the GPU's clock was held down: temperature"));
    CHECK(b.at("min_ns").get<double>() == doctest::Approx(20e3));
  }
}

TEST_CASE("gpu clock: a clock that falls disturbs what is sampled then") {
  // Past the looks while the GPU comes to its clock and before the sampling.
  const fake_nvml fake("sm 1980 1980 1980 1980 1980 1400");
  const json result = parsed(fake_run({small_conv}, "cost 20us", hot));
  CHECK_FALSE(result.at("benchmarks").empty());
  for (const json& b : result.at("benchmarks"))
    CHECK(holds(b.value("disturbed", ""), "fell to 1400 MHz, from 1980"));
}

TEST_CASE("gpu clock: without a management library all is as before, and the result says so") {
  setenv("BENANZA_NVML", "libno-such-nvml.so.1", 1);
  const fake_run r({small_conv}, "cost 20us", hot);
  unsetenv("BENANZA_NVML");
  CHECK(r.ended.status == 0);
  const json result = parsed(r);
  CHECK(holds(provenance(result).at("measuring").at("device_condition"), "no NVML"));
  for (const json& b : result.at("benchmarks")) {
    CHECK_FALSE(b.contains("energy_nj"));
    CHECK_FALSE(disturbed_by_gpu(b));
  }
}
