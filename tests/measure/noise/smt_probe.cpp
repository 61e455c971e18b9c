// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/noise/smt_probe.hpp>
#include <benanza/measure/sampling/noise_monitor.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

using namespace benanza::measure;

TEST_CASE("an SMT sibling is reported, with what it costs") {
  noise_sum s;
  s.add({.hand_off_loss = 3});
  s.add({.smt_loss = 0.4});
  s.add({.smt_loss = 0.6});
  CHECK(remedy(s).find("issued at 67 % of the usual rate") != std::string::npos);
  smt_probe p;
  CHECK(p.compare(0, true) == 0);    // not known
  CHECK(p.compare(0.7, false) == 0); // nothing to compare it with
  CHECK(p.compare(0.8, true) == 0);
  CHECK(p.compare(1.2, true) == doctest::Approx(0.5));
  CHECK(p.compare(0.6, false) == 0);
  CHECK(p.compare(0.8, true) == 0);
  CHECK(p.compare(0.6, true) == 0);
  CHECK(p.compare(0.9, true) == doctest::Approx(0.5));
  for (const int threads : {1, 2}) {
    const core_speed l = probe_cores(threads);
    CHECK(l.chain_ns > 0);
    CHECK(l.nop_ratio > 0);
    CHECK(quick_nop_ratio(threads) > 0);
    double best = 0;
    for (int i = 0; i < 200 && best == 0; ++i) // with a busy sibling no two probes may agree
      best = calibrated_nop_ratio(threads, 1e7);
    CHECK(best > 0);
    CHECK(std::isfinite(best));
  }
}

#ifdef __OPTIMIZE__
TEST_CASE("a core without an active sibling issues four instructions in a cycle, or more") {
  // A sibling makes it up to twice as long, and some hardly pause for seconds.
  const auto start = std::chrono::steady_clock::now();
  double best = 1;
  for (int i = 0; i < 300 || (best >= 0.55 &&
                              std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
       ++i)
    best = std::min(best, probe_cores(1).nop_ratio);
  // 65 instructions of 800 rounds, at least four at once; and 4000 times two dependent ones of
  // three cycles or more.
  CHECK(best < 0.55);
}

TEST_CASE("probes of a quiet core agree") {
  // Of some probes in a row the best tenth, which is to be quiet in one of many tries.
  const auto start = std::chrono::steady_clock::now();
  double spread = 1;
  while (beyond_turbo(spread) > 0 &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(20)) {
    std::vector<double> ratios;
    for (int i = 0; i < 2000; ++i)
      ratios.push_back(probe_cores(1).nop_ratio);
    std::sort(ratios.begin(), ratios.end());
    spread = ratios[ratios.size() / 10] / ratios[ratios.size() / 1000] - 1;
  }
  CHECK(beyond_turbo(spread) == 0);
}
#endif

TEST_CASE("a probe that no other comes near to is forgotten in the end") {
  smt_probe p;
  p.compare(0.5, true);
  CHECK_FALSE(p.confirmed());
  p.compare(0.3, true); // a mistake, or the first quiet probe
  CHECK(p.best() == 0.3);
  for (int i = 0; i < 299; ++i)
    p.compare(0.5, true);
  CHECK(p.best() == 0.3);
  p.compare(0.5, true);
  CHECK(p.best() == 0.5);
  CHECK(p.compare(0.305, true) == doctest::Approx(0.305 / 0.3 - 1)); // there it is again
  CHECK(p.confirmed());
  CHECK(p.best() == 0.3);
  for (int i = 0; i < 1000; ++i)
    p.compare(0.5, true);
  CHECK(p.best() == 0.3);

  CHECK_FALSE(calibration_was_disturbed(0.4, 0.38)); // a turbo
  CHECK(calibration_was_disturbed(0.4, 0.3));
  const double unknown = smt_probe{}.best();
  CHECK_FALSE(calibration_was_disturbed(unknown, 0.3));
  CHECK_FALSE(calibration_was_disturbed(unknown, unknown));

  smt_probe told;
  told.know(0);
  CHECK_FALSE(std::isfinite(told.best()));
  told.know(0.2);
  CHECK(told.confirmed());
  CHECK(told.compare(0.3, true) == doctest::Approx(0.5));
}

TEST_CASE("siblings that come and go show in the mean of several probes") {
  smt_average a;
  CHECK(a.count() == 0);
  CHECK(a.mean() == 0);
  for (int i = 0; i < 9; ++i)
    a.add(0.1); // a turbo
  CHECK(a.mean() == 0);
  a.add(0.5);
  CHECK(a.count() == 10);
  CHECK(a.mean() == doctest::Approx(0.05));
  CHECK(judge({.smt_loss = a.mean()}) == interference::smt);
}
