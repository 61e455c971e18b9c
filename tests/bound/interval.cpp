// SPDX-License-Identifier: Apache-2.0
// Do the shortcuts of the bootstrap draw what drawing every sample again would? Their distributions
// are compared with the plain method's.
#include "../result/synthetic.hpp"

#include <benanza/bound/interval.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace {

using benanza::bound::generator;

using draw = std::function<double(const std::vector<double>&, generator&)>;

/// Mean and standard deviation of many draws.
struct scatter {
  double mean = 0, deviation = 0;
};

scatter drawn(const draw& one, const std::vector<double>& sorted) {
  generator random{42};
  constexpr int n = 20000;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const double v = one(sorted, random) - sorted.front();
    sum += v;
    squares += v * v;
  }
  return {sum / n, std::sqrt(squares / n - sum / n * sum / n)};
}

std::vector<double> again(const std::vector<double>& sorted, generator& random) {
  std::vector<double> out;
  for (std::size_t i = 0; i < sorted.size(); ++i)
    out.push_back(sorted[random() % sorted.size()]);
  return out;
}

} // namespace

TEST_CASE("redrawn minima and medians scatter as those of sets drawn with replacement") {
  for (int n : {3, 5, 20, 61}) {
    std::vector<double> sorted = synthetic::samples(1000, n, 5);
    std::sort(sorted.begin(), sorted.end());
    const auto agree = [&](const draw& shortcut, const draw& plain) {
      const scatter a = drawn(shortcut, sorted), b = drawn(plain, sorted);
      CAPTURE(n);
      CHECK(std::abs(a.mean - b.mean) < 0.15 * b.deviation);
      CHECK(a.deviation > 0.75 * b.deviation);
      CHECK(a.deviation < 1.25 * b.deviation);
    };
    agree(benanza::bound::redrawn_minimum, [](const auto& s, generator& random) {
      const auto set = again(s, random);
      return *std::min_element(set.begin(), set.end());
    });
    agree(benanza::bound::redrawn_median, [](const auto& s, generator& random) {
      return benanza::result::median(again(s, random));
    });
  }
}

TEST_CASE("an interval holds its figure; more samples scatter less") {
  using benanza::bound::between;
  CHECK(between({5, 6, 7}, 4).low_ns == 4);
  CHECK(between({5, 6, 7}, 9).high_ns == 9);
  CHECK(between({5, 6, 7}, 6).low_ns == doctest::Approx(5.05));
  generator random{1};
  CHECK(benanza::bound::redrawn_median({7}, random) == 7);
  CHECK(benanza::bound::redrawn_minimum({7}, random) == 7);

  const auto deviation = [](int n) {
    std::vector<double> sorted = synthetic::samples(1000, n, 3);
    std::sort(sorted.begin(), sorted.end());
    return drawn(benanza::bound::redrawn_median, sorted).deviation;
  };
  CHECK(deviation(400) < deviation(25));
}
