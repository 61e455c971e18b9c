// SPDX-License-Identifier: Apache-2.0
// Is what the management library says read right, and is its absence no more than that?
#include "fake_nvml.hpp"

#include <benanza/backend/cuda/nvml.hpp>

#include <doctest/doctest.h>

using namespace benanza::backend;
using cuda_test::fake_nvml;

TEST_CASE("nvml: every value is read, in its unit") {
  const fake_nvml fake("sm 345 1980\nmemory 3201\nmost-sm 2010\ntemperature 41\npower 90500\n"
                       "power-limit 700000\nenergy 5000000000123\nlimits 68\npower-held "
                       "77:5000000000124\nheat-held 78:9\necc 1\nmig 1\n"
                       "driver 580.65.06\ngpu 0000:3B:00.0");
  const cuda::nvml n(fake.library, "0000:3B:00.0");
  CHECK(n.why_not() == "");
  CHECK(n.sm_mhz() == 345u);
  CHECK(n.sm_mhz() == 1980u);
  CHECK(n.sm_mhz() == 1980u);
  CHECK(n.memory_mhz() == 3201u);
  CHECK(n.most_sm_mhz() == 2010u);
  CHECK(n.temperature_c() == 41u);
  CHECK(n.power_w() == 90.5);
  CHECK(n.power_limit_w() == 700.0);
  CHECK(n.energy_mj() == 5'000'000'000'123u); // more than 32 bits hold
  CHECK(n.limits() == 68u);
  CHECK(n.held_by_power().value().at_us == 77u);
  CHECK(n.held_by_power().value().held_ns == 5'000'000'000'124u);
  CHECK(n.held_by_heat().value().held_ns == 9u);
  CHECK(n.ecc() == true);
  CHECK(n.split() == true);
  CHECK(n.driver() == "580.65.06");
}

TEST_CASE("nvml: what a GPU does not report is absent, and the rest is there") {
  const fake_nvml fake("memory 3201\nevent-limits 4");
  const cuda::nvml n(fake.library, "0000:3B:00.0");
  CHECK(n.why_not() == "");
  CHECK_FALSE(n.sm_mhz());
  CHECK_FALSE(n.temperature_c());
  CHECK_FALSE(n.power_w());
  CHECK_FALSE(n.energy_mj());
  CHECK_FALSE(n.held_by_power());
  CHECK_FALSE(n.ecc());
  CHECK_FALSE(n.split());
  CHECK_FALSE(n.driver());
  CHECK(n.memory_mhz() == 3201u);
  CHECK(n.limits() == 4u); // by the function's later name
}

TEST_CASE("nvml: a library that is not there, does not start, or knows another GPU is a reason") {
  const auto knows_nothing = [](const cuda::nvml& n) {
    return !n.sm_mhz() && !n.memory_mhz() && !n.power_w() && !n.energy_mj() && !n.limits() &&
           !n.temperature_c() && !n.ecc() && !n.most_sm_mhz() && !n.power_limit_w();
  };
  const cuda::nvml absent("libno-such-nvml.so.1", "0000:3B:00.0");
  CHECK(absent.why_not() == "no NVML (libno-such-nvml.so.1 was not found)");
  CHECK(knows_nothing(absent));
  CHECK(cuda::nvml("", "0000:3B:00.0").why_not() == "no NVML");
  const cuda::nvml other("libc.so.6", "0000:3B:00.0"); // a library without these functions
  CHECK(other.why_not() == "NVML cannot be started");
  CHECK(knows_nothing(other));
  {
    const fake_nvml fake("gpu 0000:3B:00.0\nsm 1980");
    const cuda::nvml elsewhere(fake.library, "0000:5E:00.0");
    CHECK(elsewhere.why_not() == "NVML does not know the GPU at 0000:5E:00.0");
    CHECK(knows_nothing(elsewhere));
    setenv("BENANZA_FAKE_NVML_SCRIPT", "/no/such/script", 1);
    CHECK(cuda::nvml(fake.library, "0000:3B:00.0").why_not() == "NVML cannot be started");
  }
}

TEST_CASE("nvml: the library is the driver's, or the one that the environment names") {
  CHECK(cuda::nvml::usual_library() == "libnvidia-ml.so.1");
  const fake_nvml fake("");
  CHECK(cuda::nvml::usual_library() == fake.library);
}

TEST_CASE("nvml: reasons have names, also those that are not known yet") {
  CHECK(cuda::clock_limits(0) == "none");
  CHECK(cuda::clock_limits(cuda::clock_limit::idle) == "idle");
  CHECK(cuda::clock_limits(cuda::clock_limit::power_cap | cuda::clock_limit::hardware_thermal) ==
        "power limit, temperature (hardware slowdown)");
  CHECK(cuda::clock_limits(0x4000 | 0x20) == "temperature, reason 16384");
}
