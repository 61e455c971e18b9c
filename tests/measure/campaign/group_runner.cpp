// SPDX-License-Identifier: Apache-2.0
#include "../../fake_powercap.hpp"
#include "../fake_library.hpp"
#include "../scripted_monitor.hpp"

#include <benanza/measure/campaign/group_runner.hpp>
#include <benanza/measure/subjects/case_list.hpp>
#include <doctest/doctest.h>

#include <utility>

using namespace benanza;
using namespace benanza::measure;

namespace {
struct request : selection, sampling_request {};

std::function<noise(int)> noise_of_slice;

struct measured {
  test::fake_library* library;
  std::vector<std::unique_ptr<backend::library>> libraries;
  std::vector<group> groups;
  explicit measured(std::vector<test::script> scripts, const char* layer_name, request o = {},
                    machine::package_energy* packages = nullptr) {
    auto fake = std::make_unique<test::fake_library>(std::move(scripts));
    library = fake.get();
    libraries.push_back(std::move(fake));
    if (o.seconds == 0) o.seconds = 1e-4;
    const op::layer l = op::parse(layer_name);
    groups = list_cases({{0, l, op::cost(l)}}, {}, libraries, o);
    test::scripted_monitor quiet;
    quiet.of_slice = noise_of_slice;
    group_runner runner({.llc_bytes = 1 << 16, .private_bytes = 1 << 10}, o, &quiet, packages);
    const std::atomic<bool> stop{false};
    for (group& g : groups)
      runner.measure(g, stop);
  }
  const result::measurement& of(std::size_t i) const {
    return groups.at(0).cases.at(i).results.at(0);
  }
};

const char* conv = "Conv/1x4x5x5-4x3x3-s1-p1";

request hot_only() {
  request o;
  o.states = {"hot"};
  return o;
}
} // namespace

TEST_CASE("each case gets its own time, and everything is freed") {
  const measured m(
      {{.algorithm = {.id = "fast"}, .ns = 3000}, {.algorithm = {.id = "slow"}, .ns = 5000}}, conv);
  REQUIRE(m.groups.at(0).cases.size() == 4);
  CHECK(m.of(0).min_ns == 3000);
  CHECK(m.of(0).state == "hot");
  CHECK(m.of(1).state == "coldw");
  CHECK(m.of(2).median_ns == 5000);
  CHECK(m.of(2).algorithm_index == 1);
  CHECK(m.of(0).flops == 2 * 4 * 4 * 9 * 25);
  CHECK(m.of(0).count > 0);
  CHECK(m.of(0).error.empty());
  CHECK(m.library->log.alive == 0);
}

TEST_CASE("the best of a reorder is believed sooner than that of a layer") {
  request o = hot_only();
  o.seconds = 10;
  const test::script one{.algorithm = {.id = "a"}, .ns = 1e6, .spread = 0.3};
  const measured change({one}, "reorder/1x64x56x56-plain-blocked16", o), patient({one}, conv, o);
  CHECK(patient.of(0).stop_reason == result::minimum_settled);
  CHECK(change.of(0).stop_reason == result::minimum_settled);
  CHECK(2 * patient.of(0).count > 3 * change.of(0).count);
}

TEST_CASE("cold weights are in a pool over twice the cache, hot ones are not") {
  const measured m({{.algorithm = {.id = "a"}}}, conv);
  CHECK(m.of(0).pool_bytes == 0);
  CHECK(m.of(1).pool_bytes >= (2 << 16) - 640);
  CHECK(m.of(1).weight_bytes == 4 * 4 * 9 * 4);
  CHECK(m.library->log.pooled == 1);
}

