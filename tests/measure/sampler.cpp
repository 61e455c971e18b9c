// SPDX-License-Identifier: Apache-2.0
// Sampling on a virtual clock: who is visited when, who is stopped and why, what is thrown away.
#include "scripted_witness.hpp"

#include <benanza/measure/sampler.hpp>
#include <doctest/doctest.h>

#include <cmath>
#include <memory>

using namespace benanza;
using namespace benanza::measure;

namespace {
/// Takes the time that it is told by the number of the execution, and notes its visits.
class scripted : public backend::prepared {
public:
  using script = std::function<double(int)>;
  scripted(script ns, test::scripted_witness& w)
      : ns_(std::move(ns))
      , witness_(w) {}
  std::string ran() const override { return "scripted"; }
  void run(int n) override { time(n); }
  double time(int n) override {
    double sum = 0;
    for (int i = 0; i < n; ++i)
      sum += ns_(executions++);
    witness_.clock_ns += sum;
    return sum;
  }
  void read(std::vector<double>&) const override {}
  std::string disturbance() override { return trouble ? trouble(looks++) : std::string{}; }
  double power_w() const override { return power; }
  bool on_device() const override { return device; }

  int executions = 0, looks = 0;
  std::function<std::string(int)> trouble{}; ///< with its device, by the number of the look
  double power = 0;
  bool device = false;

private:
  script ns_;
  test::scripted_witness& witness_;
};

/// `ns` with a spread of some percent that repeats after seven executions.
scripted::script about(double ns, double spread = 0.02) {
  return [=](int i) { return ns * (1 + spread * ((3 * i) % 7) / 7); };
}

/// Gets better and better, for ever.
scripted::script improving(double ns) {
  return [=](int i) { return ns / (1 + 0.01 * i); };
}

struct setup {
  test::scripted_witness witness;
  std::vector<std::unique_ptr<scripted>> runs;
  std::vector<sampled_case> cases;
  std::vector<std::size_t> visits;
  std::atomic<bool> stop{false};

  explicit setup(const std::vector<scripted::script>& scripts) {
    for (std::size_t i = 0; i < scripts.size(); ++i) {
      runs.push_back(std::make_unique<scripted>(scripts[i], witness));
      cases.push_back({.run = runs.back().get(), .enter = [this, i] { visits.push_back(i); }});
    }
  }
  void sample(effort e = effort::normal) { sample(plan_of(e)); }
  void sample(const sampling_plan& plan) { measure::sample(cases, plan, witness, stop); }
  const sampled_pass& of(std::size_t i) const { return cases.at(i).passes.at(0); }
  bool raced_out(std::size_t i) const { return result::was_raced_out(of(i).stop_reason); }
};

double least(const std::vector<double>& v) {
  return *std::min_element(v.begin(), v.end());
}
} // namespace

TEST_CASE("rivals are visited once a round, in an order that changes") {
  setup s({about(3000), about(3010), about(3020), about(3030)});
  sampling_plan plan = plan_of(effort::exhaustive, 0.001);
  s.sample(plan);
  REQUIRE(s.visits.size() >= 28);
  bool changed = false;
  for (std::size_t round = 0; round + 1 < s.visits.size() / 4; ++round) {
    const auto from = s.visits.begin() + static_cast<std::ptrdiff_t>(4 * round);
    std::vector<std::size_t> order(from, from + 4);
    changed = changed || !std::is_sorted(order.begin(), order.end());
    // A case that comes twice running is entered once.
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

TEST_CASE("those that cannot win are stopped early, and nobody else") {
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

TEST_CASE("after a visit that was thrown away the witness may mend what disturbed it") {
  setup s({about(1e5)});
  bool apart = true;
  int recoveries = 0;
  s.witness.of_visit = [&](int i) { return noise{.apart = apart || i == 2 ? 3.0 : 0.0}; };
  s.witness.of_recovery = [&](const noise& n) {
    CHECK(judge(n) == harm::apart);
    apart = false;
    ++recoveries;
  };
  s.sample();
  CHECK(recoveries == 2);
  CHECK(s.of(0).disturbed.empty());
  CHECK(s.of(0).rejected > 0);
}

TEST_CASE("cases of different classes do not compete") {
  setup s({about(3000), about(30000)});
  s.cases[1].rival_class = 1;
  s.sample();
  CHECK_FALSE(s.raced_out(1));
}

TEST_CASE("one disturbed look does not lose a winner") {
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

TEST_CASE("a figure that stands still is enough evidence") {
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
  CHECK(s.cases[0].spent_ns >= 0.4e9); // it leads: nobody else is there
  CHECK(s.cases[0].spent_ns < 0.41e9);
}

TEST_CASE("exhaustive sampling stops nobody before the time is up") {
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
    s.witness.clock_ns += 3e6;
  };
  s.sample();
  CHECK(s.cases[0].batch == 1);
  CHECK(sweeps == s.runs[0]->executions);
  CHECK(s.of(0).samples.size() >= 4);
  CHECK(s.witness.clock_ns < 0.12e9); // the limit counts the sweeps
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
        s.witness);
    s.cases[i].run = s.runs[i].get();
  }
  s.sample();
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<double>& taken = s.of(i).samples;
    // The first visit only looks; each later one warms up by four executions and times a fifth.
    CHECK(std::count(taken.begin(), taken.end(), 1e7) >= std::ssize(taken) - 1);
    CHECK(5 * std::ssize(taken) >= 2 * (s.runs[i]->executions - 3));
  }
}

