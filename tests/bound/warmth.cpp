// SPDX-License-Identifier: Apache-2.0
// What a run found out about the last cache decides which times with cold weights, or with weights
// from there, a prediction is made of.
#include "analysed.hpp"

#include <benanza/model/footprint.hpp>
#include <benanza/result/own_cache.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace test_of_warmth {
using namespace analysed;

TEST_CASE("how many weights are still in the last cache goes by what a run reads and takes") {
  run r = synthetic::small_run();
  // Cases in both states, so that the mixture can be seen.
  for (std::size_t i = 0, n = r.measurements.size(); i < n; ++i)
    if (r.measurements[i].state == "coldw") {
      measurement m = r.measurements[i];
      m.state = "llcw";
      for (double& s : m.samples_ns)
        s *= 0.9;
      benanza::result::recompute(m);
      r.measurements.push_back(m);
    }
  const model_bound cold = analyse(r);
  const auto reads = static_cast<double>(
      benanza::model::footprint_bytes(r.graphs[0], numeric::f32, cold.prepared_weight_bytes));
  const auto tried = [&](const char* fact, const std::string& all) {
    run with = r;
    with.provenance["measuring"][fact] = all;
    return analyse(with);
  };
  for (const char* fact : {"last_cache_own_bytes", "last_cache_own_ns"}) {
    CAPTURE(fact);
    const double needs =
        fact == std::string("last_cache_own_ns") ? 0.95 * cold.prediction.sequential.ns : reads;
    const auto at = [&](double times) {
      return tried(fact, std::to_string(static_cast<std::int64_t>(times * needs)));
    };
    CHECK(at(3).weights.name() == "llcw");
    CHECK(at(1).weights.name() == "llcw+coldw");
    CHECK(at(1).weights.gone == doctest::Approx(0.5).epsilon(0.2));
    CHECK(at(0.3).weights.name() == "coldw");
    CHECK(at(0.3).prediction.sequential.ns == cold.prediction.sequential.ns);
    double before = 0;
    for (const double times : {4.0, 1.3, 1.15, 1.0, 0.85, 0.3}) { // the less of it, the slower
      CAPTURE(times);
      const model_bound b = at(times);
      CHECK(b.prediction.sequential.ns > before);
      CHECK(b.bound.sequential.ns == cold.bound.sequential.ns);
      CHECK(b.notes.empty());
      before = b.prediction.sequential.ns;
    }
  }
  // Others may use half or twice as much of it: the intervals hold that.
  const double apart = cold.prediction.sequential.ns;
  const auto kept_for = [&](double times) {
    return tried("last_cache_own_ns",
                 std::to_string(static_cast<std::int64_t>(times * 0.95 * apart)));
  };
  for (const double times : {6.0, 3.0, 1.4, 1.0, 0.5, 0.1}) {
    CAPTURE(times);
    const model_bound b = kept_for(times), more = kept_for(2 * times), less = kept_for(times / 2);
    CHECK(b.fewest_gone == doctest::Approx(more.weights.gone));
    CHECK(b.most_gone == doctest::Approx(less.weights.gone));
    CHECK(b.prediction.sequential.low_ns <= more.prediction.sequential.ns);
    CHECK(b.prediction.sequential.high_ns >= less.prediction.sequential.ns);
    CHECK(b.bound.sequential.low_ns == cold.bound.sequential.low_ns);
    CHECK(b.bound.sequential.high_ns == cold.bound.sequential.high_ns);
  }
  CHECK(kept_for(0.1).prediction.sequential.low_ns == cold.prediction.sequential.low_ns);
  CHECK(kept_for(0.1).prediction.sequential.high_ns == cold.prediction.sequential.high_ns);
  // Runs that were put together tried it each on their own: the median holds for all.
  const auto bytes = [&](double times) {
    return std::to_string(static_cast<std::int64_t>(times * reads));
  };
  CHECK(tried("last_cache_own_bytes", bytes(4) + "; " + bytes(3)).weights.name() == "llcw");
  CHECK(tried("last_cache_own_bytes", bytes(4) + "; " + bytes(0.3) + "; " + bytes(4))
            .weights.name() == "llcw");
  CHECK(tried("last_cache_own_bytes", bytes(0.2) + "; 0; " + bytes(0.3)).weights.name() == "coldw");
  for (const char* none : {"; ", "; x", ";2", " 1"}) {
    CAPTURE(none);
    CHECK(tried("last_cache_own_bytes", bytes(4) + none).weights.name() == "coldw");
  }
}

TEST_CASE("a run that knows its last cache, but was not measured with weights from there") {
  run r = synthetic::small_run();
  const model_bound cold = analyse(r);
  r.provenance["measuring"]["last_cache_own_bytes"] = "1000000000000";
  const model_bound lacking = analyse(r);
  CHECK(lacking.weights.name() == "llcw");
  CHECK(lacking.prediction.sequential.ns == cold.prediction.sequential.ns);
  REQUIRE(lacking.notes.size() == 1);
  CHECK(lacking.notes[0].find("maybe too high") != std::string::npos);
}
} // namespace test_of_warmth