TEST_CASE("weights from the last cache are always the same ones: only private caches are emptied") {
  request o;
  o.states = {"hot", "llcw"}, o.states_given = true;
  const measured m({{.algorithm = {.id = "a"}}}, conv, o);
  CHECK(m.of(1).state == "llcw");
  CHECK(m.of(1).pool_bytes == 0);
  CHECK(m.of(1).error.empty());
  CHECK(m.of(1).count > 0);
  CHECK(m.library->log.pooled == 0);

  o.states = {"hot", "llcw", "coldw"};
  const measured all({{.algorithm = {.id = "a"}, .ns = 3000, .cold_ns = 4000}}, conv, o);
  CHECK(all.of(0).pool_bytes == 0);
  CHECK(all.of(1).pool_bytes == 0);
  CHECK(all.of(1).median_ns == 3000);
  CHECK(all.of(2).pool_bytes >= (2 << 16) - 640);
  CHECK(all.of(2).median_ns == 4000);
}

TEST_CASE("half of scratch memory has left the caches where others than its own layer were there" *
          doctest::skip(!machine::flushes)) {
  const auto odd_longer = [](const char* state) {
    request o;
    o.states = {state}, o.states_given = true;
    const measured m({{.algorithm = {.id = "a"}, .scratch = 256 << 10}}, conv, o);
    CHECK(m.of(0).error.empty());
    return m.library->log.scratch_pages.odd_longer();
  };
  const double far = odd_longer("coldw"), near = odd_longer("llcw"), hot = odd_longer("hot");
  CAPTURE(far);
  CAPTURE(near);
  CAPTURE(hot);
  CHECK(far > 2 * near);
  CHECK(far > 2 * hot);
}

TEST_CASE("the arena that algorithms share holds the largest weights, and stays where it is") {
  const std::int64_t kib = 1 << 10;
  const measured m({{.algorithm = {.id = "small"}, .weights = kib},
                    {.algorithm = {.id = "large"}, .weights = 192 * kib},
                    {.algorithm = {.id = "middle"}, .weights = 8 * kib}},
                   conv);
  CHECK(m.library->log.pooled == 3);
  CHECK(m.of(3).pool_bytes == 2 * 192 * kib);
  for (std::size_t i = 0; i < 6; ++i)
    CHECK(m.of(i).error.empty()); // the fake reads its pool in every execution
}

TEST_CASE("weights that fill the cache 4 times stay where they are: they are their own pool") {
  const measured m({{.algorithm = {.id = "huge"}, .weights = 256 << 10}}, conv);
  CHECK(m.library->log.pooled == 0);
  CHECK(m.of(0).pool_bytes == 0);
  CHECK(m.of(1).pool_bytes == 256 << 10);
}

TEST_CASE("a layer larger than the memory costs its cases before anything of it is made") {
  const auto asked = std::exchange(machine::memory_source(), [] { return std::int64_t{24} << 30; });
  const auto of = [](const char* layer) {
    const measured m({{.algorithm = {.id = "a"}}, {.algorithm = {.id = "b"}}}, layer);
    CHECK(m.library->log.prepared == 0);
    CHECK(m.of(0).error == m.of(3).error);
    return m.of(0).error;
  };
  // How much is available counts what this process keeps from before, and can give back.
  CHECK(of("Relu/1x1x1048576x1048576").starts_with("needs 26.4 TB of memory, 2"));
  CHECK(of("Relu/1x1x65536x32768").starts_with("needs 51.5 GB of memory, 2"));
  CHECK(of("Softmax/65536x32768-a1").starts_with("needs 51.5 GB of memory, 2"));
  CHECK(of("Relu/1099511627776x65536").starts_with("needs 1.7 EB of memory"));
  CHECK(of("Gather/1099511627776x4-1").starts_with("needs 35.2 TB of memory"));
  CHECK(of("Conv/1x3x8x8-68719476736x3x3-s1").starts_with("needs "));

  // What one algorithm needs for itself costs no other.
  const measured m({{.algorithm = {.id = "large", .workspace_bytes = std::int64_t{1} << 40}},
                    {.algorithm = {.id = "small"}}},
                   conv);
  CHECK(m.of(0).error.starts_with("needs 1.1 TB of memory"));
  CHECK(m.of(2).error.empty());
  CHECK(m.library->log.prepared == 1);
  machine::memory_source() = asked;
}

