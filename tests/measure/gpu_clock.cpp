// SPDX-License-Identifier: Apache-2.0
// The benchmark program on a GPU whose clock, power, temperature and overheads are given by a
// script: what it says of them in its result, and that it throws nothing away for them.
#include "../backend/cuda/fake_nvml.hpp"
#include "fake_gpu.hpp"

#include <benanza/backend/cuda/compile.hpp>

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
const json& measuring(const json& result) {
  return provenance(result).at("measuring");
}
/// MHz of the samples, by their median; 0: not known.
double mhz(const json& b) {
  return b.contains("clock_ns") ? 1e6 / b.at("clock_ns").get<double>() : 0;
}
constexpr bool compiles = benanza::backend::cuda::compiles;
} // namespace

TEST_CASE("gpu clock: facts are in the result, and each case has the clock of its samples") {
  const fake_nvml fake("sm 345 690 1980\nmemory 3201\nmost-sm 1980\ntemperature 41\npower 500000\n"
                       "power-limit 700000\nenergy 1000 2000 9500\nlimits 0\ndriver 580.65.06");
  const fake_run r({small_conv}, "cost 20us\nclock 1400", hot);
  CHECK(r.ended.status == 0);
  CHECK(r.ended.err == "");
  const json result = parsed(r);
  const json& software = provenance(result).at("software");
  CHECK(software.at("cudnn_driver_version") == "580.65.06");
  CHECK(software.at("cudnn_most_clock_mhz") == "1980");
  CHECK(software.at("cudnn_power_limit_w") == "700");
  CHECK_FALSE(software.contains("cudnn_uuid")); // results of two cards of a kind go together
  CHECK(holds(measuring(result).at("device_uuid"), "GPU-"));
  for (const auto& [key, value] : software.items())
    for (const char* of_the_moment : {"condition", "l2_flush", "sm_clock"})
      CHECK_FALSE(holds(key, of_the_moment));
  CHECK(holds(measuring(result).at("device_condition"), "memory 3201 MHz, 500.0 W, 41 C"));
  // NVML is started once a process: what it counts, it counts from then on.
  CHECK(holds(measuring(result).at("device_condition_after"), "8.5 J since the start"));
  int timed = 0;
  for (const json& b : result.at("benchmarks")) {
    CHECK(mhz(b) == (compiles ? doctest::Approx(1400).epsilon(0.01) : doctest::Approx(0)));
    CHECK(b.contains("min_clock_ns") == compiles);
    // The mean of what all cases drew is no case's energy.
    CHECK_FALSE(b.contains("energy_nj"));
    ++timed;
  }
  CHECK(timed > 0);
  CHECK(r.tidy());
}

