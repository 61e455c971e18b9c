// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <benanza/measure/campaign/progress.hpp>
#include <doctest/doctest.h>

using namespace benanza::measure;

TEST_CASE("times are said as people do") {
  CHECK(spoken(0.4) == "0 s");
  CHECK(spoken(40) == "40 s");
  CHECK(spoken(99.9) == "2 min");
  CHECK(spoken(720) == "12 min");
  CHECK(spoken(2 * 3600 + 5 * 60) == "2 h 05 min");
}

TEST_CASE("the time left follows the pace of what was measured, not what came back") {
  progress p(progress_mode::never, 100, 50.0);
  CHECK(p.left_s() == 0);
  p.skip(40, 20.0);
  CHECK(p.left_s() == 0);
  p.at("a group");
  p.done(1, 1.0);
  CHECK(p.left_s() == 0); // after less than a second nothing is known
  p.done(19, 9.0, 2.5);   // a quarter of the estimate
  CHECK(p.left_s() >= 5);
  CHECK(p.left_s() < 10);
}

TEST_CASE("the line says the rate, what is measured, and who led before") {
  progress p(progress_mode::never, 100, 50.0);
  CHECK(p.text("Conv/a") == "[0/100 cases] Conv/a");
  p.at("Conv/a");
  p.done(20, 10.0, 4.0);
  p.leads("brgconv 342 us");
  CHECK(p.text("Conv/b") == "[20/100 cases, 5.0/s, 16 s left] Conv/b; before: brgconv 342 us");
  p.leads({});
  p.done(60, 30.0, 1.0);
  CHECK(p.text("Conv/c") == "[80/100 cases, 16/s, 1 s left] Conv/c");
}

TEST_CASE("progress is on stderr, and only on a terminal unless asked for") {
  using namespace benanza::test;
  const std::string bench =
      std::string(BENANZA_FRAGILE_BINARY) + " --benchmark_min_time=0.002 --benchmark_format=csv ";
  const outcome quiet = shell(bench);
  CHECK(quiet.err.find("cases") == std::string::npos);
  const outcome shown = shell(bench + "--progress always");
  CHECK(shown.err.find("[0/8 cases] Conv/1x4x5x6-4x3x3-s1-p1") != std::string::npos);
  CHECK(shown.err.find("[8 of 8 cases in ") != std::string::npos);
  CHECK(shown.out.find("cases") == std::string::npos);
}
