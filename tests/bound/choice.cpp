// SPDX-License-Identifier: Apache-2.0
// Which algorithm is chosen for a layer, on which samples, and what if some states are missing?
#include "../result/synthetic.hpp"

#include "benanza/bound/coverage.hpp"
#include "benanza/bound/layers.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using benanza::numeric;
using benanza::bound::case_table;
using benanza::bound::choice;
using benanza::bound::warmth;
using benanza::result::measurement;
using benanza::result::run;
using synthetic::conv;
using synthetic::timed;

choice choose(const run& r, const std::string& layer = conv, const char* state = "coldw") {
  return benanza::bound::choose(case_table(r).of(layer, numeric::f32, 1), warmth::in(state));
}

/// With that share of the weights gone from the last cache.
choice choose(const run& r, double gone) {
  return benanza::bound::choose(case_table(r).of(conv, numeric::f32, 1), {.gone = gone});
}

} // namespace

TEST_CASE("the bound is the least hot sample, the prediction the cold-weights winner") {
  run r = synthetic::empty_run();
  synthetic::add(r, conv, "first", 0, 100, 1.1);
  synthetic::add(r, conv, "winograd", 1, 80, 1.5);
  const choice c = choose(r);
  CHECK(c.best->algorithm == "winograd");
  CHECK(c.bound.ns == 80);
  CHECK(c.chosen->algorithm == "first");
  CHECK(c.chosen->state == "coldw");
  CHECK(c.prediction.ns > 110);
  CHECK(c.prediction.ns < 121);
  CHECK(choose(r, conv, "hot").chosen->algorithm == "winograd");
}

TEST_CASE("a minimum that was thinned out of the samples sets the bound") {
  run r = synthetic::empty_run();
  synthetic::add(r, conv, "a", 0, 100);
  r.measurements[0].min_ns = 97;
  CHECK(choose(r).bound.ns == 97);
}

TEST_CASE("chosen on the even half of the samples, reported on the odd half") {
  run r = synthetic::empty_run();
  // By all samples `b` would win.
  r.measurements = {timed(conv, "a", 0, "coldw", {100, 200, 100, 200, 100, 200}),
                    timed(conv, "b", 1, "coldw", {110, 90, 110, 90, 110, 90})};
  const choice c = choose(r);
  CHECK(c.chosen->algorithm == "a");
  CHECK(c.prediction.ns == 200);
  r.measurements = {timed(conv, "a", 0, "coldw", {100})};
  CHECK(choose(r).prediction.ns == 100);
}

TEST_CASE("within three percent the smaller workspace wins, then the library's order") {
  run r = synthetic::empty_run();
  r.measurements = {timed(conv, "fast", 3, "coldw", {100, 100}),
                    timed(conv, "small", 7, "coldw", {102, 102}),
                    timed(conv, "early", 1, "coldw", {102.5, 102.5}),
                    timed(conv, "slow", 0, "coldw", {104, 104})};
  CHECK(choose(r).chosen->algorithm == "early");
  for (measurement& m : r.measurements)
    m.workspace_bytes = m.algorithm == "small" ? 1 : 2;
  CHECK(choose(r).chosen->algorithm == "small");
  r.measurements[3].workspace_bytes = 0;
  CHECK(choose(r).chosen->algorithm == "small");
}

TEST_CASE("what was raced out does not win by a few lucky samples, unless there is nothing else") {
  run r = synthetic::empty_run();
  r.measurements = {timed(conv, "lucky", 0, "coldw", {90, 300, 95, 300}),
                    timed(conv, "steady", 1, "coldw", {100, 101, 100, 101, 100, 101})};
  CHECK(choose(r).chosen->algorithm == "lucky");
  r.measurements[0].stop_reason = benanza::result::raced_out(1.5);
  CHECK(choose(r).chosen->algorithm == "steady");
  CHECK(choose(r).first->algorithm == "lucky");
  r.measurements.pop_back();
  CHECK(choose(r).chosen->algorithm == "lucky");
}

