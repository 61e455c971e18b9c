// SPDX-License-Identifier: Apache-2.0
// Sampling with interference, on a virtual clock: what is thrown away, waited for, kept, reported.
#include "../scripted_case.hpp"

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::test;

TEST_CASE("disturbed slices are thrown away and repeated") {
  // Every third slice waits for the processor, and takes twice as long then.
  setup s({about(1e6, 0.1)});
  bool disturbed = false;
  s.monitor.of_slice = [&](int slice) {
    const bool now = std::exchange(disturbed, slice % 3 == 1);
    return noise{.waiting = now ? 0.5 : 0};
  };
  const auto quiet = about(1e6, 0.1);
  s.runs[0] = std::make_unique<scripted>(
      [&, quiet](int i) { return (disturbed ? 2 : 1) * quiet(i); }, s.monitor);
  s.cases[0].run = s.runs[0].get();
  s.sample();
  CHECK(s.of(0).rejected > 0);
  CHECK(s.of(0).disturbed.empty());
  CHECK(s.of(0).samples.size() >= 16);
  CHECK(*std::max_element(s.of(0).samples.begin(), s.of(0).samples.end()) < 1.2e6);
}

TEST_CASE("what held a case's device back is said, and costs it no samples") {
  const auto quiet = about(1e5);
  setup s({quiet, quiet, quiet});
  for (std::size_t i : {0u, 1u})
    s.runs[i]->device = true;
  s.runs[0]->account = {.watched_ns = 2000,
                        .held_by_power_ns = 860,
                        .held_by_heat_ns = 10,
                        .remark = "less the 1.20 us that events take"};
  s.runs[1]->account = {.watched_ns = 1000, .held_by_heat_ns = 500};
  s.sample();
  CHECK(s.of(0).rejected == 0);
  CHECK(s.of(0).disturbed.empty());
  CHECK(s.of(0).remark == "less the 1.20 us that events take,limited by power in 43 % of the time");
  CHECK(s.of(1).remark == "limited by temperature in 50 % of the time");
  CHECK(s.of(2).remark.empty());
}

TEST_CASE("load on the host's cores and memory does not disturb a device") {
  setup s({about(1e5), about(1e5)});
  s.cases[1].rival_class = 1;
  s.runs[0]->device = true;
  s.monitor.of_slice = [](int i) {
    return noise{
        .waiting = i % 4 == 0 ? 0.5 : 0, .smt_loss = i % 3 == 1 ? 0.5 : 0.0, .memory_loss = 2};
  };
  s.monitor.other_load = [](double) { return 0.9; };
  s.sample();
  CHECK(s.of(0).rejected == 0);
  CHECK(s.of(0).disturbed.empty());
  CHECK_FALSE(s.of(1).disturbed.empty());
}

TEST_CASE("load on the host disturbs a device's case whose executions it launches one by one") {
  for (const bool in_windows : {false, true}) {
    CAPTURE(in_windows);
    setup s({about(1e5), about(1e5)});
    for (const auto& run : s.runs)
      run->device = true;
    s.runs[1]->launched = true;
    s.monitor.of_slice = [=](int i) {
      return noise{.waiting = !in_windows && i % 4 < 2 ? 0.5 : 0, .memory_loss = 2};
    };
    if (in_windows) s.monitor.other_load = [](double) { return 0.9; };
    s.sample();
    CHECK(s.of(0).rejected == 0);
    CHECK(s.of(0).disturbed.empty());
    CHECK((s.of(1).rejected > 0 || !s.of(1).disturbed.empty()));
  }
}