TEST_CASE("a failing algorithm is named and costs no other case") {
  const measured m({{.algorithm = {.id = "throws"}, .throws = true},
                    {.algorithm = {.id = "wrong"}, .wrong = true},
                    {.algorithm = {.id = "impostor"}, .runs_as = "somebody"},
                    {.algorithm = {.id = "good"}, .ns = 4000}},
                   "Relu/1x4x5x5", hot_only());
  CHECK(m.of(0).error.find("out of luck") != std::string::npos);
  CHECK(m.of(1).error.find("wrong result") != std::string::npos);
  CHECK(m.of(2).error.find("ran somebody in place of impostor") != std::string::npos);
  CHECK(m.of(3).error.empty());
  CHECK(m.of(3).median_ns == 4000);
  CHECK(m.library->log.alive == 0);
}

TEST_CASE("an algorithm that says it is inexact is held to a wider limit, not to none") {
  const measured m({{.algorithm = {.id = "rough", .equivalence = "f32-rough"}, .off_by = 1e-3},
                    {.algorithm = {.id = "lost", .equivalence = "f32-rough"}, .off_by = 1e6}},
                   "Relu/1x4x5x5", hot_only());
  CHECK(m.of(0).error.empty());
  CHECK(m.of(0).equivalence == "f32-rough");
  CHECK(m.of(1).error.find("even for an inexact") != std::string::npos);
}

TEST_CASE("a Winograd is of its type if it is as exact, else of its class, which has a limit too") {
  const auto winograd = [](double off_by) {
    return test::script{
        .algorithm = {.id = "off" + std::to_string(off_by), .equivalence = "f32-winograd"},
        .off_by = off_by};
  };
  const measured m({winograd(0), winograd(0.01), winograd(1)}, "Relu/1x4x5x5", hot_only());
  CHECK(m.of(0).error.empty());
  CHECK(m.of(0).equivalence == "f32");
  CHECK(m.of(1).error.empty());
  CHECK(m.of(1).equivalence == "f32-winograd");
  CHECK(m.of(2).error.find("inexact algorithm (f32-winograd): off by ") != std::string::npos);
  CHECK(m.of(2).error.find("% of its root mean square, 0.98 % may be") != std::string::npos);
}

TEST_CASE("what rounds is of its class however exact it is, and has a limit of its own") {
  const auto rounded = [](double off_by) {
    return test::script{
        .algorithm = {.id = "off" + std::to_string(off_by), .equivalence = "f32-rounded"},
        .off_by = off_by};
  };
  const measured m({rounded(0), rounded(0.01), rounded(1)}, "Relu/1x4x5x5", hot_only());
  for (const int i : {0, 1}) {
    CHECK(m.of(i).error.empty());
    CHECK(m.of(i).equivalence == "f32-rounded");
  }
  CHECK(m.of(2).error.find("inexact algorithm (f32-rounded): off by ") != std::string::npos);
  CHECK(m.of(2).error.find("% of its root mean square, 2 % may be") != std::string::npos);
}

TEST_CASE(
    "an algorithm is prepared once for all its states, and runs in the one it is visited for") {
  request o;
  o.states = {"hot", "coldw", "cold"};
  const measured m({{.algorithm = {.id = "a"}, .ns = 3000, .cold_ns = 4000}}, conv, o);
  REQUIRE(m.groups.at(0).cases.size() == 3);
  CHECK(m.library->log.prepared == 1);
  CHECK(m.of(0).median_ns == 3000);
  CHECK(m.of(1).median_ns == 4000); // with the pool's weights
  CHECK(m.of(2).median_ns == 3000); // with its own
  CHECK(m.of(2).state == "cold");
  CHECK(m.of(2).pool_bytes == 0);
}