TEST_CASE("disturbed visits are thrown away and repeated") {
  // Every third visit waits for the processor, and takes twice as long then.
  setup s({about(1e6, 0.1)});
  bool disturbed = false;
  s.witness.of_visit = [&](int visit) {
    const bool now = std::exchange(disturbed, visit % 3 == 1);
    return noise{.delayed = now ? 0.5 : 0};
  };
  const auto quiet = about(1e6, 0.1);
  s.runs[0] = std::make_unique<scripted>(
      [&, quiet](int i) { return (disturbed ? 2 : 1) * quiet(i); }, s.witness);
  s.cases[0].run = s.runs[0].get();
  s.sample();
  CHECK(s.of(0).rejected > 0);
  CHECK(s.of(0).disturbed.empty());
  CHECK(s.of(0).samples.size() >= 16);
  CHECK(*std::max_element(s.of(0).samples.begin(), s.of(0).samples.end()) < 1.2e6);
}

TEST_CASE("visits in which a case's device was slowed down are thrown away, and only its own") {
  const auto quiet = about(1e5);
  setup s({quiet, quiet});
  s.runs[0]->trouble = [](int look) { return look % 3 == 1 ? "it was hot" : ""; };
  s.runs[0]->power = 400;
  s.sample();
  CHECK(s.of(0).rejected > 0);
  CHECK(s.of(0).disturbed.empty());
  CHECK(s.of(0).power_w == 400);
  CHECK(s.of(1).rejected == 0);
  CHECK(s.of(1).power_w == 0);
}

TEST_CASE("who else uses the host's cores and memory does no harm to a device") {
  setup s({about(1e5), about(1e5)});
  s.cases[1].rival_class = 1;
  s.runs[0]->device = true;
  s.witness.of_visit = [](int i) { return noise{.crowded = i % 3 == 1 ? 0.5 : 0.0, .memory = 2}; };
  s.sample();
  CHECK(s.of(0).rejected == 0);
  CHECK(s.of(0).disturbed.empty());
  CHECK(s.of(1).disturbed.find("memory took 3.0 times as long") != std::string::npos);
}

TEST_CASE("of a long visit what a neighbour disturbed is lost, and what came before is kept") {
  // For 10 of each 50 ms a neighbour makes all slower; a visit takes up to 60 ms, a sample 2.
  const auto busy = [](double at) { return std::fmod(at, 50e6) > 40e6; };
  setup s({about(2e6)});
  s.witness.crowded = [&](double at) { return busy(at) ? 0.5 : 0.0; };
  s.runs[0] = std::make_unique<scripted>(
      [&](int i) { return (busy(s.witness.clock_ns) ? 1.3 : 1) * about(2e6)(i); }, s.witness);
  s.cases[0].run = s.runs[0].get();
  s.sample(effort::exhaustive);
  const std::vector<double>& taken = s.of(0).samples;
  CHECK(s.of(0).disturbed.empty());
  // But for one that ends when the neighbour has just gone.
  CHECK(20 * std::count_if(taken.begin(), taken.end(), [](double ns) { return ns > 2.1e6; }) <
        std::ssize(taken));
  CHECK(s.of(0).rejected > 0);
  CHECK(s.of(0).rejected < std::ssize(taken) / 2); // of whole visits hardly one would be left
}

TEST_CASE("a neighbour that leaves while a cold case runs is seen before it") {
  // A neighbour is there for 3 of each 7 ms; a sweep takes 3 ms.
  const auto busy = [](double at) { return std::fmod(at, 7e6) < 3e6; };
  setup s({about(1e6)});
  s.cases[0].before_execution = [&] { s.witness.clock_ns += 3e6; };
  s.witness.crowded = [&](double at) { return busy(at) ? 0.5 : 0.0; };
  s.runs[0] = std::make_unique<scripted>(
      [&](int i) { return (busy(s.witness.clock_ns) ? 1.3 : 1) * about(1e6)(i); }, s.witness);
  s.cases[0].run = s.runs[0].get();
  s.sample();
  CHECK(s.of(0).disturbed.empty());
  CHECK(s.of(0).samples.size() >= 4);
  CHECK(*std::max_element(s.of(0).samples.begin(), s.of(0).samples.end()) < 1.1e6);
}

