// SPDX-License-Identifier: Apache-2.0
#include "result/synthetic.hpp"
#include <benanza/bound/ceilings/latency_fit.hpp>

#include <doctest/doctest.h>

#include <limits>

using namespace benanza::bound;

TEST_CASE("the line that times lie on is found") {
  synthetic::random dice{3};
  for (int i = 0; i < 200; ++i) {
    const double alpha = 1e4 * dice.unit(), beta = 0.5 + 500 * dice.unit();
    const double first = 64 * (1 + dice.below(1000));
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
    CHECK(f->residual < 1e-5);
    CHECK(f->points == points.size());
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
  CHECK(f->residual < 0.01);
  CHECK(f->residual > 0.0005);
}

TEST_CASE("no line starts below zero: a rate that falls makes the best line through zero") {
  const auto f = fit_line({{1000, 10}, {2000, 25}, {4000, 60}});
  REQUIRE(f.has_value());
  CHECK(f->alpha_ns == 0);
  CHECK(f->half_bytes() == 0);
  CHECK(f->bytes_per_ns > 4000.0 / 60);
  CHECK(f->bytes_per_ns < 100);
  const auto error_of = [](double rate) {
    return std::pow(100 / rate - 1, 2) + std::pow(80 / rate - 1, 2) +
           std::pow(4000 / rate / 60 - 1, 2);
  };
  CHECK(error_of(f->bytes_per_ns) <= error_of(f->bytes_per_ns * 1.01));
  CHECK(error_of(f->bytes_per_ns) <= error_of(f->bytes_per_ns * 0.99));
  CHECK(f->residual == doctest::Approx(std::sqrt(error_of(f->bytes_per_ns) / 3)));
}

TEST_CASE("where there is no line there is none") {
  CHECK_FALSE(fit_line({}).has_value());
  CHECK_FALSE(fit_line({{4096, 10}}).has_value());
  CHECK_FALSE(fit_line({{4096, 10}, {4096, 12}}).has_value());
  CHECK_FALSE(fit_line({{4096, 10}, {8192, 10}}).has_value());
  CHECK_FALSE(fit_line({{4096, 20}, {8192, 10}}).has_value());
  const double none = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(fit_line({{4096, none}, {8192, 10}}).has_value());
  CHECK_FALSE(fit_line({{0, 5}, {8192, 10}}).has_value());
}