TEST_CASE("of a long slice what an SMT sibling disturbed is lost, and what came before is kept") {
  // For 10 of each 50 ms a sibling makes all slower; a slice takes up to 60 ms, a sample 2.
  const auto busy = [](double at) { return std::fmod(at, 50e6) > 40e6; };
  setup s({about(2e6)});
  s.monitor.smt_loss = [&](double at) { return busy(at) ? 0.5 : 0.0; };
  s.runs[0] = std::make_unique<scripted>(
      [&](int i) { return (busy(s.monitor.clock_ns) ? 1.3 : 1) * about(2e6)(i); }, s.monitor);
  s.cases[0].run = s.runs[0].get();
  s.sample(effort::exhaustive);
  const std::vector<double>& taken = s.of(0).samples;
  CHECK(s.of(0).disturbed.empty());
  // But for one that ends when the sibling has just stopped.
  CHECK(20 * std::count_if(taken.begin(), taken.end(), [](double ns) { return ns > 2.1e6; }) <
        std::ssize(taken));
  CHECK(s.of(0).rejected > 0);
  CHECK(s.of(0).rejected < std::ssize(taken) / 2); // of whole slices hardly one would be left
}

TEST_CASE("a sibling that stops while a cold case runs is seen before it") {
  // A sibling is active for 3 of each 7 ms; a sweep takes 3 ms.
  const auto busy = [](double at) { return std::fmod(at, 7e6) < 3e6; };
  setup s({about(1e6)});
  s.cases[0].before_execution = [&] { s.monitor.clock_ns += 3e6; };
  s.monitor.smt_loss = [&](double at) { return busy(at) ? 0.5 : 0.0; };
  s.runs[0] = std::make_unique<scripted>(
      [&](int i) { return (busy(s.monitor.clock_ns) ? 1.3 : 1) * about(1e6)(i); }, s.monitor);
  s.cases[0].run = s.runs[0].get();
  s.sample();
  CHECK(s.of(0).disturbed.empty());
  CHECK(s.of(0).samples.size() >= 4);
  CHECK(*std::max_element(s.of(0).samples.begin(), s.of(0).samples.end()) < 1.1e6);
}

TEST_CASE("a sibling that starts while a short cold case runs is seen right after it") {
  // Probes come every half millisecond; a sibling is active in every other execution alone.
  setup s({about(2e5)});
  bool busy = false;
  s.cases[0].before_execution = [&] { s.monitor.clock_ns += 3e6, busy = false; };
  s.monitor.smt_loss = [&](double) { return busy ? 0.5 : 0.0; };
  s.monitor.between_probes_ns = 0.5e6;
  s.runs[0] = std::make_unique<scripted>(
      [&](int i) {
        busy = i % 2 == 1;
        return (busy ? 1.3 : 1) * 2e5;
      },
      s.monitor);
  s.cases[0].run = s.runs[0].get();
  s.sample();
  CHECK(s.of(0).disturbed.empty());
  CHECK(s.of(0).samples.size() >= 4);
  CHECK(*std::max_element(s.of(0).samples.begin(), s.of(0).samples.end()) == 2e5);
}

TEST_CASE("a sibling in the middle of a long execution is seen between its parts") {
  // Each execution has four parts; in the third of every second one a sibling is active.
  struct in_four : scripted, backend::in_parts {
    using scripted::scripted;
    double time(int n) override {
      double sum = 0;
      for (int part = 0; part < 4; ++part) {
        sum += scripted::time(n);
        if (probe) probe(false);
      }
      return sum;
    }
    backend::in_parts* parts() override { return this; }
    void between_parts(backend::probe_between p) override { probe = std::move(p); }
    std::vector<timed_part> parts_of(const std::vector<double>&) const override { return {}; }
    backend::probe_between probe{};
  };
  setup s({about(1e6)});
  const auto busy = [&] { return s.runs[0]->executions % 8 == 3; };
  s.monitor.smt_loss = [&](double) { return busy() ? 0.5 : 0.0; };
  s.runs[0] = std::make_unique<in_four>([&](int i) { return i % 8 == 2 ? 2e6 : 1e6; }, s.monitor);
  s.cases[0].run = s.runs[0].get();
  s.sample();
  CHECK(s.of(0).rejected > 0);
  CHECK(s.of(0).disturbed.empty());
  for (double ns : s.of(0).samples)
    CHECK(ns == 4e6);
  CHECK_FALSE(static_cast<in_four&>(*s.runs[0]).probe); // the monitor may be gone by now
}