TEST_CASE("a neighbour that comes while a short cold case runs is seen right after it") {
  // The witness looks every half millisecond; a neighbour is there in every other execution alone.
  setup s({about(2e5)});
  bool busy = false;
  s.cases[0].before_execution = [&] { s.witness.clock_ns += 3e6, busy = false; };
  s.witness.crowded = [&](double) { return busy ? 0.5 : 0.0; };
  s.witness.between_glances_ns = 0.5e6;
  s.runs[0] = std::make_unique<scripted>(
      [&](int i) {
        busy = i % 2 == 1;
        return (busy ? 1.3 : 1) * 2e5;
      },
      s.witness);
  s.cases[0].run = s.runs[0].get();
  s.sample();
  CHECK(s.of(0).disturbed.empty());
  CHECK(s.of(0).samples.size() >= 4);
  CHECK(*std::max_element(s.of(0).samples.begin(), s.of(0).samples.end()) == 2e5);
}

TEST_CASE("a neighbour in the middle of a long execution is seen between its parts") {
  // Each execution has four parts; in the third of every second one somebody is there.
  struct in_parts : scripted {
    using scripted::scripted;
    double time(int n) override {
      double sum = 0;
      for (int part = 0; part < 4; ++part) {
        sum += scripted::time(n);
        if (look) look(false);
      }
      return sum;
    }
    void between_parts(backend::look_between l) override { look = std::move(l); }
    backend::look_between look{};
  };
  setup s({about(1e6)});
  const auto busy = [&] { return s.runs[0]->executions % 8 == 3; };
  s.witness.crowded = [&](double) { return busy() ? 0.5 : 0.0; };
  s.runs[0] = std::make_unique<in_parts>([&](int i) { return i % 8 == 2 ? 2e6 : 1e6; }, s.witness);
  s.cases[0].run = s.runs[0].get();
  s.sample();
  CHECK(s.of(0).rejected > 0);
  CHECK(s.of(0).disturbed.empty());
  for (double ns : s.of(0).samples)
    CHECK(ns == 4e6);
  CHECK_FALSE(static_cast<in_parts&>(*s.runs[0]).look); // the witness may be gone by now
}