TEST_CASE("a device empties its own caches before each execution of a cold case, and of no other") {
  request o;
  o.states = {"cold"};
  const measured m({{.algorithm = {.id = "a"}, .ns = 500, .on_device = true}}, "Relu/1x4x5x5", o);
  CHECK(m.of(0).median_ns == 500);
  CHECK(m.library->log.flushed >= 4);
  o.states = {"hot"};
  const measured hot({{.algorithm = {.id = "a"}, .on_device = true}}, "Relu/1x4x5x5", o);
  CHECK(hot.of(0).median_ns == 1000);
  CHECK(hot.library->log.flushed == 0);
}

TEST_CASE("cold weights of a device come from its own memory") {
  const measured m({{.algorithm = {.id = "a"}, .cold_ns = 4000, .on_device = true}}, conv);
  CHECK(m.of(1).median_ns == 4000);
  CHECK(m.of(1).pool_bytes == 64);
}

TEST_CASE("what runs on a device does not race what runs on the host") {
  const measured m({{.algorithm = {.id = "a"}, .ns = 100000},
                    {.algorithm = {.id = "b"}, .ns = 1000, .on_device = true}},
                   "Relu/1x4x5x5");
  for (const std::size_t i : {0u, 1u})
    CHECK(!result::was_raced_out(m.of(i).stop_reason));
}

TEST_CASE("rivals race within a state, and a loser says that it was raced out") {
  request o;
  o.seconds = 0.01;
  o.all_algorithms = true;
  const measured m({{.algorithm = {.id = "a"}, .ns = 30000, .cold_ns = 110000},
                    {.algorithm = {.id = "b"}, .ns = 70000, .cold_ns = 50000},
                    {.algorithm = {.id = "rough", .equivalence = "f32-rough"}, .ns = 900000}},
                   conv, o);
  const auto lost = [&](std::size_t i) { return result::was_raced_out(m.of(i).stop_reason); };
  CHECK_FALSE(lost(0));
  CHECK(lost(1));
  CHECK(lost(2));
  CHECK_FALSE(lost(3));
  CHECK_FALSE(lost(4));
  CHECK(m.of(2).stop_reason == "raced out: 2.3 times the best");
  CHECK(m.of(2).min_ns == 70000);
  o.effort = effort::exhaustive;
  const measured all(
      {{.algorithm = {.id = "a"}, .ns = 30000}, {.algorithm = {.id = "b"}, .ns = 9e5}}, conv, o);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(all.of(i).stop_reason == result::time_limit);
}

TEST_CASE("noise that lasts is in the result, noise that passed is only counted") {
  request o;
  o.seconds = 0.01;
  noise_of_slice = [](int) { return noise{.waiting = 0.5}; };
  const measured loud({{.algorithm = {.id = "a"}, .ns = 30000}}, "Relu/1x4x5x5", o);
  CHECK(loud.of(0).disturbed.find("waited for the processor") != std::string::npos);
  CHECK(loud.of(0).error.empty());
  noise_of_slice = [](int visit) { return noise{.waiting = visit == 1 ? 0.5 : 0}; };
  const measured passed({{.algorithm = {.id = "a"}, .ns = 30000}}, "Relu/1x4x5x5", o);
  CHECK(passed.of(0).disturbed.empty());
  CHECK(passed.of(0).rejected > 0);
  noise_of_slice = nullptr;
}

TEST_CASE("the parts of a case are in the result") {
  const measured m(
      {{.algorithm = {.id = "a"}, .ns = 30000, .parts = {{"x/a n 0", 2e4}, {"y", 1e4}}},
       {.algorithm = {.id = "b"}, .ns = 30000}},
      "Relu/1x4x5x5", hot_only());
  CHECK(m.of(0).parts == std::vector<timed_part>{{"x/a n 0", 2e4}, {"y", 1e4}});
  CHECK(m.of(1).parts.empty());
}

