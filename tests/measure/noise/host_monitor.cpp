// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/noise/clock_probe.hpp>
#include <benanza/measure/noise/hand_off_probe.hpp>
#include <benanza/measure/noise/host_monitor.hpp>
#include <benanza/measure/noise/memory_probe.hpp>
#include <benanza/measure/noise/smt_probe.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

using namespace benanza::measure;

TEST_CASE("a little noise does no harm; more does, and is told apart") {
  CHECK(judge({}) == interference::none);
  CHECK(judge({.waiting = 0.005, .other_load = 0.1, .clock_loss = 0.2}) == interference::none);
  CHECK(judge({.waiting = 0.02}) == interference::waiting);
  CHECK(judge({.other_load = 0.3}) == interference::other_load);
  CHECK(judge({.clock_loss = 0.3}) == interference::clock);
  CHECK(judge({.smt_loss = 0.02}) == interference::none);
  CHECK(judge({.smt_loss = 0.05}) == interference::smt);
  CHECK(judge({.hand_off_loss = 0.8}) == interference::none);
  CHECK(judge({.hand_off_loss = 3}) == interference::hand_off);
  CHECK(judge({.waiting = 0.5, .device = "hot"}) == interference::device);
}

TEST_CASE("the remedy names what disturbed most, how much, and a remedy") {
  noise_sum s;
  CHECK(remedy(s).empty());
  s.add({.waiting = 0.04});
  s.add({.clock_loss = 0.3});
  s.add({.clock_loss = 0.4});
  CHECK(remedy(s).find("35 % slower than at its best") != std::string::npos);
  CHECK(remedy(s).find("governor") != std::string::npos);
  for (int i = 0; i < 5; ++i)
    s.add({.other_load = 0.95});
  CHECK(remedy(s) ==
        "other processes used 95 % of the machine's processors: stop them, or run again later");
  noise_sum waited;
  waited.add({.waiting = 0.12});
  CHECK(remedy(waited).find("waited for the processor 12 %") != std::string::npos);
  CHECK(remedy(waited).find("taskset") != std::string::npos);
}

TEST_CASE("what a device says of itself is the remedy, where it disturbed most") {
  noise_sum s;
  s.add({.waiting = 0.5});
  s.add({.device = "it was warm"});
  s.add({.device = "it was hot"});
  CHECK(remedy(s) == "it was hot");
  for (int i = 0; i < 3; ++i)
    s.add({.waiting = 0.5});
  CHECK(remedy(s).find("waited for the processor") != std::string::npos);
}

TEST_CASE("threads whose cores share no cache are reported, with the loss") {
  noise_sum s;
  s.add({.clock_loss = 0.4});
  s.add({.hand_off_loss = 3});
  s.add({.hand_off_loss = 5});
  CHECK(remedy(s).find("took 5.0 times as long") != std::string::npos);
}

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

