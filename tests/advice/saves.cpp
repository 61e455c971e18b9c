// SPDX-License-Identifier: Apache-2.0
// May what is advised be believed? On results that are made up at random: no change saves more than
// the difference between the run and the lower bound of the setting it leads to, all are shares of
// one run, and each part has what saves most first.
#include "result/synthetic.hpp"

#include <benanza/advice/advised.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace test_of_saves {
using namespace benanza::advice;
using benanza::numeric;
using benanza::bound::model_bound;
using benanza::bound::source;
using benanza::result::measurement;
using benanza::result::run;
using benanza::trace::profile;

/// The residual block in two types, on one and two threads, each case up to twice as slow or fast.
run random_run(synthetic::random& dice) {
  run r = synthetic::fused_run();
  std::vector<measurement> all;
  for (const measurement& m : r.measurements)
    for (const char* type : {"f32", "bf16"})
      for (int threads : {1, 2}) {
        measurement c = m;
        c.type = c.equivalence = type;
        c.threads = threads;
        const double by = 0.5 + 1.5 * dice.unit();
        for (double& ns : c.samples_ns)
          ns *= by;
        benanza::result::recompute(c);
        if (dice.below(12) > 0) all.push_back(std::move(c));
      }
  r.measurements = std::move(all);
  return r;
}

profile random_profile(synthetic::random& dice, numeric type, int threads, const char* framework) {
  profile p{.source = "made up", .framework = framework, .version = "1"};
  p.model = "block";
  p.threads = threads;
  p.batch = 1;
  p.precision = name(type);
  double sum = 0;
  for (int i = 0; i < 6; ++i) {
    p.operators.push_back({.name = "node" + std::to_string(i), .type = "Op"});
    const double ns = (i % 2 == 0 ? 800e3 : 20e3) * dice.unit();
    p.operators.back().ns = {ns, ns, 1.01 * ns};
    sum += ns;
  }
  p.operators.push_back({.name = "pad", .type = "Pad"});
  p.operators.back().ns = {30e3 * dice.unit()};
  const double ns = sum * (0.4 + 1.2 * dice.unit());
  p.latency_ns = {ns, ns, 1.02 * ns};
  if (dice.below(2) == 0) p.profiled_ns = {ns * (1 + dice.unit())};
  return p;
}

TEST_CASE("no change saves more than the difference between the run and a lower bound") {
  synthetic::random dice{5};
  std::int64_t seen = 0, threads = 0, switched = 0, letters = 0;
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    const run r = random_run(dice);
    const source s(r);
    std::vector<model_bound> all;
    for (numeric type : {numeric::f32, numeric::bf16})
      for (int n : {1, 2})
        all.push_back(benanza::bound::analyse(s, r.graphs[0], {type, n}));
    std::vector<profile> profiles;
    for (numeric type : {numeric::f32, numeric::bf16})
      for (int n : {1, 2})
        for (const char* framework : {"onnxruntime", "openvino"})
          if (dice.below(3) == 0) profiles.push_back(random_profile(dice, type, n, framework));
    for (const advised& a : advise_all(s, all, profiles)) {
      const advice_list& l = a.list;
      const bool framework = !a.frameworks.empty();
      CHECK(l.run.supposed != framework);
      if (framework) CHECK(l.run.ns == a.frameworks[0].latency.ns);
      const double bound = a.model->fastest_form().bound.sequential.ns;
      for (std::size_t n = 0; n < l.items.size(); ++n) {
        const item& i = l.items[n];
        CAPTURE(i.id);
        CHECK(l.run.ns - i.saves.ns >=
              doctest::Approx(i.leads_to.empty() ? bound : i.bound_ns).epsilon(1e-9));
        CHECK(i.saves.low_ns <= i.saves.ns);
        CHECK(i.saves.ns <= i.saves.high_ns);
        CHECK(i.saves.ns >= least_share * l.run.ns);
        CHECK_FALSE(i.how.text.empty());
        CHECK((i.how.by == doer::makers) == (i.how.kind == way::letter));
        CHECK(i.how.letter.empty() == (i.how.by != doer::makers));
        if (n > 0 && l.items[n - 1].how.by == i.how.by)
          CHECK(l.items[n - 1].saves.ns >= i.saves.ns);
        if (n > 0) CHECK(l.items[n - 1].how.by <= i.how.by);
        ++seen;
        threads += i.kind == "threads";
        switched += i.id.starts_with("framework/switch");
        letters += i.how.by == doer::makers;
      }
      for (const remark& x : l.not_worth)
        CHECK_FALSE(x.brief.empty());
    }
  }
  CHECK(seen > 100);
  CHECK(threads > 10);
  CHECK(switched > 5);
  CHECK(letters > 20);
}

TEST_CASE("what algorithms save adds up to the difference of first choices and a run of the best") {
  synthetic::random dice{9};
  for (int round = 0; round < 20; ++round) {
    const run r = random_run(dice);
    const source s(r);
    const std::vector<model_bound> all{benanza::bound::analyse(s, r.graphs[0], {numeric::f32, 1})};
    const advised a = advise_all(s, all, {}).front();
    const auto expected = benanza::bound::expected(all[0].fastest_form());
    if (!expected) continue;
    double sum = a.list.small_ns;
    for (const item& i : a.list.items)
      if (i.kind == "algorithm" || i.kind == "library") sum += i.saves.ns;
    CHECK(a.list.run.ns - sum >= doctest::Approx(expected->ns).epsilon(1e-9));
  }
}
} // namespace test_of_saves
