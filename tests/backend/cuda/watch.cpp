// SPDX-License-Identifier: Apache-2.0
// Does a watch see what holds a GPU back, and nothing where there is nothing to see?
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

TEST_CASE("watch: without a management library nothing is known") {
  cuda::watch w("libno-such-nvml.so.1", "0000:3B:00.0");
  CHECK_FALSE(w.sees_clock());
  w.begin_stretch();
  CHECK(w.end_stretch().watched_ns == 0);
  CHECK(w.settled());
  CHECK_FALSE(w.rests());
  CHECK(w.facts().empty());
  CHECK(holds(w.condition(), "libno-such-nvml.so.1"));
}

TEST_CASE("watch: counters say for how long the clock was held down, and by what") {
  const fake_nvml fake("power-held 1000:5000 5000:1725000\nheat-held 1000:0 5000:400000");
  cuda::watch w(fake.library, "0000:3B:00.0");
  w.begin_stretch();
  const device_account its = w.end_stretch();
  CHECK(its.watched_ns == 4e6);
  CHECK(its.held_by_power_ns == 1.72e6);
  CHECK(its.held_by_heat_ns == 0.4e6);
  CHECK(w.end_stretch().watched_ns == 4e6); // it goes on from where it began
  for (int at_rest = 0; at_rest < 3; ++at_rest) {
    w.begin_stretch();
    CHECK(w.end_stretch().watched_ns == 0); // the counters do not move
  }
}

TEST_CASE("watch: nothing is held down for longer than it was watched") {
  const fake_nvml fake("power-held 1000:0 2000:90000000");
  cuda::watch w(fake.library, "0000:3B:00.0");
  w.begin_stretch();
  const device_account its = w.end_stretch();
  CHECK(its.held_by_power_ns == its.watched_ns);
  CHECK(its.held_by_heat_ns == 0); // that counter is not there
}

TEST_CASE("watch: a library that answers slowly is asked seldom") {
  const fake_nvml fake("power-held 1000:0 2000:0 3000:0 4000:0 5000:0 6000:0\nslow 3");
  cuda::watch w(fake.library, "0000:3B:00.0");
  w.begin_stretch();
  CHECK(w.end_stretch().watched_ns == 1e6);
  for (int soon = 0; soon < 20; ++soon) {
    w.begin_stretch();
    CHECK(w.end_stretch().watched_ns == 0);
  }
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
  CHECK_FALSE(w.settled()); // it is unchanged, but at rest
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
}

TEST_CASE("watch: joules are a whole GPU's, or unknown") {
  const fake_nvml fake("energy 1000 13500");
  const cuda::watch w(fake.library, "0000:3B:00.0"); // its first question
  CHECK(w.joules() == 13.5);
  const fake_nvml split("energy 1000 13500\nmig 1");
  CHECK_FALSE(cuda::watch(split.library, "0000:3B:00.0").joules());
  const fake_nvml silent("sm 1980");
  CHECK_FALSE(cuda::watch(silent.library, "0000:3B:00.0").joules());
}