TEST_CASE("the library's first choice goes by its index, not by the order of entries") {
  run r = synthetic::empty_run();
  r.measurements = {timed(conv, "b", 1, "coldw", {90, 90}),
                    timed(conv, "a", 0, "coldw", {120, 120}),
                    timed(conv, "plain", 0, "coldw", {70, 70})};
  r.measurements[2].backend = r.measurements[2].fallback = "host";
  const choice c = choose(r);
  CHECK(c.first->algorithm == "a");
  CHECK(c.first_choice.ns == 120);
  CHECK(c.chosen->algorithm == "plain");
}

TEST_CASE("only equivalent algorithms that did not fail compete") {
  run r = synthetic::empty_run();
  synthetic::add(r, conv, "exact", 0, 100);
  synthetic::add(r, conv, "rough", 1, 10);
  synthetic::add(r, conv, "broken", 2, 10);
  for (measurement& m : r.measurements) {
    if (m.algorithm == "rough") m.equivalence = "f32-winograd";
    if (m.algorithm == "broken") m.error = "wrong result";
  }
  CHECK(choose(r).bound.ns == 100);
  const auto cases = case_table(r).of(conv, numeric::f32, 1);
  CHECK(cases.algorithms.size() == 1);
  CHECK(cases.failed.size() == 2);
  CHECK(cases.inexact);
}

TEST_CASE("missing states are used around and marked") {
  run hot = synthetic::empty_run(), cold = hot, weightless = hot;
  hot.measurements = {timed(conv, "a", 0, "hot", {100, 104})};
  cold.measurements = {timed(conv, "a", 0, "coldw", {110, 114})};
  weightless.measurements = {timed(synthetic::relu, "a", 0, "hot", {100, 104})};

  CHECK(choose(hot).prediction_too_low);
  CHECK_FALSE(choose(hot).bound_from_coldw);
  CHECK(choose(hot).prediction.ns == 104);
  CHECK_FALSE(choose(hot, conv, "hot").prediction_too_low);

  CHECK(choose(cold).bound_from_coldw);
  CHECK(choose(cold).bound.ns == 110);
  CHECK_FALSE(choose(cold).prediction_too_low);

  run warm = synthetic::empty_run(), all = hot;
  warm.measurements = {timed(conv, "a", 0, "llcw", {105, 109})};
  all.measurements.push_back(warm.measurements[0]);
  all.measurements.push_back(cold.measurements[0]);
  CHECK(choose(warm).prediction_too_low);
  CHECK(choose(warm).prediction.ns == 109);
  CHECK(choose(warm).bound_from_coldw);
  CHECK_FALSE(choose(warm, conv, "llcw").prediction_too_low);
  CHECK_FALSE(choose(warm, conv, "llcw").prediction_too_high);
  CHECK(choose(cold, conv, "llcw").prediction_too_high);
  CHECK(choose(cold, conv, "llcw").prediction.ns == 114);
  CHECK(choose(hot, conv, "llcw").prediction_too_low);
  CHECK(choose(all).prediction.ns == 114);
  CHECK(choose(all, conv, "llcw").prediction.ns == 109);
  CHECK(choose(all, conv, "hot").prediction.ns == 104);
  CHECK(choose(all).bound.ns == 100);
  CHECK_FALSE(choose(all, conv, "llcw").prediction_too_low);
  CHECK_FALSE(choose(all, conv, "llcw").prediction_too_high);

  CHECK_FALSE(choose(weightless, synthetic::relu).prediction_too_low);
  CHECK(choose(synthetic::empty_run()).best == nullptr);
}