TEST_CASE("gpu clock: a case that is sampled for a second has the energy that the GPU counted") {
  std::string counted = "energy";
  for (int i = 0; i < 100; ++i) // 300 J from one question to the next, a second later
    counted += ' ' + std::to_string(300'000 * i);
  const auto result = [](const std::string& script, const std::string& seconds) {
    const fake_nvml fake(script);
    return parsed(fake_run({small_conv}, "cost 20us", hot + " --benchmark_min_time=" + seconds));
  };
  const json all = result(counted, "1");
  CHECK(measuring(all).at("energy") == "of the whole GPU (NVML), where it tells it");
  int told = 0;
  for (const json& b : all.at("benchmarks")) {
    if (!b.contains("energy_nj")) continue;
    const double watts = b.at("energy_nj").get<double>() / b.at("median_ns").get<double>();
    CHECK(watts > 250);
    CHECK(watts <= 300.1);
    ++told;
  }
  CHECK(told > 0);
  CHECK(holds(measuring(result(counted, "0.9")).at("energy"), "needs 1 s: --benchmark_min_time=1"));
  const json part = result(counted + "\nmig 1", "1");
  for (const json& b : part.at("benchmarks"))
    CHECK_FALSE(b.contains("energy_nj")); // of a part of a GPU
}

TEST_CASE("gpu clock: where stamps cannot be compared the clock is not reported") {
  const fake_run r({small_conv}, "cost 20us\nmoves-about", hot);
  CHECK(r.ended.status == 0);
  const json result = parsed(r);
  for (const json& b : result.at("benchmarks"))
    CHECK_FALSE(b.contains("clock_ns"));
}

TEST_CASE("gpu clock: without kernels there is no clock and half a flush, and the result says so" *
          doctest::skip(!compiles)) {
  const fake_run r({small_conv},
                   "cost 20us\nkernel sm_stamp unsupported\nkernel read_all unsupported", hot);
  CHECK(r.ended.status == 0);
  const json result = parsed(r);
  CHECK(holds(measuring(result).at("device_sm_clock"), "not known: NVRTC: a kernel cannot"));
  CHECK(holds(measuring(result).at("device_l2_flush"), "by writing alone, lines stay to be"));
  for (const json& b : result.at("benchmarks"))
    CHECK_FALSE(b.contains("clock_ns"));
  CHECK(r.tidy());
}

TEST_CASE("gpu clock: a flush that leaves the cache as it was is named" *
          doctest::skip(!compiles)) {
  const fake_run good({small_conv}, "cost 20us", hot);
  CHECK(holds(measuring(parsed(good)).at("device_l2_flush"),
              "empties the cache: a load takes 400 ns after it"));
  const fake_run bad({small_conv}, "cost 20us\nkernel chase cold 0", hot);
  CHECK(bad.ended.status == 0);
  CHECK(holds(bad.ended.err, "cold times are too good, what empties the GPU's L2 does not empty "));
  CHECK(holds(measuring(parsed(bad)).at("device_l2_flush"),
              "does not empty the cache: a load takes 200 ns"));
}

TEST_CASE("gpu clock: what holds the clock down is said with the case, which keeps its samples") {
  // A clock that seems to fall, and any reason for it, are no reason to sample again.
  const fake_nvml fake("sm 1980 1980 1980 1980 1980 1400\nlimits 0 4 64\n"
                       "power-held 0:0 1000:430000\nheat-held 0:0 1000:60000");
  const fake_run r({small_conv}, "cost 20us", hot);
  CHECK(r.ended.status == 0);
  int told = 0;
  const json result = parsed(r);
  for (const json& b : result.at("benchmarks")) {
    told += holds(b.value("notes", ""),
                  "limited by power in 43 % of the time,limited by temperature in 6 % of the time");
    CHECK_FALSE(b.contains("rejected"));
    CHECK_FALSE(b.contains("disturbed"));
    CHECK(b.at("min_ns").get<double>() == doctest::Approx(20e3));
  }
  CHECK(told == 1); // after the first slice the counters do not move
}

TEST_CASE("gpu clock: what events cost is no part of a cold time, and short ones say so") {
  const std::string cold = "--backends cudnn --benchmark_format=json --states hot,cold "
                           "--benchmark_filter='^[A-Z].*cudnn/eng[0-4][_/]'";
  for (const bool is_short : {true, false}) {
    const fake_run r({small_conv},
                     std::string("event 1us\nevent-after-kernel 500ns\ncost ") +
                         (is_short ? "4us" : "40us"),
                     cold);
    CHECK(r.ended.status == 0);
    const double ns = is_short ? 4e3 : 40e3;
    int tried = 0;
    const json result = parsed(r);
    for (const json& b : result.at("benchmarks")) {
      CAPTURE(b.at("name"));
      const bool is_cold = b.at("state") == "cold";
      const double ours = b.at("min_ns").get<double>();
      CHECK((is_cold ? is(ours, ns) : (ours >= ns && ours < 1.002 * ns)));
      CHECK(holds(b.value("notes", ""), "less the 1.50 us that events take") ==
            (is_cold && is_short));
      tried += is_cold;
    }
    CHECK(tried > 0);
  }
}

TEST_CASE("gpu clock: what is between kernels, and what a pair of events adds, is measured") {
  const fake_run r({small_conv},
                   "event 1us\nevent-after-kernel 500ns\ngap 2us\nkernel nothing cost 700ns",
                   "--backends cuda --benchmark_format=json "
                   "--benchmark_filter='^machine/(event_pair|graph_gap|kernel_launch)/'");
  CHECK(r.ended.status == 0);
  std::map<std::string, double> ns;
  const json result = parsed(r);
  for (const json& b : result.at("benchmarks"))
    ns[b.at("key")] = b.at("min_ns").get<double>();
  CHECK(ns.contains("graph_gap") == compiles);
  if (!compiles) return;
  CHECK(is(ns["event_pair"], 1.5e3)); // around a kernel
  // Without what the kernels compute; with one pair of events a sample.
  CHECK(ns["graph_gap"] == doctest::Approx(2e3).epsilon(0.002));
  CHECK(ns["kernel_launch"] > 0);
  CHECK(r.tidy());
}

TEST_CASE("gpu clock: kernels are compiled for the best architecture that NVRTC knows" *
          doctest::skip(!compiles)) {
  const std::string options = "--backends cuda --benchmark_format=json --states hot "
                              "--benchmark_filter='^machine/graph_gap/'";
  // The fake gives code for real GPUs and for the driver apart, as NVRTC does.
  for (const char* known : {"90 100", "75 80"}) {
    const fake_run r({small_conv}, std::string("architectures ") + known, options);
    CHECK(r.ended.status == 0);
    CHECK(parsed(r).at("benchmarks").size() == 1);
  }
  const fake_run none({small_conv}, "architectures 100 120", options);
  CHECK(holds(none.ended.out, "compiles for no architecture that the GPU, sm_90, could run"));
}

TEST_CASE("gpu clock: without a management library all is as before, and the result says so") {
  setenv("BENANZA_NVML", "libno-such-nvml.so.1", 1);
  const fake_run r({small_conv}, "cost 20us", hot);
  unsetenv("BENANZA_NVML");
  CHECK(r.ended.status == 0);
  const json result = parsed(r);
  CHECK(holds(measuring(result).at("device_condition"), "no NVML"));
  for (const json& b : result.at("benchmarks"))
    CHECK(b.contains("clock_ns") == compiles);
}
