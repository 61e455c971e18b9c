// SPDX-License-Identifier: Apache-2.0
#include "../scripted_case.hpp"

#include <benanza/measure/sampling/energy.hpp>
#include <doctest/doctest.h>

#include <optional>

namespace test_of_energy {
using namespace benanza;
using namespace benanza::measure;
using benanza::test::scripted;

/// One case that was sampled, and a counter that goes on with the virtual clock.
struct one_case {
  test::setup all;
  double watts = 0;
  int asked = 0;
  energy_counter counter{.joules =
                             [this] {
                               ++asked;
                               return std::optional(watts * all.monitor.clock_ns / 1e9);
                             },
                         .step_ns = 1e6};
  explicit one_case(double w, scripted::script ns = test::about(20e3))
      : all({std::move(ns)})
      , watts(w) {
    all.sample();
  }
  std::optional<double> told() { return watts_of(all.cases[0], counter, all.monitor); }
  int executions() const { return all.runs[0]->executions; }
};

TEST_CASE("the power of a case is what the counter went on by while it ran on end") {
  one_case c(35);
  const int sampled = c.executions();
  const double began_ns = c.all.monitor.clock_ns;
  CHECK(c.told().value_or(0) == doctest::Approx(35).epsilon(1e-3));
  CHECK(c.asked == 2); // before all executions, and behind them
  CHECK(c.executions() - sampled >= 50e6 / 20.4e3);
  CHECK(c.all.monitor.clock_ns - began_ns < 60e6);
  CHECK(c.all.slices.back() == 0); // in its own state
}

TEST_CASE("a counter that steps rarely is watched for ten steps") {
  one_case c(35);
  c.counter.step_ns = 1e8;
  const double began_ns = c.all.monitor.clock_ns;
  CHECK(c.told().value_or(0) == doctest::Approx(35).epsilon(1e-3));
  CHECK(c.all.monitor.clock_ns - began_ns >= 1e9);
}

TEST_CASE("a power that cannot be is none") {
  CHECK_FALSE(one_case(0).told());   // the counter does not move
  CHECK_FALSE(one_case(-20).told()); // and goes back
  CHECK_FALSE(one_case(2100).told());
  CHECK(one_case(1900).told());
  one_case gone(35);
  gone.counter.joules = [] { return std::optional<double>(); };
  CHECK_FALSE(gone.told());
  one_case goes(35);
  goes.counter.joules = [n = 0]() mutable { return n++ == 0 ? std::optional(1.0) : std::nullopt; };
  CHECK_FALSE(goes.told());
}

TEST_CASE("executions unlike those that were sampled give no energy for them") {
  const auto after = [](double ns) {
    one_case c(35, [ns](int i) { return i < 100'000 ? 20e3 : ns; });
    while (c.executions() < 100'000)
      c.all.runs[0]->time(1000);
    return c.told().has_value();
  };
  CHECK(after(38e3));
  CHECK_FALSE(after(44e3));
  CHECK_FALSE(after(8e3));

  const auto slower_from = [](int first) {
    one_case c(35, [first](int i) { return i < first ? 20e3 : 50e3; });
    c.all.runs[0]->time(99'000 - c.executions());
    const bool told = c.told().has_value();
    CHECK(c.asked == (first < 99'100 ? 0 : 2)); // known before it runs on end
    return told;
  };
  CHECK_FALSE(slower_from(99'000));
  CHECK_FALSE(slower_from(99'150));
  CHECK(slower_from(101'000));
}

TEST_CASE("what others drew meanwhile is no case's") {
  one_case c(35);
  c.all.monitor.of_slice = [](int) { return noise{.waiting = 0.5}; };
  CHECK_FALSE(c.told());
  c.all.monitor.of_slice = nullptr;
  c.all.monitor.other_load = [](double) { return 0.5; };
  CHECK_FALSE(c.told());
  c.all.runs[0]->device = true; // a device has an account of its own
  CHECK(c.told());
}

TEST_CASE("time that passed between executions is not theirs") {
  one_case c(35);
  struct between : scripted {
    using scripted::scripted;
    test::scripted_monitor* clock = nullptr;
    double time(int n) override {
      const double ns = scripted::time(n);
      clock->clock_ns += 0.2 * ns;
      return ns;
    }
  } slow(test::about(20e3), c.all.monitor);
  slow.clock = &c.all.monitor;
  c.all.cases[0].run = &slow;
  CHECK_FALSE(c.told());
}
} // namespace test_of_energy
