// SPDX-License-Identifier: Apache-2.0
// Which algorithm is chosen for a layer, on which samples, and what if some states are missing?
#include "../growth.hpp"
#include "../result/synthetic.hpp"

#include <benanza/bound/choice.hpp>
#include <benanza/result/stop_reason.hpp>
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
  REQUIRE(cases.winograd != nullptr);
  CHECK(cases.winograd->min_ns == 10);
  CHECK(cases.winograd->state == "hot");
}

TEST_CASE("many algorithms of one layer take time in proportion") {
  CHECK(benanza::test::growth(2000, [](int n) {
          run r = synthetic::empty_run();
          for (int i = 0; i < n; ++i)
            for (const char* state : {"hot", "coldw"})
              r.measurements.push_back(timed(conv, "a" + std::to_string(i), i, state, {100, 104}));
          return [r = std::move(r), n] {
            CHECK(std::ssize(case_table(r).of(conv, numeric::f32, 1).algorithms) == n);
          };
        }) < benanza::test::near_proportion);
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
