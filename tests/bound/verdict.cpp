// SPDX-License-Identifier: Apache-2.0
// When do disturbed measurements leave a model without a verdict?
#include "../result/synthetic.hpp"

#include <benanza/bound/verdict.hpp>
#include <doctest/doctest.h>

namespace {
using benanza::numeric;
using benanza::bound::judge;
using benanza::bound::layer_answer;
using benanza::result::measurement;
using benanza::result::run;

/// A large layer used once and a small one used `small_uses` times.
std::vector<layer_answer> answers(const run& r, std::int64_t small_uses = 1) {
  const benanza::bound::case_table cases(r);
  const benanza::bound::limits none;
  std::vector<layer_answer> out;
  for (const auto& [layer, uses] :
       {std::pair(synthetic::conv, std::int64_t{1}), std::pair(synthetic::softmax, small_uses)})
    out.push_back(benanza::bound::answer({cases, none, numeric::f32, numeric::f32, 1},
                                         benanza::op::parse(layer), uses));
  return out;
}

run measured() {
  run r = synthetic::empty_run();
  synthetic::add(r, synthetic::conv, "fast", 0, 1000);
  synthetic::add(r, synthetic::conv, "slow", 1, 2000);
  synthetic::add(r, synthetic::softmax, "only", 0, 10);
  return r;
}

void disturb(run& r, const std::string& algorithm, const std::string& state,
             const std::string& what) {
  for (measurement& m : r.measurements)
    if (m.algorithm == algorithm && m.state == state) m.disturbed = what;
}
} // namespace

TEST_CASE("an undisturbed model has a verdict") {
  const run r = measured();
  const auto v = judge(answers(r));
  CHECK(v.unmeasurable.empty());
  CHECK(v.bound_share == 0);
  CHECK(v.prediction_share == 0);
  CHECK(judge({}).unmeasurable.empty());
}

TEST_CASE("disturbed losers, and small layers, do not matter") {
  run r = measured();
  disturb(r, "slow", "hot", "noise: wait");
  disturb(r, "slow", "coldw", "noise: wait");
  disturb(r, "only", "hot", "noise: wait");
  const auto v = judge(answers(r));
  CHECK(v.unmeasurable.empty());
  CHECK(v.bound_share > 0);
  CHECK(v.bound_share < 0.05);
}

TEST_CASE("a small layer that is used often matters") {
  run r = measured();
  disturb(r, "only", "hot", "noise: wait");
  CHECK_FALSE(judge(answers(r, 100)).unmeasurable.empty());
}

TEST_CASE("either figure takes the verdict away, and the text says what to do") {
  for (const char* state : {"hot", "coldw"}) {
    run r = measured();
    disturb(r, "fast", state, "other processes used 95 % of a processor: stop them");
    disturb(r, "only", state, "something else");
    const auto v = judge(answers(r));
    CAPTURE(v.unmeasurable);
    CHECK((v.bound_share > 0.9) == (state == std::string("hot")));
    CHECK((v.prediction_share > 0.9) == (state == std::string("coldw")));
    CHECK(v.unmeasurable.find("of the prediction rest on disturbed") != std::string::npos);
    CHECK(v.unmeasurable.find("processor: stop them") != std::string::npos);
  }
}