TEST_CASE("while a sibling is active a case waits, and is sampled when it is quiet") {
  // It is quiet for 2 of each 10 ms; a hot sample takes 0.3 ms, a cold one with its sweep 1.5.
  for (const bool cold : {false, true}) {
    const auto busy = [](double at) { return std::fmod(at, 10e6) < 8e6; };
    setup s({about(3e5)});
    sampled_case& c = s.cases[0];
    s.monitor.smt_loss = [&](double at) { return busy(at) ? 0.5 : 0.0; };
    s.runs[0] = std::make_unique<scripted>(
        [&](int i) { return (busy(s.monitor.clock_ns) ? 1.3 : 1) * about(3e5)(i); }, s.monitor);
    c.run = s.runs[0].get();
    c.by_median = cold;
    bool swept = false;
    if (cold) {
      c.before_execution = [&] { s.monitor.clock_ns += 1.2e6, swept = true; };
      c.restore_caches = [&] {
        CHECK(swept); // after the sweep and the wait
        CHECK_FALSE(busy(s.monitor.clock_ns));
        swept = false;
      };
    }
    sampling_plan plan = plan_of(effort::normal);
    plan.extra_share = 10;
    s.sample(plan);
    const std::vector<double>& taken = s.of(0).samples;
    CHECK(s.of(0).disturbed.empty());
    CHECK(s.of(0).stop_reason == (cold ? "median settled" : "minimum settled"));
    CHECK(taken.size() >= 12);
    CHECK(*std::max_element(taken.begin(), taken.end()) < 3.1e5);
    CHECK(c.lost_ns > c.spent_ns); // most of the time it waited
    CHECK(s.of(0).took_ns == c.lost_ns + c.spent_ns);
    CHECK(s.of(0).took_ns <= s.monitor.clock_ns);
  }
}

TEST_CASE(
    "if many samples were disturbed, a median leaves out as many of the slowest of the rest") {
  // Of three slices two are seen to be disturbed; in the third, one sample in two, unseen.
  for (const bool seen : {true, false}) {
    CAPTURE(seen);
    setup s({[](int i) { return i % 2 == 0 ? 1.5e6 : 1e6; }});
    sampled_case& c = s.cases[0];
    c.by_median = true;
    c.before_execution = [] {}; // no batches
    s.monitor.of_slice = [=](int i) { return noise{.smt_loss = seen && i % 3 != 0 ? 0.5 : 0}; };
    s.sample();
    const sampled_pass& of = s.of(0);
    CHECK(of.disturbed.empty());
    REQUIRE(std::ssize(of.samples) >= usual_parameters.fewest_samples);
    CHECK(*std::max_element(of.samples.begin(), of.samples.end()) == (seen ? 1e6 : 1.5e6));
    // Whatever was left out counts as thrown away.
    CHECK(of.samples.size() + static_cast<std::size_t>(of.rejected) == c.samples.size());
    CHECK((of.rejected == 0) == !seen);
  }
}

TEST_CASE("long samples that disagree are not believed where siblings disturbed as many") {
  // Two slices in three are seen to be disturbed; in the third, half of the samples are, unseen.
  for (const double ns : {3e6, 1e6})
    for (const double apart : {1.3, 1.02})
      for (const bool seen : {true, false})
        for (const bool by_median : {true, false}) {
          CAPTURE(ns);
          CAPTURE(apart);
          CAPTURE(seen);
          setup s({[=](int i) { return i % 4 == 0 ? ns : apart * ns; }});
          s.cases[0].by_median = by_median;
          s.cases[0].before_execution = [] {}; // no batches
          s.monitor.of_slice = [=](int i) {
            return noise{.smt_loss = seen && i % 3 != 0 ? 0.5 : 0};
          };
          s.sample();
          const bool doubtful = ns > 2e6 && apart > 1.05 && seen;
          CHECK(s.of(0).disturbed.empty() != doubtful);
        }
}