TEST_CASE("weights that are partly gone: between the times with all of them and with none") {
  run r = synthetic::empty_run();
  r.measurements = {timed(conv, "a", 0, "hot", {90}),
                    timed(conv, "a", 0, "llcw", {100, 101, 102, 103}),
                    timed(conv, "a", 0, "coldw", {200, 202, 204, 206}),
                    timed(conv, "b", 1, "llcw", {120, 121, 122, 123}),
                    timed(conv, "b", 1, "coldw", {150, 151, 152, 153})};
  double before = 0;
  for (const double gone : {0.0, 0.2, 0.5, 0.9, 1.0}) {
    CAPTURE(gone);
    const choice c = choose(r, gone);
    CHECK(c.chosen->algorithm == (gone < 0.3 ? "a" : "b"));
    CHECK(c.chosen->state == (gone > 0 ? "coldw" : "llcw"));
    REQUIRE((c.chosen_warmer != nullptr) == (gone > 0 && gone < 1));
    if (c.chosen_warmer != nullptr) {
      CHECK(c.chosen_warmer->state == "llcw");
      CHECK(c.chosen_warmer->algorithm == c.chosen->algorithm);
    }
    CHECK(c.prediction.ns > before);
    before = c.prediction.ns;
    CHECK(c.first->algorithm == "a");
  }
  CHECK(choose(r, 0.5).prediction.ns == doctest::Approx((122 + 152) / 2.));
  CHECK(choose(r, 0.2).prediction.ns == doctest::Approx(0.8 * 102 + 0.2 * 204));
  CHECK(choose(r, 0.2).first_choice.ns == choose(r, 0.2).prediction.ns);
  CHECK(choose(r, 0.5).prediction.sorted_ns.front() == doctest::Approx((121 + 151) / 2.));
  CHECK(choose(r, 0.5).prediction.sorted_ns.back() == doctest::Approx((123 + 153) / 2.));
  CHECK_FALSE(choose(r, 0.5).prediction_too_high);
  CHECK_FALSE(choose(r, 0.5).prediction_too_low);
}

TEST_CASE("weights that are partly gone, where only one of both states was measured") {
  run cold = synthetic::empty_run(), warm = cold, one_lacks = cold;
  cold.measurements = {timed(conv, "a", 0, "coldw", {200})};
  warm.measurements = {timed(conv, "a", 0, "llcw", {100})};
  CHECK(choose(cold, 0.5).prediction.ns == 200);
  CHECK(choose(cold, 0.5).prediction_too_high);
  CHECK(choose(cold, 0.5).chosen_warmer == nullptr);
  CHECK(choose(warm, 0.5).prediction.ns == 100);
  CHECK(choose(warm, 0.5).prediction_too_low);
  // Without weights all states are the same.
  for (measurement& m : cold.measurements)
    m.weight_bytes = 0;
  CHECK_FALSE(choose(cold, 0.5).prediction_too_high);
  one_lacks.measurements = {timed(conv, "a", 0, "coldw", {130}),
                            timed(conv, "b", 1, "coldw", {200}),
                            timed(conv, "b", 1, "llcw", {100})};
  CHECK(choose(one_lacks, 0.2).chosen->algorithm == "b");
  CHECK(choose(one_lacks, 0.8).chosen->algorithm == "a");
}

TEST_CASE("a time at another clock: what it takes with hot caches follows, the rest does not") {
  using benanza::bound::by_clock;
  run r = synthetic::empty_run();
  r.measurements = {timed(conv, "a", 0, "hot", {100e3}), timed(conv, "a", 0, "coldw", {150e3})};
  CHECK(choose(r).prediction.clocked.at(500) == 150e3); // no clock was told
  CHECK(choose(r).prediction.clocked.per_clock == 0);
  r.measurements[0].clock_ns = 1000;
  CHECK(choose(r).prediction.clocked.at(2000) == 150e3);
  r.measurements[1].clock_ns = 1100; // the hot part of it took 110e3
  const by_clock c = choose(r).prediction.clocked;
  CHECK(c.at(1100) == doctest::Approx(150e3));
  CHECK(c.at(1000) == doctest::Approx(140e3));
  CHECK(c.at(2000) == doctest::Approx(240e3));
  CHECK(choose(r, conv, "hot").prediction.clocked.at(1200) == doctest::Approx(120e3));
  // Nothing waits less than nothing for memory.
  CHECK(by_clock::of(90, 1000, 100, 1000).at(2000) == doctest::Approx(180));
  by_clock sum = c * 2;
  sum += {.still_ns = 5};
  CHECK(sum.at(1000) == doctest::Approx(280e3 + 5));
  CHECK(choose(r).bound.clocked.at(0) == 100e3); // no least clock was told
  r.measurements[0].min_clock_ns = 1000;
  CHECK(choose(r).bound.clocked.at(1050) == doctest::Approx(105e3));
}

