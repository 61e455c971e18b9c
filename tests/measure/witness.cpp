// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/clock_probe.hpp>
#include <benanza/measure/crowd_probe.hpp>
#include <benanza/measure/hand_off_probe.hpp>
#include <benanza/measure/machine_witness.hpp>
#include <benanza/measure/memory_probe.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

using namespace benanza::measure;

TEST_CASE("a little noise does no harm; more does, and is told apart") {
  CHECK(judge({}) == harm::none);
  CHECK(judge({.delayed = 0.005, .foreign = 0.1, .slowdown = 0.2}) == harm::none);
  CHECK(judge({.delayed = 0.02}) == harm::delayed);
  CHECK(judge({.foreign = 0.3}) == harm::foreign);
  CHECK(judge({.slowdown = 0.3}) == harm::slow);
  CHECK(judge({.crowded = 0.02}) == harm::none);
  CHECK(judge({.crowded = 0.05}) == harm::crowded);
  CHECK(judge({.apart = 0.8}) == harm::none);
  CHECK(judge({.apart = 3}) == harm::apart);
  CHECK(judge({.delayed = 0.5, .device = "hot"}) == harm::device);
}

TEST_CASE("advice names what disturbed most, how much, and a remedy") {
  noise_sum s;
  CHECK(advice(s).empty());
  s.add({.delayed = 0.04});
  s.add({.slowdown = 0.3});
  s.add({.slowdown = 0.4});
  CHECK(advice(s).find("35 % slower than at its best") != std::string::npos);
  CHECK(advice(s).find("governor") != std::string::npos);
  for (int i = 0; i < 5; ++i)
    s.add({.foreign = 0.95});
  CHECK(advice(s) ==
        "other processes used 95 % of the machine's processors: stop them, or run again later");
  noise_sum waited;
  waited.add({.delayed = 0.12});
  CHECK(advice(waited).find("waited for the processor 12 %") != std::string::npos);
  CHECK(advice(waited).find("taskset") != std::string::npos);
}

TEST_CASE("what a device says of itself is the advice, where it disturbed most") {
  noise_sum s;
  s.add({.delayed = 0.5});
  s.add({.device = "it was warm"});
  s.add({.device = "it was hot"});
  CHECK(advice(s) == "it was hot");
  for (int i = 0; i < 3; ++i)
    s.add({.delayed = 0.5});
  CHECK(advice(s).find("waited for the processor") != std::string::npos);
}

TEST_CASE("threads whose cores share no cache are told, with by how much") {
  noise_sum s;
  s.add({.slowdown = 0.4});
  s.add({.apart = 3});
  s.add({.apart = 5});
  CHECK(advice(s).find("took 5.0 times as long") != std::string::npos);
}

TEST_CASE("a neighbour on our core is told, with how much it costs") {
  noise_sum s;
  s.add({.apart = 3});
  s.add({.crowded = 0.4});
  s.add({.crowded = 0.6});
  CHECK(advice(s).find("began instructions 1.5 times as slowly") != std::string::npos);
  crowd_probe p;
  CHECK(p.compare(0, true) == 0);    // not known
  CHECK(p.compare(0.7, false) == 0); // nothing to compare it with
  CHECK(p.compare(0.8, true) == 0);
  CHECK(p.compare(1.2, true) == doctest::Approx(0.5));
  CHECK(p.compare(0.6, false) == 0);
  CHECK(p.compare(0.8, true) == 0);
  CHECK(p.compare(0.6, true) == 0);
  CHECK(p.compare(0.9, true) == doctest::Approx(0.5));
  for (const int threads : {1, 2}) {
    const core_look l = look_at_cores(threads);
    CHECK(l.chained_ns > 0);
    CHECK(l.ratio > 0);
    CHECK(glance_at_cores(threads) > 0);
    double best = 0;
    for (int i = 0; i < 200 && best == 0; ++i) // beside neighbours no two looks may agree
      best = best_ratio(threads, 1e7);
    CHECK(best > 0);
    CHECK(std::isfinite(best));
  }
}

