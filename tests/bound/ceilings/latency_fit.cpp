// SPDX-License-Identifier: Apache-2.0
#include "result/synthetic.hpp"
#include <benanza/bound/ceilings/latency_fit.hpp>

#include <doctest/doctest.h>

#include <limits>

using namespace benanza::bound;

TEST_CASE("the line that times are on is found") {
  synthetic::random dice{3};
  for (int i = 0; i < 200; ++i) {
    const double beta = 0.5 + 500 * dice.unit(), first = 64 * (1 + dice.below(1000)),
                 alpha = (0.5 + dice.unit()) * first / beta; // enough to differ from 0
    std::vector<timed_size> points;
    for (int j = 0; j < 3 + dice.below(8); ++j) {
      const double n = first * std::pow(2, j);
      points.push_back({n, alpha + n / beta});
    }
    const auto f = fit_line(points);
    REQUIRE(f.has_value());
    CHECK(f->bytes_per_ns == doctest::Approx(beta).epsilon(1e-3));
    CHECK(f->alpha_ns == doctest::Approx(alpha).epsilon(1e-3).scale(1));
    CHECK(f->half_bytes() == doctest::Approx(alpha * beta).epsilon(2e-3).scale(1));
    CHECK(f->off_by < 1e-5);
    CHECK(f->alpha_known);
    CHECK(f->alpha_below_ns > alpha);
  }
}

TEST_CASE("the order of points means nothing, and noise moves the line by no more than it has") {
  synthetic::random dice{4};
  std::vector<timed_size> points;
  for (int j = 0; j < 12; ++j) {
    const double n = 4096 * std::pow(2, j);
    points.push_back({n, (500 + n / 30) * (1 + 0.02 * dice.unit())});
  }
  const auto f = fit_line(points);
  std::reverse(points.begin(), points.end());
  const auto g = fit_line(points);
  REQUIRE(f.has_value());
  REQUIRE(g.has_value());
  CHECK(f->bytes_per_ns == doctest::Approx(g->bytes_per_ns));
  CHECK(f->bytes_per_ns == doctest::Approx(30).epsilon(0.02));
  CHECK(f->alpha_ns == doctest::Approx(500).epsilon(0.05));
  CHECK(f->off_by < 0.02);
  CHECK(f->off_by > 0.001);
}

TEST_CASE("what it is off by is that of the worst time, not of all together") {
  std::vector<timed_size> points;
  for (int j = 0; j < 10; ++j) {
    const double n = 4096 * std::pow(2, j);
    points.push_back({n, (500 + n / 30) * (j == 5 ? 1.5 : 1)});
  }
  const auto f = fit_line(points);
  REQUIRE(f.has_value());
  CHECK(f->off_by > most_off_by); // the root of the mean square is not
  CHECK(f->off_by == doctest::Approx(std::abs(f->ns(points[5].bytes) / points[5].ns - 1)));
}

TEST_CASE("an alpha that noise could make is not distinguished from 0: what it is below is said") {
  synthetic::random dice{5};
  for (int i = 0; i < 100; ++i) {
    const double alpha = i % 2 == 0 ? 0 : 10;
    std::vector<timed_size> points;
    for (int j = 0; j < 4; ++j) {
      const double n = 65536 * std::pow(2, j); // the first takes 2185 ns
      points.push_back({n, (alpha + n / 30) * (1 + 0.01 * dice.unit())});
    }
    const auto f = fit_line(points);
    REQUIRE(f.has_value());
    CHECK_FALSE(f->alpha_known);
    CHECK(f->alpha_ns == 0);
    CHECK(f->alpha_below_ns > alpha);
    CHECK(f->alpha_below_ns < 400);
    CHECK(f->bytes_per_ns <= 30.01); // and so not above what any size reached
  }
}

TEST_CASE("what is more than some transfer takes is not what nothing takes") {
  const std::vector<timed_size> points{{2000, 1200}, {4000, 1400}, {8000, 1800}, {16000, 2600}};
  CHECK(fit_line(points, 1100)->alpha_known);
  const auto f = fit_line(points, 400); // as 1000 bytes take in a faster cache
  REQUIRE(f.has_value());
  CHECK_FALSE(f->alpha_known);
  CHECK(f->bytes_per_ns == doctest::Approx(10));
  CHECK(f->off_by < 1e-6);
  CHECK(f->alpha_below_ns > 1000);
  CHECK(f->alpha_below_ns <= 1200); // bytes take time too
}

TEST_CASE("no line starts below zero: a rate that falls makes the best line through zero") {
  const auto f = fit_line({{1000, 10}, {2000, 25}, {4000, 60}});
  REQUIRE(f.has_value());
  CHECK(f->alpha_ns == 0);
  CHECK_FALSE(f->alpha_known);
  CHECK(f->alpha_below_ns > 0);
  CHECK(f->half_bytes() == 0);
  CHECK(f->bytes_per_ns > 4000.0 / 60);
  CHECK(f->bytes_per_ns < 100);
  const auto error_of = [](double rate) {
    return std::pow(100 / rate - 1, 2) + std::pow(80 / rate - 1, 2) +
           std::pow(4000 / rate / 60 - 1, 2);
  };
  CHECK(error_of(f->bytes_per_ns) <= error_of(f->bytes_per_ns * 1.01));
  CHECK(error_of(f->bytes_per_ns) <= error_of(f->bytes_per_ns * 0.99));
  CHECK(f->off_by == doctest::Approx(1 - f->ns(4000) / 60));
}

TEST_CASE("where there is no line there is none") {
  CHECK_FALSE(fit_line({}).has_value());
  CHECK_FALSE(fit_line({{4096, 10}}).has_value());
  CHECK_FALSE(fit_line({{4096, 10}, {8192, 20}}).has_value()); // with two its error is unknown
  CHECK_FALSE(fit_line({{4096, 10}, {4096, 12}, {4096, 11}}).has_value());
  CHECK_FALSE(fit_line({{4096, 10}, {8192, 10}, {16384, 10}}).has_value());
  CHECK_FALSE(fit_line({{4096, 20}, {8192, 10}, {16384, 5}}).has_value());
  const double none = std::numeric_limits<double>::quiet_NaN(),
               endless = std::numeric_limits<double>::infinity();
  CHECK_FALSE(fit_line({{4096, none}, {8192, 10}, {16384, 20}}).has_value());
  CHECK_FALSE(fit_line({{4096, endless}, {8192, 10}, {16384, 20}}).has_value());
  CHECK_FALSE(fit_line({{0, 5}, {8192, 10}, {16384, 20}}).has_value());
}