TEST_CASE("for interference that stays no case waits longer than it may lose") {
  setup s({about(1e5), about(2e5)});
  s.monitor.smt_loss = [](double) { return 0.5; };
  s.sample();
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(s.of(i).samples.size() >= 2);
    CHECK(s.of(i).disturbed.find("another hardware thread used our cores (SMT)") == 0);
    CHECK(s.cases[i].lost_ns < 0.3e9);
  }
}

TEST_CASE("what is disturbed all the time ends, keeps its samples, and says by what") {
  setup s({about(1e6, 0.1)});
  s.monitor.of_slice = [](int) { return noise{.waiting = 0.2}; };
  s.sample();
  CHECK(s.of(0).stop_reason == "disturbed too long");
  CHECK(s.of(0).samples.size() >= 4);
  CHECK(s.of(0).rejected == 0);
  CHECK(s.of(0).disturbed.find("waited for the processor 20 %") != std::string::npos);
  CHECK(s.monitor.clock_ns < 0.3e9);
}

TEST_CASE("racing goes on in noise, and what lost there is not called disturbed without need") {
  setup s({about(1e6, 0.1), about(3e6, 0.1)});
  s.monitor.of_slice = [](int) { return noise{.clock_loss = 0.3}; };
  s.sample();
  CHECK(s.raced_out(1));
  CHECK(s.of(0).disturbed.find("30 % slower than at its best") != std::string::npos);
}

TEST_CASE("the load of others shows in a window: its slices are repeated, its losers come back") {
  // For the first 0.08 s of a race others make the winner slow.
  setup s({about(1e6, 0.01), about(0.5e6, 0.01)});
  s.runs[1] = std::make_unique<scripted>(
      [&](int) { return s.monitor.clock_ns < 0.08e9 ? 1.8e6 : 0.5e6; }, s.monitor);
  s.cases[1].run = s.runs[1].get();
  s.monitor.other_load = [](double at) { return at < 0.08e9 ? 0.9 : 0; };
  s.sample();
  CHECK_FALSE(s.raced_out(1));
  CHECK(s.raced_out(0));
  CHECK(least(s.of(1).samples) == 0.5e6);
  CHECK(s.of(1).disturbed.empty());
  CHECK(s.of(1).rejected > 0);
}

TEST_CASE("load that stays is reported with what to do") {
  setup s({about(1e6, 0.1)});
  s.monitor.other_load = [](double) { return 0.95; };
  s.sample();
  CHECK(s.of(0).disturbed ==
        "other processes used 95 % of the machine's processors: stop them, or run again later");
  CHECK(s.of(0).samples.size() >= 4);
  CHECK(s.monitor.clock_ns < 0.4e9);
}

TEST_CASE("the end of sampling is judged too, even if it comes before a window is over") {
  setup s({about(1e6, 0.1)});
  int asked = 0;
  s.monitor.other_load = [&](double) { return ++asked == 2 ? 0.9 : 0.0; };
  s.sample();
  CHECK(asked >= 3);
  CHECK(s.of(0).rejected > 0);
  CHECK(s.of(0).disturbed.empty());
}

TEST_CASE("where a sibling hardly pauses, a least sample that is alone is doubtful") {
  // One slice in five is kept: the first two meet a pause, of one sample and of several.
  const auto sampled = [](double second_ns) {
    const setup* at = nullptr;
    int executions = 0;
    setup s({[&](int) {
      if (at->monitor.slices % 5 != 0) return 1.6e6;
      ++executions;
      return executions == 3 ? 1e6 : at->monitor.slices == 5 ? second_ns : 1.3e6;
    }});
    at = &s;
    s.monitor.of_slice = [](int i) { return noise{.smt_loss = i % 5 == 0 ? 0.0 : 0.5}; };
    sampling_plan plan = plan_of(effort::normal);
    plan.seconds = 0.02;
    s.sample(plan);
    CHECK(s.of(0).stop_reason == result::disturbed_too_long);
    return !s.of(0).disturbed.empty();
  };
  CHECK(sampled(1.2e6));
  CHECK_FALSE(sampled(1.01e6));
}