TEST_CASE("the chain after a sample is short, and stays in registers too") {
  double best_short = 1e9, best_long = 1e9; // each apart: an interrupt may meet one of the two
  for (int i = 0; i < 300; ++i) {
    best_short = std::min(best_short, short_clock_loop_ns());
    best_long = std::min(best_long, clock_loop_ns());
  }
  // 1200 multiplications of three or four cycles, to 4000 times two operations of at least as many;
  // through memory each would take four or five more.
  CHECK(best_short / best_long < 0.25);
  CHECK(best_short / best_long > 0.03);
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

TEST_CASE("quick probes come at most every half millisecond, and are reported once") {
  host_monitor w;
  w.expect(1, {});
  w.begin_slice();
  CHECK_FALSE(w.probed());
  int told = 0;
  const double start_ns = w.now_ns();
  while (w.now_ns() - start_ns < 5e6) {
    w.quick_probe();
    const auto seen = w.probed();
    told += seen.has_value();
    CHECK((!seen || seen->smt_loss >= 0));
    CHECK_FALSE(w.probed());
  }
  CHECK(told >= 1);
  CHECK(told <= (w.now_ns() - start_ns) / 0.5e6 + 1);
  while (!w.probed())
    w.quick_probe();
  for (const double now_ns = w.now_ns(); w.now_ns() - now_ns < 1e6;)
    w.quick_probe();
  w.begin_slice();
  CHECK_FALSE(w.probed()); // what was seen before a slice is not the slice's
}

TEST_CASE("a monitor waits for quiet no longer than it is told") {
  host_monitor w;
  w.expect(1, {.nop_ratio = 1e-3}); // no core is as good: a sibling always seems to be active
  w.begin_slice();
  CHECK_FALSE(w.quick_probe(true));
  const double start_ns = w.now_ns();
  CHECK_FALSE(w.wait_for_quiet(3e6));
  CHECK(w.now_ns() - start_ns >= 3e6);
  CHECK_FALSE(w.probed()); // probes while we waited say nothing of samples
}

TEST_CASE("memory is judged by the probes of a whole window") {
  noise_sum s;
  s.add({.memory_loss = 1});
  CHECK(remedy(s).find("memory took 2.0 times as long") != std::string::npos);
  CHECK(judge({.memory_loss = 0.4}) == interference::none);

  memory_probe p;
  CHECK(p.end_window() == 0);
  for (int i = 0; i < 100; ++i)
    p.note(1000 + 10 * (i % 10));
  CHECK(p.end_window() < 0.05);
  p.note(9000), p.note(9000);
  CHECK(p.end_window() == 0); // too few to tell, and not forgotten
  p.note(1000), p.note(1000), p.note(1000);
  CHECK(p.end_window() < 0.05); // one slow probe in five tells nothing, nor do two
  for (int i = 0; i < 9; ++i)
    p.note(2000);
  CHECK(p.end_window() == doctest::Approx(1).epsilon(0.05));

  // However long the run: a few lucky probes are not what memory can do.
  memory_probe lucky;
  for (int window = 0; window < 3000; ++window) {
    lucky.note(100);
    for (int i = 0; i < 4; ++i)
      lucky.note(1000);
    CHECK(lucky.end_window() < 0.05);
  }

  memory_probe none(0), real(std::int64_t{1} << 20);
  for (int i = 0; i < 20; ++i)
    none.probe(), real.probe();
  CHECK(none.end_window() == 0);
  CHECK(std::isfinite(real.end_window()));
}

TEST_CASE("a hand-off is compared with the shortest one known") {
  hand_off_probe p;
  CHECK(p.best_ns() == 0);
  CHECK(p.compare(0) == 0); // not known
  CHECK(p.compare(40) == 0);
  CHECK(p.compare(160) == doctest::Approx(3));
  CHECK(p.compare(25) == 0);
  CHECK(p.compare(50) == doctest::Approx(1));
  CHECK(p.best_ns() == 25);
}

TEST_CASE("a real hand-off takes a time between two threads, and none with one" *
          doctest::skip(std::thread::hardware_concurrency() <
                        2)) { // they would wait for each other
  CHECK(hand_off_ns(1) == 0);
  hand_off_probe p;
  CHECK(p.probe(2) == 0); // the first is the best
  CHECK(p.best_ns() > 0);
}

TEST_CASE("the clock is compared with its best, and one lucky look is not the best") {
  clock_probe p;
  CHECK(p.best_ns() == 0);
  CHECK(p.compare(1000) == 0);
  for (int i = 0; i < 99; ++i)
    p.compare(1000);
  CHECK(p.compare(800) == 0);
  CHECK(p.best_ns() == 1000);
  CHECK(p.compare(1100) == doctest::Approx(0.1));
  for (int i = 0; i < 100; ++i)
    p.compare(800);
  CHECK(p.compare(1000) == doctest::Approx(0.25));

  clock_probe told;
  told.know(0);
  CHECK(told.compare(1000) == 0);
  told.know(900); // when a plan's layers were measured, say
  CHECK(told.best_ns() == 900);
  CHECK(told.compare(990) == doctest::Approx(0.1));
  told.know(2000);
  CHECK(told.compare(990) == 0);
}

TEST_CASE("a real probe of the clock takes a time, again and again") {
  clock_probe p;
  for (int i = 0; i < 5; ++i) {
    const double slower = p.probe();
    CHECK(slower >= 0);
    CHECK(std::isfinite(slower));
  }
  CHECK(p.best_ns() > 0);
}

TEST_CASE("the monitor of this machine sees a time that goes on, and shares that make sense") {
  host_monitor w;
  const double start = w.now_ns();
  noise n;
  while (!w.window_is_over()) {
    w.begin_slice();
    for (const double until = w.now_ns() + 2e6; w.now_ns() < until;) {
    }
    n = w.end_slice();
    CHECK(n.waiting >= 0);
    CHECK(n.waiting <= 1.5);
    CHECK(n.clock_loss >= 0);
  }
  CHECK(w.now_ns() > start);
  const noise window = w.end_window();
  CHECK(window.other_load >= 0);
  CHECK(window.other_load < 1.2);
  CHECK_FALSE(w.window_is_over());
}