TEST_CASE("while somebody is beside us a case waits, and is sampled when he has left") {
  // We are alone for 2 of each 10 ms; a hot sample takes 0.3 ms, a cold one with its sweep 1.5.
  for (const bool cold : {false, true}) {
    const auto busy = [](double at) { return std::fmod(at, 10e6) < 8e6; };
    setup s({about(3e5)});
    sampled_case& c = s.cases[0];
    s.witness.crowded = [&](double at) { return busy(at) ? 0.5 : 0.0; };
    s.runs[0] = std::make_unique<scripted>(
        [&](int i) { return (busy(s.witness.clock_ns) ? 1.3 : 1) * about(3e5)(i); }, s.witness);
    c.run = s.runs[0].get();
    c.by_median = cold;
    bool swept = false;
    if (cold) {
      c.before_execution = [&] { s.witness.clock_ns += 1.2e6, swept = true; };
      c.bring_back = [&] {
        CHECK(swept); // after the sweep and the wait
        CHECK_FALSE(busy(s.witness.clock_ns));
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
    CHECK(c.lost_ns > c.spent_ns); // most of the time we waited
    CHECK(s.of(0).took_ns == c.lost_ns + c.spent_ns);
    CHECK(s.of(0).took_ns <= s.witness.clock_ns);
  }
}

TEST_CASE("for somebody who stays nobody waits longer than a case may lose") {
  setup s({about(1e5), about(2e5)});
  s.witness.crowded = [](double) { return 0.5; };
  s.sample();
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(s.of(i).samples.size() >= 2);
    CHECK(s.of(i).disturbed.find("something else ran on the same cores") == 0);
    CHECK(s.cases[i].lost_ns < 0.3e9);
  }
}

TEST_CASE("where each part was undisturbed in some execution, samples are put together") {
  struct pieces : scripted {
    using scripted::scripted;
    backend::pieced_runs pieced() const override { return given; }
    backend::pieced_runs given{};
  };
  for (const bool neighbours : {true, false})
    for (const std::size_t runs : {std::size_t{4}, std::size_t{3}}) {
      setup s({about(1e6)});
      auto p = std::make_unique<pieces>(about(1e6), s.witness);
      p->given = {std::vector<double>(runs, 9e5), {{"a", 5e5}, {"b", 4e5}}};
      s.runs[0] = std::move(p);
      s.cases[0].run = s.runs[0].get();
      s.witness.of_visit = [=](int) {
        return neighbours ? noise{.crowded = 0.5} : noise{.delayed = 0.5};
      };
      s.sample();
      const bool put_together = neighbours && runs == 4;
      CHECK((s.of(0).stop_reason == result::put_together) == put_together);
      CHECK(s.of(0).disturbed.empty() == put_together);
      CHECK(s.of(0).pieces.size() == (put_together ? 2 : 0));
      CHECK((s.of(0).samples == std::vector<double>(4, 9e5)) == put_together);
      if (put_together) CHECK(s.of(0).rejected == std::ssize(s.cases[0].samples));
    }
}

TEST_CASE("what whole undisturbed executions tell is not put together") {
  struct pieces : scripted {
    using scripted::scripted;
    backend::pieced_runs pieced() const override { return {{1, 1, 1, 1, 1}, {{"a", 1}}}; }
  };
  setup s({about(1e6)});
  s.runs[0] = std::make_unique<pieces>(about(1e6), s.witness);
  s.cases[0].run = s.runs[0].get();
  s.witness.of_visit = [](int i) { return noise{.crowded = i % 2 == 0 ? 0.5 : 0}; };
  s.sample();
  CHECK(s.of(0).pieces.empty());
  CHECK(least(s.of(0).samples) > 9e5);
}

TEST_CASE("a device that stays slow is told in its own words") {
  setup s({about(1e5)});
  s.runs[0]->trouble = [](int) { return "the clock was held down; let it cool"; };
  s.sample();
  CHECK(s.of(0).stop_reason == "disturbed too long");
  CHECK(s.of(0).disturbed == "the clock was held down; let it cool");
  CHECK_FALSE(s.of(0).samples.empty());
}

TEST_CASE("what is disturbed all the time ends, keeps its samples, and says by what") {
  setup s({about(1e6, 0.1)});
  s.witness.of_visit = [](int) { return noise{.delayed = 0.2}; };
  s.sample();
  CHECK(s.of(0).stop_reason == "disturbed too long");
  CHECK(s.of(0).samples.size() >= 4);
  CHECK(s.of(0).rejected == 0);
  CHECK(s.of(0).disturbed.find("waited for the processor 20 %") != std::string::npos);
  CHECK(s.witness.clock_ns < 0.3e9);
}

TEST_CASE("racing goes on in noise, and who lost there is not called disturbed without need") {
  setup s({about(1e6, 0.1), about(3e6, 0.1)});
  s.witness.of_visit = [](int) { return noise{.slowdown = 0.3}; };
  s.sample();
  CHECK(s.raced_out(1));
  CHECK(s.of(0).disturbed.find("30 % slower than at its best") != std::string::npos);
}

TEST_CASE("the load of others shows in a stretch: its visits are repeated, its losers come back") {
  // For the first 0.08 s of a race others make the winner slow.
  setup s({about(1e6, 0.01), about(0.5e6, 0.01)});
  s.runs[1] = std::make_unique<scripted>(
      [&](int) { return s.witness.clock_ns < 0.08e9 ? 1.8e6 : 0.5e6; }, s.witness);
  s.cases[1].run = s.runs[1].get();
  s.witness.foreign = [](double at) { return at < 0.08e9 ? 0.9 : 0; };
  s.sample();
  CHECK_FALSE(s.raced_out(1));
  CHECK(s.raced_out(0));
  CHECK(least(s.of(1).samples) == 0.5e6);
  CHECK(s.of(1).disturbed.empty());
  CHECK(s.of(1).rejected > 0);
}

TEST_CASE("load that stays is reported with what to do") {
  setup s({about(1e6, 0.1)});
  s.witness.foreign = [](double) { return 0.95; };
  s.sample();
  CHECK(s.of(0).disturbed ==
        "other processes used 95 % of the machine's processors: stop them, or run again later");
  CHECK(s.of(0).samples.size() >= 4);
  CHECK(s.witness.clock_ns < 0.4e9);
}

TEST_CASE("the end of sampling is judged too, even if it comes before a stretch is over") {
  setup s({about(1e6, 0.1)});
  int asked = 0;
  s.witness.foreign = [&](double) { return ++asked == 2 ? 0.9 : 0.0; };
  s.sample();
  CHECK(asked >= 3);
  CHECK(s.of(0).rejected > 0);
  CHECK(s.of(0).disturbed.empty());
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
  later.witness.of_visit = [&](int visit) {
    later.stop = visit == 1;
    return noise{};
  };
  later.sample();
  CHECK(later.of(0).stop_reason == "interrupted");
  CHECK(!later.of(0).samples.empty());
}

TEST_CASE("the clock that samples were taken at is kept with them") {
  setup s({about(1e6, 0.1)});
  s.witness.of_visit = [](int visit) { return noise{.slowdown = visit % 2 == 0 ? 0.01 : 0.03}; };
  s.sample();
  CHECK(s.of(0).slowdown >= 0.01);
  CHECK(s.of(0).slowdown <= 0.03);
}