#ifdef __OPTIMIZE__
TEST_CASE("a core of one's own begins four instructions in a cycle, or more") {
  // Beside a neighbour they take up to twice as long, and some hardly rest for seconds.
  const auto start = std::chrono::steady_clock::now();
  double best = 1;
  for (int i = 0; i < 300 || (best >= 0.55 &&
                              std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
       ++i)
    best = std::min(best, look_at_cores(1).ratio);
  // 65 instructions of 800 rounds, at least four at once; and 4000 times two dependent ones of
  // three cycles or more.
  CHECK(best < 0.55);
}

TEST_CASE("looks at cores of one's own agree") {
  // Of some looks in a row the best tenth, which is to be nobody's but ours in one of many tries.
  const auto start = std::chrono::steady_clock::now();
  double apart = 1;
  while (crowd_account::neighbours(apart) > 0 &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(20)) {
    std::vector<double> ratios;
    for (int i = 0; i < 2000; ++i)
      ratios.push_back(look_at_cores(1).ratio);
    std::sort(ratios.begin(), ratios.end());
    apart = ratios[ratios.size() / 10] / ratios[ratios.size() / 1000] - 1;
  }
  CHECK(crowd_account::neighbours(apart) == 0);
}

TEST_CASE("the chain after a sample is short, and stays in registers too") {
  double best_short = 1e9, best_long = 1e9; // each apart: an interrupt may meet one of the two
  for (int i = 0; i < 300; ++i) {
    best_short = std::min(best_short, short_clock_loop_ns());
    best_long = std::min(best_long, one_clock_loop_ns());
  }
  // 1200 multiplications of three or four cycles, to 4000 times two operations of at least as many;
  // through memory each would take four or five more.
  CHECK(best_short / best_long < 0.25);
  CHECK(best_short / best_long > 0.03);
}
#endif

TEST_CASE("a look that no other comes near to is forgotten in the end") {
  crowd_probe p;
  p.compare(0.5, true);
  CHECK_FALSE(p.confirmed());
  p.compare(0.3, true); // a mistake, or the first look at cores of our own
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

  CHECK_FALSE(baseline_was_off(0.4, 0.38)); // a turbo
  CHECK(baseline_was_off(0.4, 0.3));
  const double unknown = crowd_probe{}.best();
  CHECK_FALSE(baseline_was_off(unknown, 0.3));
  CHECK_FALSE(baseline_was_off(unknown, unknown));

  crowd_probe told;
  told.know(0);
  CHECK_FALSE(std::isfinite(told.best()));
  told.know(0.2);
  CHECK(told.confirmed());
  CHECK(told.compare(0.3, true) == doctest::Approx(0.5));
}

TEST_CASE("neighbours that come and go are told by the mean of several looks") {
  crowd_account a;
  CHECK(a.looks() == 0);
  CHECK(a.mean() == 0);
  for (int i = 0; i < 9; ++i)
    a.add(0.1); // a turbo
  CHECK(a.mean() == 0);
  a.add(0.5);
  CHECK(a.looks() == 10);
  CHECK(a.mean() == doctest::Approx(0.05));
  CHECK(judge({.crowded = a.mean()}) == harm::crowded);
}

TEST_CASE("the machine's witness glances at most every half millisecond, and tells it once") {
  machine_witness w;
  w.expect(1, {});
  w.begin_visit();
  CHECK_FALSE(w.glanced());
  int told = 0;
  const double start_ns = w.now_ns();
  while (w.now_ns() - start_ns < 5e6) {
    w.glance();
    const auto seen = w.glanced();
    told += seen.has_value();
    CHECK((!seen || seen->crowded >= 0));
    CHECK_FALSE(w.glanced());
  }
  CHECK(told >= 1);
  CHECK(told <= (w.now_ns() - start_ns) / 0.5e6 + 1);
  while (!w.glanced())
    w.glance();
  for (const double now_ns = w.now_ns(); w.now_ns() - now_ns < 1e6;)
    w.glance();
  w.begin_visit();
  CHECK_FALSE(w.glanced()); // what was seen before a visit is not the visit's
}

TEST_CASE("the machine's witness waits for neighbours no longer than it is told") {
  machine_witness w;
  w.expect(1, {.begin_ratio = 1e-3}); // no core is as good: somebody always seems to be there
  w.begin_visit();
  CHECK_FALSE(w.glance(true));
  const double start_ns = w.now_ns();
  CHECK_FALSE(w.wait_alone(3e6));
  CHECK(w.now_ns() - start_ns >= 3e6);
  CHECK_FALSE(w.glanced()); // looks while we waited say nothing of samples
}

TEST_CASE("memory is judged by the looks of a whole stretch") {
  noise_sum s;
  s.add({.memory = 1});
  CHECK(advice(s).find("memory took 2.0 times as long") != std::string::npos);
  CHECK(judge({.memory = 0.4}) == harm::none);

  memory_probe p;
  CHECK(p.end_stretch() == 0);
  for (int i = 0; i < 100; ++i)
    p.note(1000 + 10 * (i % 10));
  CHECK(p.end_stretch() < 0.05);
  p.note(9000), p.note(9000);
  CHECK(p.end_stretch() == 0); // too few to tell, and not forgotten
  p.note(1000), p.note(1000), p.note(1000);
  CHECK(p.end_stretch() < 0.05); // one slow look in five tells nothing, nor do two
  for (int i = 0; i < 9; ++i)
    p.note(2000);
  CHECK(p.end_stretch() == doctest::Approx(1).epsilon(0.05));

  // However long the run: a few lucky looks are not what memory can do.
  memory_probe lucky;
  for (int stretch = 0; stretch < 3000; ++stretch) {
    lucky.note(100);
    for (int i = 0; i < 4; ++i)
      lucky.note(1000);
    CHECK(lucky.end_stretch() < 0.05);
  }

  memory_probe none(0), real(std::int64_t{1} << 20);
  for (int i = 0; i < 20; ++i)
    none.look(), real.look();
  CHECK(none.end_stretch() == 0);
  CHECK(std::isfinite(real.end_stretch()));
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

TEST_CASE("a real hand-off takes a time between two threads, and none with one") {
  CHECK(hand_off_ns(1) == 0);
  if (omp_get_num_procs() < 2) return; // they would wait for each other's turn on it
  hand_off_probe p;
  CHECK(p.look(2) == 0); // the first is the best
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

TEST_CASE("a real look at the clock takes a time, again and again") {
  clock_probe p;
  for (int i = 0; i < 5; ++i) {
    const double slower = p.look();
    CHECK(slower >= 0);
    CHECK(std::isfinite(slower));
  }
  CHECK(p.best_ns() > 0);
}

TEST_CASE("the witness of this machine sees a time that goes on, and shares that make sense") {
  machine_witness w;
  const double start = w.now_ns();
  noise n;
  while (!w.stretch_is_over()) {
    w.begin_visit();
    for (const double until = w.now_ns() + 2e6; w.now_ns() < until;) {
    }
    n = w.end_visit();
    CHECK(n.delayed >= 0);
    CHECK(n.delayed <= 1.5);
    CHECK(n.slowdown >= 0);
  }
  CHECK(w.now_ns() > start);
  const noise stretch = w.end_stretch();
  CHECK(stretch.foreign >= 0);
  CHECK(stretch.foreign < 1.2);
  CHECK_FALSE(w.stretch_is_over());
}