TEST_CASE("a device is woken once for a group, and what it says of a case is in the result") {
  const test::script on_device{.algorithm = {.id = "a", .notes = "heuristic"},
                               .ns = 30000,
                               .on_device = true,
                               .clock_ns = 505,
                               .account = {.watched_ns = 10, .held_by_power_ns = 2}};
  const measured m({on_device}, "Relu/1x4x5x5", hot_only());
  CHECK(m.library->log.woken == 1);
  CHECK(m.of(0).clock_ns == 505);
  CHECK(m.of(0).min_clock_ns == 505);
  CHECK(m.of(0).notes == "heuristic,limited by power in 20 % of the time");
  CHECK(m.of(0).energy_nj == 0);
  CHECK(m.of(0).rejected == 0);
  const measured host({{.algorithm = {.id = "a"}, .ns = 30000}}, "Relu/1x4x5x5", hot_only());
  CHECK(host.library->log.woken == 0);
  CHECK(host.of(0).notes.empty());
}

TEST_CASE("the energy of a case is what the packages drew while it ran on end") {
  test::fake_powercap fake;
  fake.zone("intel-rapl:0", "package-0", 0);
  machine::package_energy packages(fake.folder());
  double uj = 0;
  const auto draws = [&](double watts) {
    return [&, watts](double ns) {
      uj += watts * ns / 1e3;
      fake.set("intel-rapl:0", static_cast<std::uint64_t>(uj));
    };
  };
  const std::vector<test::script> all{
      {.algorithm = {.id = "best"}, .ns = 3e6, .cold_ns = 5e6, .took = draws(40)},
      {.algorithm = {.id = "slow"}, .ns = 9e6, .took = draws(90)}};
  request o;
  o.seconds = 0.1;
  const measured m(all, conv, o, &packages);
  CHECK(m.of(0).energy_nj == doctest::Approx(40 * 3e6).epsilon(1e-3));
  CHECK(m.of(1).state == "coldw");
  CHECK(m.of(1).energy_nj == doctest::Approx(40 * 5e6).epsilon(1e-3));
  CHECK(m.of(2).energy_nj == 0); // it cannot win
  CHECK(measured(all, "reorder/1x64x56x56-plain-blocked16", o, &packages).of(0).energy_nj == 0);

  // Shorter than the steps of the counter: nothing, and nothing is run for it.
  o.seconds = 0.04;
  const measured brief(all, conv, o, &packages), without(all, conv, o);
  CHECK(brief.of(0).energy_nj == 0);
  CHECK(brief.library->log.executions == without.library->log.executions);

  o.seconds = 0.1;
  o.repetitions = 2;
  const measured twice(all, conv, o, &packages);
  REQUIRE(twice.groups[0].cases[0].results.size() == 2);
  for (const result::measurement& one : twice.groups[0].cases[0].results)
    CHECK(one.energy_nj == doctest::Approx(40 * 3e6).epsilon(1e-3));
}

TEST_CASE("a device's energy is its own, where cases are sampled for long enough") {
  test::fake_powercap fake;
  fake.zone("intel-rapl:0", "package-0", 0);
  machine::package_energy packages(fake.folder());
  test::script device{.algorithm = {.id = "a"}, .ns = 1e6, .on_device = true, .watts = 300};
  request o = hot_only();
  o.seconds = 1;
  CHECK(measured({device}, conv, o, &packages).of(0).energy_nj == doctest::Approx(300 * 1e6));
  o.seconds = 0.9;
  CHECK(measured({device}, conv, o, &packages).of(0).energy_nj == 0);
  device.watts = 0;
  o.seconds = 1;
  CHECK(measured({device}, conv, o, &packages).of(0).energy_nj == 0);
}

TEST_CASE("a wrong algorithm is wrong in both states, and not checked twice") {
  const measured m({{.algorithm = {.id = "wrong"}, .wrong = true}}, conv);
  CHECK(m.of(0).error.find("wrong result") != std::string::npos);
  CHECK(m.of(1).error == m.of(0).error);
  CHECK(m.library->log.prepared == 1);
}

TEST_CASE("repetitions are independent passes with figures of their own") {
  request o;
  o.repetitions = 3;
  const measured m({{.algorithm = {.id = "a"}, .ns = 3000}}, "Relu/1x4x5x5", o);
  CHECK(m.groups.at(0).cases.at(0).results.size() == 3);
}
