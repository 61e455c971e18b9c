// SPDX-License-Identifier: Apache-2.0
// Sampling on a virtual clock: which case has a slice when, which is stopped and why.
#include "../scripted_case.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::test;

TEST_CASE("rivals have one slice a round, in an order that changes") {
  setup s({about(3000), about(3010), about(3020), about(3030)});
  sampling_plan plan = plan_of(effort::exhaustive, 0.001);
  s.sample(plan);
  REQUIRE(s.slices.size() >= 28);
  bool changed = false;
  for (std::size_t round = 0; round + 1 < s.slices.size() / 4; ++round) {
    const auto from = s.slices.begin() + static_cast<std::ptrdiff_t>(4 * round);
    std::vector<std::size_t> order(from, from + 4);
    changed = changed || !std::is_sorted(order.begin(), order.end());
    // A case that comes twice in a row is entered once.
    std::sort(order.begin(), order.end());
    CHECK(std::unique(order.begin(), order.end()) - order.begin() >= 3);
  }
  CHECK(changed);
}

TEST_CASE("what is too short for the clock is timed several at once") {
  setup s({about(10, 0), about(3000, 0)});
  s.sample();
  CHECK(s.cases[0].batch == 200);
  CHECK(s.cases[1].batch == 1);
  for (double ns : s.of(0).samples)
    CHECK(ns == doctest::Approx(10));
}

TEST_CASE("those that cannot win are stopped early, and no others") {
  // Behind the best: nothing, a tie, a tenth at most while spread lasts, 1.6 times, 30 times.
  setup s({about(1e5), about(1.02e5), about(1.04e5), about(1.6e5), about(3e6)});
  s.sample();
  CHECK_FALSE(s.raced_out(0));
  CHECK_FALSE(s.raced_out(1));
  CHECK_FALSE(s.raced_out(2));
  CHECK(s.of(3).stop_reason == "raced out: 1.6 times the best");
  CHECK(s.of(4).stop_reason == "raced out: 30 times the best");
  CHECK(s.of(4).samples.size() == 4);
  CHECK(s.of(3).samples.size() < s.of(0).samples.size());
  CHECK(s.runs[4]->executions <= 8);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(s.of(i).disturbed.empty());
}

TEST_CASE(
    "what the host launches one by one neither loses to what a device replays, nor beats it") {
  setup s({about(2e5), about(1e5), about(3e6), about(6e5)});
  for (const auto& run : s.runs)
    run->device = true;
  s.runs[1]->launched = s.runs[2]->launched = true;
  s.sample();
  CHECK_FALSE(s.raced_out(0)); // twice as long as the second
  CHECK_FALSE(s.raced_out(2));
  CHECK(s.of(3).stop_reason == "raced out: 3 times the best");
  // It gets no more time either, as who leads does.
  const auto took_ns = [](bool launched) {
    setup one({improving(2e6)});
    one.runs[0]->device = true;
    one.runs[0]->launched = launched;
    one.sample();
    return one.of(0).took_ns;
  };
  CHECK(took_ns(false) > 2 * took_ns(true));
}

TEST_CASE("hot cases that have raced have fewer slices, spread over the time that others take") {
  setup s({about(1e5), improving(2e6)});
  int others_by_then = 0; // executions of the other case, when the hot one ran last
  s.runs[0] = std::make_unique<scripted>(
      [&](int i) {
        others_by_then = s.runs[1]->executions;
        return about(1e5)(i);
      },
      s.monitor);
  s.cases[0].run = s.runs[0].get();
  s.cases[1].by_median = true, s.cases[1].rival_class = 1;
  s.sample();
  // In turns the other one would have run three or four times a slice.
  CHECK(s.cases[0].slices >= 8);
  CHECK(others_by_then > 5 * s.cases[0].slices);
  // Where nothing is saved each has its turn in every round.
  s.slices.clear();
  s.sample(plan_of(effort::exhaustive, 0.1));
  REQUIRE(s.slices.size() > 13);
  CHECK(std::count(s.slices.begin(), s.slices.begin() + 13, 0u) >= 6);
}

TEST_CASE("hot cases are spread over time, so that 120 ms of interference in the caches does not "
          "hide the minimum") {
  for (const bool others : {true, false}) {
    setup s({about(1e5), improving(2e6)});
    s.runs[0] = std::make_unique<scripted>(
        [&s](int i) { return (s.monitor.clock_ns < 120e6 ? 1.2e5 : 1e5) * (1 + 0.01 * (i % 3)); },
        s.monitor);
    s.cases[0].run = s.runs[0].get();
    s.cases[1].by_median = true, s.cases[1].rival_class = 1;
    if (!others) s.cases.pop_back();
    s.sample();
    CHECK(least(s.of(0).samples) == doctest::Approx(others ? 1e5 : 1.2e5));
  }
}

TEST_CASE("cases of different classes do not compete") {
  setup s({about(3000), about(30000)});
  s.cases[1].rival_class = 1;
  s.sample();
  CHECK_FALSE(s.raced_out(1));
}

