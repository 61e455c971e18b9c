// SPDX-License-Identifier: Apache-2.0
// Does a watch see what slows a GPU down, and nothing where there is nothing to see?
#include "fake_nvml.hpp"

#include <benanza/backend/cuda/watch.hpp>

#include <doctest/doctest.h>

using namespace benanza::backend;
using cuda_test::fake_nvml;

namespace {
bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
} // namespace

TEST_CASE("watch: without a management library nothing is known, and nothing disturbs") {
  cuda::watch w("libno-such-nvml.so.1", "0000:3B:00.0");
  CHECK_FALSE(w.sees_clock());
  CHECK(w.disturbance() == "");
  CHECK(w.settled());
  CHECK_FALSE(w.rests());
  CHECK(w.power_w() == 0);
  CHECK(w.facts().empty());
  CHECK(holds(w.condition(), "libno-such-nvml.so.1"));
}

TEST_CASE("watch: a reason to slow down disturbs and is named, unless it was chosen") {
  const fake_nvml fake("sm 1980\nlimits 0 1 2 3 64 130 0");
  cuda::watch w(fake.library, "0000:3B:00.0");
  for (int quiet = 0; quiet < 4; ++quiet)
    CHECK(w.disturbance() == "");
  CHECK(holds(w.disturbance(), "held down: temperature (hardware slowdown);"));
  CHECK(holds(w.disturbance(), "held down: power brake;")); // not the applications' clocks
  CHECK(w.disturbance() == "");
}

TEST_CASE("watch: at its power limit a GPU is as fast as its work lets it be") {
  const fake_nvml fake("sm 1980 1400 1400\nlimits 0 4 0");
  cuda::watch w(fake.library, "0000:3B:00.0");
  CHECK(w.disturbance() == "");
  CHECK(w.disturbance() == "");
  const std::string unlimited = w.disturbance();
  CHECK_MESSAGE(holds(unlimited, "fell to 1400 MHz, from 1980"), unlimited);
}

TEST_CASE("watch: a clock that falls by more than it may disturbs; one that rises does not") {
  const fake_nvml fake("sm 1200 1980 1800 1700 1980");
  cuda::watch w(fake.library, "0000:3B:00.0");
  CHECK(w.sees_clock()); // 1200
  CHECK(w.disturbance() == "");
  CHECK(w.disturbance() == "");
  CHECK(holds(w.disturbance(), "fell to 1700 MHz, from 1980"));
  CHECK(w.disturbance() == "");
}

TEST_CASE("watch: a resting GPU has come to its clock when that no longer rises") {
  const fake_nvml fake("sm 345 345 1200 1980 1985 1985 345 345");
  cuda::watch w(fake.library, "0000:3B:00.0");
  CHECK(w.sees_clock());
  CHECK_FALSE(w.settled()); // 345: the first look has nothing to compare with
  CHECK_FALSE(w.settled()); // 1200
  CHECK_FALSE(w.settled()); // 1980
  CHECK(w.settled());       // 1985 is no rise
  CHECK_FALSE(w.rests());
  CHECK(w.rests());
  CHECK_FALSE(w.settled()); // it stands still, but at rest
}

TEST_CASE("watch: facts are what stays, the condition is of the moment") {
  const fake_nvml fake("sm 1980\nmemory 3201\nmost-sm 2010\ntemperature 41\npower 90500\n"
                       "power-limit 700000\nenergy 1000 13500\nlimits 4\necc 0\ndriver 580.65.06");
  const cuda::watch w(fake.library, "0000:3B:00.0");
  CHECK(w.facts() == std::map<std::string, std::string>{{"driver_version", "580.65.06"},
                                                        {"most_clock_mhz", "2010"},
                                                        {"power_limit_w", "700"},
                                                        {"ecc", "off"}});
  CHECK(w.condition() == "SM 1980 MHz, memory 3201 MHz, 90.5 W, 41 C, clock held down by: power "
                         "limit, 12.5 J since the start");
  CHECK(w.power_w() == 90.5);
}
