// SPDX-License-Identifier: Apache-2.0
// Loads on a model: how they are written down, when queries arrive, and that latencies are what a
// queue of the same arrivals says.
#include "../scripted_case.hpp"

#include <benanza/measure/scenario/run.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace benanza::measure {
namespace {

std::string refused(std::string_view text) {
  try {
    (void)parse_scenario(text);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

/// A model that takes `ns`, and a clock that goes on with it and while a query is waited for.
struct served {
  explicit served(test::scripted::script ns)
      : model(std::move(ns), monitor) {}
  test::scripted_monitor monitor{};
  test::scripted model;
  std::atomic<bool> stop{false};
  scenario_outcome under(std::string_view text) {
    return run_scenario(
        model, parse_scenario(text), [this] { return monitor.clock_ns += 500; }, stop);
  }
};

TEST_CASE("a scenario is written down as it is read, and what is usual is left out") {
  for (const char* text :
       {"single_stream", "multi_stream", "multi_stream:streams=3", "offline:seconds=0.5",
        "server:rate=20", "server:rate=0.5,percentile=97.5,seed=7", "server:limit=50ms",
        "server:limit=12.5ms,percentile=95,seconds=10"})
    CHECK(name(parse_scenario(text)) == text);
  CHECK(parse_scenario("server:limit=2s") == parse_scenario("server:limit=2000ms"));
  CHECK(parse_scenario("server:limit=500us") == parse_scenario("server:limit=0.5ms"));
  CHECK(parse_scenario("server:limit=50") ==
        parse_scenario("server:limit=50ms,seconds=2,percentile=99"));
  CHECK(parse_scenario("single_stream").percentile == 90);
}

TEST_CASE("what is no scenario is refused in a line that says what there is") {
  CHECK(refused("poisson").find("single_stream, multi_stream, server and offline") !=
        std::string::npos);
  CHECK(refused("server").find("server:rate=20") != std::string::npos);
  CHECK(refused("server:rate=20,limit=50ms").find("either") != std::string::npos);
  for (const char* text :
       {"server:rate=0", "server:rate=-1", "server:rate=nan", "server:rate=1e9", "server:rate",
        "server:limit=x", "server:limit=infms", "server:limit=nan", "offline:seconds=1e9",
        "offline:percentile=100", "single_stream:rate=2", "multi_stream:streams=0",
        "multi_stream:streams=1.5", "server:rate=2,streams=3", "single_stream:", "",
        "server:rate=2,seed=-1", "\x1b[31m"}) {
    CAPTURE(text);
    CHECK(refused(text) != "");
    CHECK(refused(text).find('\x1b') == std::string::npos);
  }
}

TEST_CASE("as many queries arrive as were asked for, in order, and by chance") {
  const std::vector<double> at = arrivals(50, 4, 3);
  REQUIRE(at.size() == 200);
  CHECK(std::is_sorted(at.begin(), at.end()));
  CHECK(at.front() >= 0);
  CHECK(at.back() < 4e9);
  CHECK(at == arrivals(50, 4, 3));
  CHECK(at != arrivals(50, 4, 4));
  CHECK(arrivals(0.001, 1, 1).size() == 1);
  // Of gaps by chance a share of 1/e is longer than the mean.
  const std::vector<double> many = arrivals(1000, 100, 5);
  std::size_t longer = 0;
  for (std::size_t i = 1; i < many.size(); ++i)
    longer += many[i] - many[i - 1] > 1e6;
  CHECK(static_cast<double>(longer) / static_cast<double>(many.size()) ==
        doctest::Approx(std::exp(-1)).epsilon(0.02));
}

TEST_CASE("a queue of one server waits as theory says of even service") {
  CHECK(queued({0, 1, 10}, {5, 5, 5}) == std::vector<double>{5, 9, 5});
  const double service_ns = 1e6, busy = 0.7; // M/D/1: mean wait = busy / (2 (1 - busy)) services
  const std::vector<double> at = arrivals(1e9 / service_ns * busy, 200, 9);
  const std::vector<double> in = queued(at, std::vector<double>(at.size(), service_ns));
  const double mean = std::accumulate(in.begin(), in.end(), 0.0) / static_cast<double>(in.size());
  CHECK(mean / service_ns == doctest::Approx(1 + busy / (2 * (1 - busy))).epsilon(0.03));
}

TEST_CASE("latencies of a server are those of the queue, and the load is the one asked for") {
  served s(test::about(20e6, 0.3));
  const scenario_outcome o = s.under("server:rate=30,seconds=20");
  CHECK(o.latencies_ns.size() == 600);
  CHECK(o.figures.offered_per_s == doctest::Approx(30).epsilon(0.01));
  CHECK(o.figures.percentile == 99);
  CHECK(o.figures.percentile_ns == doctest::Approx(o.figures.queued_ns).epsilon(0.001));
  CHECK(o.figures.percentile_ns > 26e6); // some waited
  CHECK(o.figures.completed_per_s == doctest::Approx(30).epsilon(0.02));
}

TEST_CASE("the highest load within a limit is that of theory, whatever the chances are") {
  // M/M/1: a percentile p of the time in the queue is -log(1 - p) / (served - load).
  std::vector<double> service;
  for (int i = 0; i < 20000; ++i)
    service.push_back(-1e7 * std::log1p(-(i + 0.5) / 20000));
  for (const double busy : {0.3, 0.6, 0.9})
    for (const double percentile : {90.0, 99.0}) {
      CAPTURE(busy);
      CAPTURE(percentile);
      const double limit_ns = -std::log1p(-percentile / 100) * 1e7 / (1 - busy);
      for (const std::uint64_t seed : {1u, 100u, 200u}) {
        const offered_load found = highest_load(service, limit_ns, percentile, seed);
        CHECK(found.per_s == doctest::Approx(100 * busy).epsilon(0.03));
        CHECK(found.lowest_per_s <= 100 * busy);
        CHECK(found.highest_per_s >= 100 * busy);
        CHECK(found.highest_per_s < 1.2 * found.lowest_per_s);
      }
    }
  // Nothing is served within less than it takes; with all the time of the world nearly all is.
  CHECK(highest_load({1e7}, 9e6, 99, 1).per_s < 0.01);
  CHECK(highest_load({1e7}, 1e12, 99, 1).per_s == doctest::Approx(100).epsilon(0.02));
}

TEST_CASE("a server with a limit runs at the highest load that keeps it") {
  served s(test::about(10e6));
  const scenario_outcome o = s.under("server:limit=30ms,seconds=20");
  CHECK(o.figures.offered_per_s == doctest::Approx(o.figures.highest_from_per_s).epsilon(0.05));
  CHECK(o.figures.highest_from_per_s <= o.figures.highest_per_s);
  CHECK(o.figures.highest_to_per_s >= o.figures.highest_per_s);
  CHECK(o.figures.percentile_ns == doctest::Approx(30e6).epsilon(0.3));
  const scenario_outcome none = s.under("server:limit=5ms");
  CHECK(none.figures.offered_per_s == 0);
  CHECK(none.figures.highest_per_s == 0);
  CHECK(none.figures.percentile_ns > 5e6);
}

TEST_CASE("queries one after the other, of several executions each") {
  served s(test::about(10e6));
  const scenario_outcome one = s.under("single_stream:seconds=1"),
                         eight = s.under("multi_stream:seconds=4");
  CHECK(one.latencies_ns.size() == doctest::Approx(100).epsilon(0.05));
  CHECK(one.figures.completed_per_s == doctest::Approx(100).epsilon(0.05));
  CHECK(eight.figures.percentile_ns == doctest::Approx(8 * 10.1e6).epsilon(0.05));
  CHECK(eight.figures.completed_per_s == doctest::Approx(100).epsilon(0.05));
  s.stop = true;
  CHECK(s.under("offline").latencies_ns.empty());
}

TEST_CASE(
    "a case under a scenario has its latencies, and of several executions a query has the work") {
  served s(test::about(10e6));
  for (const auto& [text, executions] :
       {std::pair("single_stream:seconds=1", 1), std::pair("multi_stream:seconds=1", 8)}) {
    result::measurement m;
    m.flops = 3;
    m.algorithm_flops = 2;
    m.bytes = 5;
    const std::vector<double> times =
        scenario_run(parse_scenario(text))
            .run(
                s.model, [&] { return s.monitor.clock_ns += 500; }, s.stop, m);
    CHECK(times.size() >= 20);
    CHECK(m.scenario.percentile_ns > executions * 9e6);
    CHECK(m.flops == 3 * executions);
    CHECK(m.algorithm_flops == 2 * executions);
    CHECK(m.bytes == 5 * executions);
  }
}

} // namespace
} // namespace benanza::measure