TEST_CASE("one disturbed slice does not lose a winner") {
  for (const bool by_median : {false, true}) {
    setup s({about(3000), [](int i) { return i < 4 ? 90000.0 : 2500.0; }});
    for (sampled_case& c : s.cases)
      c.by_median = by_median;
    s.sample();
    CHECK_FALSE(s.raced_out(1));
    CHECK(s.raced_out(0));
  }
}

TEST_CASE("hot cases race by the least sample, others by the lower quartile") {
  // The second one is fast once in ten executions.
  const auto rarely_fast = [](int i) { return i % 10 == 9 ? 900.0 : 2000.0; };
  for (const bool by_median : {false, true}) {
    setup s({about(1000e2, 0), [=](int i) { return 100 * rarely_fast(i); }});
    for (sampled_case& c : s.cases)
      c.by_median = by_median;
    s.sample();
    CHECK(s.raced_out(1) == by_median);
  }
}

TEST_CASE("a figure that no longer changes is enough evidence") {
  setup s({about(1e5, 0.1)});
  s.sample();
  CHECK(s.of(0).stop_reason == "minimum settled");
  CHECK(s.cases[0].spent_ns < 0.1e9);
  setup median({about(1e5, 0.1)});
  median.cases[0].by_median = true;
  median.sample();
  CHECK(median.of(0).stop_reason == "median settled");
  setup alike({about(1e6, 0.005)});
  alike.sample();
  CHECK(alike.of(0).stop_reason == "spread under 1 %");
}

TEST_CASE("a figure that keeps moving is sampled until the time is up") {
  setup s({improving(1e6)});
  s.sample();
  CHECK(s.of(0).stop_reason == "time limit");
  CHECK(s.cases[0].spent_ns >= 0.4e9); // it leads: there is no other
  CHECK(s.cases[0].spent_ns < 0.41e9);
}

TEST_CASE("exhaustive sampling stops no case before the time is up") {
  setup s({about(1e5, 0), about(1e6, 0)});
  s.sample(effort::exhaustive);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(s.of(i).stop_reason == "time limit");
    CHECK(s.cases[i].spent_ns >= 0.5e9);
  }
}

TEST_CASE("more effort, more samples") {
  std::size_t last = 0;
  for (const effort e : {effort::quick, effort::normal, effort::thorough, effort::exhaustive}) {
    setup s({improving(1e6)});
    s.sample(e);
    // Who leads is sampled as long with thorough effort as with the most.
    CHECK(s.of(0).samples.size() >= (e == effort::exhaustive ? last * 9 / 10 : last + 1));
    last = s.of(0).samples.size();
  }
}

TEST_CASE("a slow case gets four samples, one of seconds two, and few executions more") {
  setup s({about(3e8, 0.1)}), very({about(3e9, 0.1)});
  s.sample();
  very.sample();
  CHECK(s.of(0).stop_reason == "fewest samples: one execution takes long");
  CHECK(s.of(0).samples.size() == 4);
  CHECK(s.runs[0]->executions <= 5);
  CHECK(very.of(0).samples.size() == 2);
  CHECK(very.runs[0]->executions <= 3);
}

TEST_CASE("cold cases are swept before each execution, and never timed several at once") {
  setup s({about(500)});
  int sweeps = 0;
  s.cases[0].before_execution = [&] {
    CHECK(sweeps++ == s.runs[0]->executions);
    s.monitor.clock_ns += 3e6;
  };
  s.sample();
  CHECK(s.cases[0].batch == 1);
  CHECK(sweeps == s.runs[0]->executions);
  CHECK(s.of(0).samples.size() >= 4);
  CHECK(s.monitor.clock_ns < 0.12e9); // the limit counts the sweeps
}

TEST_CASE("what an execution leaves for others to wait for is part of its time") {
  setup s({about(20000)});
  double left = 5000;
  s.cases[0].before_execution = [] {};
  s.cases[0].read_back_ns = [&] { return std::exchange(left, left == 0 ? 5000 : 0); };
  s.sample();
  const auto& samples = s.of(0).samples;
  REQUIRE(samples.size() > 4);
  int waited = 0;
  for (const double ns : samples) {
    CHECK(ns >= 20000);
    waited += ns >= 25000;
  }
  CHECK(waited > 0);
  CHECK(waited < std::ssize(samples));
}

TEST_CASE("executions that bring data back into the caches are no samples, but for the last") {
  setup s({about(1e7), about(1e7)});
  int since_entry = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    s.cases[i].enter = [&] { since_entry = 0; };
    s.runs[i] = std::make_unique<scripted>(
        [&](int) {
          const int n = since_entry++;
          return n == 0 ? 2e7 : n == 1 ? 1.2e7 : 1e7;
        },
        s.monitor);
    s.cases[i].run = s.runs[i].get();
  }
  s.sample();
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<double>& taken = s.of(i).samples;
    // The first slice only chooses the batch; each later one warms up by four executions and times
    // a fifth.
    CHECK(std::count(taken.begin(), taken.end(), 1e7) >= std::ssize(taken) - 1);
    CHECK(5 * std::ssize(taken) >= 2 * (s.runs[i]->executions - 3));
  }
}