TEST_CASE("types and threads do not mix; another type fills in for a layer that lacks its own") {
  using benanza::bound::answer;
  using benanza::bound::basis;
  run r = synthetic::empty_run();
  synthetic::add(r, conv, "a", 0, 100);
  synthetic::add(r, conv, "a", 0, 40, 1.1, "u8s8u8");
  synthetic::add(r, conv, "a", 0, 60, 1.1, "f32", 2);
  synthetic::add(r, synthetic::softmax, "a", 0, 7);
  const case_table cases(r);
  const benanza::bound::limits none;
  const auto ask = [&](const std::string& layer, numeric type, int threads) {
    return answer({cases, none, type, numeric::f32, threads}, benanza::op::parse(layer), 1);
  };
  CHECK(ask(conv, numeric::f32, 1).algorithms.bound.ns == 100);
  CHECK(ask(conv, numeric::f32, 2).algorithms.bound.ns == 60);
  CHECK(ask(conv, numeric::u8s8u8, 1).algorithms.bound.ns == 40);
  CHECK(ask(conv, numeric::u8s8u8, 1).rests_on == basis::measured);
  CHECK(ask(synthetic::softmax, numeric::u8s8u8, 1).rests_on == basis::other_type);
  CHECK(ask(synthetic::softmax, numeric::u8s8u8, 1).type == numeric::f32);
  CHECK(ask(conv, numeric::u8s8u8, 2).rests_on == basis::other_type);
  CHECK(ask(synthetic::relu, numeric::f32, 1).rests_on == basis::missing);
  CHECK(ask(synthetic::relu, numeric::f32, 1).reason == "not measured");
  CHECK(ask(synthetic::flatten, numeric::f32, 1).rests_on == basis::view);

  r.measurements[0].error = r.measurements[1].error = "out of memory";
  const case_table with_failures(r);
  const auto failed =
      answer({with_failures, none, numeric::f32, numeric::f32, 1}, benanza::op::parse(conv), 1);
  CHECK(failed.rests_on == basis::missing);
  CHECK(failed.reason == "out of memory");
  CHECK(failed.failed == 2);
  CHECK_FALSE(failed.nothing_runs);
}

TEST_CASE("that nothing runs a layer is a reason, and no failure") {
  using benanza::bound::answer;
  using benanza::bound::basis;
  run r = synthetic::empty_run();
  for (const char* type : {"u8s8u8", "f32"}) {
    auto& m = r.measurements.emplace_back(
        synthetic::timed(synthetic::relu, "none", 0, "none", {1.0}, type));
    m.backend = "none";
    m.error = std::string("nothing runs it in ") + type;
  }
  const benanza::bound::limits none;
  const auto ask = [&](numeric type) {
    const case_table cases(r);
    return answer({cases, none, type, numeric::f32, 1}, benanza::op::parse(synthetic::relu), 3);
  };
  const auto l = ask(numeric::u8s8u8);
  CHECK(l.rests_on == basis::missing);
  CHECK(l.nothing_runs);
  CHECK(l.failed == 0);
  CHECK(l.reason == "nothing runs it in u8s8u8");
  const auto covered = benanza::bound::cover({l}, {});
  REQUIRE(covered.holes.size() == 1);
  CHECK(covered.holes[0].command.empty());
  CHECK_FALSE(covered.holes[0].failed);
  CHECK(case_table(r).settings(synthetic::make_graph("g", {synthetic::relu}, {{}})).empty());

  r.measurements.pop_back(); // its own type was not tried
  CHECK_FALSE(ask(numeric::u8s8u8).nothing_runs);
  synthetic::add(r, synthetic::relu, "a", 0, 7);
  CHECK(ask(numeric::u8s8u8).rests_on == basis::other_type);
  CHECK_FALSE(ask(numeric::u8s8u8).nothing_runs);
}

TEST_CASE("the command that measures a layer is a filter for it alone") {
  using benanza::bound::measuring_command;
  CHECK(measuring_command(conv) ==
        "benanza_bench --benchmark_filter='^Conv/1x64x56x56-64x3x3-s1-p1/'");
  CHECK(measuring_command("Conv+Relu/1.5(x)") ==
        R"(benanza_bench --benchmark_filter='^Conv\+Relu/1\.5\(x\)/')");
}
