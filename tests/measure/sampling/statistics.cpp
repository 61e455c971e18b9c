// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/sampling/statistics.hpp>
#include <doctest/doctest.h>

using namespace benanza::measure;

TEST_CASE("summaries are order statistics") {
  const summary s = summarize({5, 1, 4, 2, 3});
  CHECK(s.min == 1);
  CHECK(s.median == 3);
  CHECK(s.p10 == doctest::Approx(1.4));
  CHECK(s.p90 == doctest::Approx(4.6));
  CHECK(s.mad == 1);
}

TEST_CASE("a spike moves neither minimum nor median") {
  CHECK(summarize({3, 3, 3, 3, 1e9}).median == 3);
  CHECK(summarize({3, 3, 3, 3, 1e9}).mad == 0);
}

TEST_CASE("one sample is all of its own statistics; none is zero") {
  const summary one = summarize({7});
  CHECK(one.min == 7);
  CHECK(one.p90 == 7);
  CHECK(summarize({}).median == 0);
}

TEST_CASE("a share of the slowest is left out, the rest keeps its order, and some always stay") {
  const std::vector<double> samples{5, 1, 9, 2, 8, 3, 7, 4, 6, 10};
  CHECK(without_slowest(samples, 0) == samples);
  CHECK(without_slowest(samples, 0.5) == std::vector<double>{5, 1, 2, 3, 4});
  CHECK(without_slowest(samples, 1 - 7.0 / 10) == std::vector<double>{5, 1, 2, 3, 7, 4, 6});
  CHECK(without_slowest(samples, 0.75) == std::vector<double>{1, 2, 3, 4});
  CHECK(without_slowest(samples, 1) == std::vector<double>{1, 2, 3, 4}); // the fewest
  CHECK(without_slowest({2, 2, 2, 2, 2, 2}, 0.3).size() == 6);           // none is slower
  CHECK(without_slowest({3, 1}, 0.9) == std::vector<double>{3, 1});
  CHECK(without_slowest({}, 0.5).empty());
}

TEST_CASE("thinning keeps the order and spreads over all samples") {
  std::vector<double> samples;
  for (int i = 0; i < 100; ++i)
    samples.push_back(i);
  const std::vector<double> kept = thinned(samples, 10);
  REQUIRE(kept.size() == 10);
  CHECK(kept.front() == 0);
  CHECK(kept.back() == 90);
  CHECK(std::is_sorted(kept.begin(), kept.end()));
  CHECK(thinned({1, 2}, 10) == std::vector<double>{1, 2});
}