TEST_CASE("what others' slices left of cold weights, code and page tables is no sample") {
  for (const bool soon : {false, true}) {
    setup s({about(1e6), about(1e6)});
    for (std::size_t i = 0; i < 2; ++i) {
      const auto fresh = std::make_shared<bool>(true);
      s.cases[i].by_median = true;
      s.cases[i].ran_recently = soon;
      s.cases[i].before_execution = [] {};
      s.cases[i].enter = [fresh] { *fresh = true; };
      s.runs[i] = std::make_unique<scripted>(
          [fresh](int) { return std::exchange(*fresh, false) ? 1.5e6 : 1e6; }, s.monitor);
      s.cases[i].run = s.runs[i].get();
    }
    s.sample();
    for (std::size_t i = 0; i < 2; ++i) {
      const std::vector<double>& taken = s.of(i).samples;
      REQUIRE(taken.size() >= 4);
      CHECK((std::count(taken.begin(), taken.end(), 1.5e6) > 0) == !soon);
    }
  }
}

TEST_CASE("what finds no data of its own in the caches is not warmed up") {
  for (const bool cold : {false, true}) {
    setup s({about(1e7), about(1e7)});
    for (sampled_case& c : s.cases)
      c.stays_cold = cold;
    s.sample();
    for (std::size_t i = 0; i < 2; ++i) {
      const auto besides = s.runs[i]->executions - std::ssize(s.of(i).samples);
      CHECK((cold ? besides <= 2 : besides >= 5)); // the first ones; and one a slice
    }
  }
}

TEST_CASE("passes are independent repetitions") {
  setup s({about(3000, 0.1), about(9000, 0.1)});
  sampling_plan plan = plan_of(effort::normal, 0, 3);
  s.sample(plan);
  for (const sampled_case& c : s.cases) {
    REQUIRE(c.passes.size() == 3);
    for (const sampled_pass& p : c.passes)
      CHECK(p.samples.size() >= 4);
  }
  for (const sampled_pass& p : s.cases[1].passes)
    CHECK(result::was_raced_out(p.stop_reason));
}

TEST_CASE("a stop ends the sampling at once, with what there is") {
  setup s({about(3000)});
  s.stop = true;
  s.sample();
  CHECK(s.cases[0].passes.empty());
  setup later({[](int) { return 1e6; }});
  later.monitor.of_slice = [&](int slice) {
    later.stop = slice == 1;
    return noise{};
  };
  later.sample();
  CHECK(later.of(0).stop_reason == "interrupted");
  CHECK(!later.of(0).samples.empty());
}

TEST_CASE("the clock that samples were taken at is kept with them") {
  // Slower from 10 ms on: the least samples are those before.
  setup s({about(1)});
  s.monitor.processor = [](double at) { return at < 10e6 ? 1000 : 1250; };
  s.runs[0] = std::make_unique<scripted>(
      [&](int) { return s.monitor.clock_ns < 10e6 ? 1e6 : 1.25e6; }, s.monitor);
  s.cases[0].run = s.runs[0].get();
  s.sample();
  CHECK(s.of(0).least_clock_ns == 1000);
  CHECK(s.of(0).clock_ns == 1250);
  setup device({about(1e6)});
  device.monitor.processor = s.monitor.processor;
  device.runs[0]->device = true;
  device.sample();
  CHECK(device.of(0).clock_ns == 0); // not the processor's
  setup stamped({about(1e6)});
  stamped.monitor.processor = s.monitor.processor;
  stamped.runs[0]->device = true;
  // Where it is not known of most samples it is that of the others.
  stamped.runs[0]->of_device = [](int executed) { return executed % 4 == 0 ? 505 : 0; };
  stamped.sample();
  CHECK(stamped.of(0).clock_ns == 505);
  setup silent({about(1e6)});
  silent.sample();
  CHECK(silent.of(0).clock_ns == 0);
}

TEST_CASE("the clock is that of the samples that count") {
  setup s({about(1e6, 0.01)});
  s.monitor.processor = [](double at) { return at < 30e6 ? 2000 : 1000; };
  s.monitor.of_slice = [&](int) { return noise{.waiting = s.monitor.clock_ns < 31e6 ? 0.3 : 0}; };
  s.sample();
  CHECK(s.of(0).rejected > 0);
  CHECK(s.of(0).clock_ns == 1000);
}

TEST_CASE("the clock of a sample of several parts is that of each, by how long it took") {
  sample_clock c;
  c.begin(100);
  CHECK(c.mean_ns() == 0);
  c.note(400, 1000);
  c.go_on(5000); // a probe
  c.note(5100, 2000);
  CHECK(c.mean_ns() == 1250);
  c.note(9000, 0); // not known
  CHECK(c.mean_ns() == 1250);
  c.begin(10'000);
  CHECK(c.mean_ns() == 0);
  c.note(10'000, 700);
  CHECK(c.mean_ns() == 700);
}
