// SPDX-License-Identifier: Apache-2.0
// Are the errors of the vector functions what their header states? Against double, over their
// ranges.
#include <benanza/backend/host/detail/approx.hpp>

#include <doctest/doctest.h>

using namespace benanza::backend::host::detail;

namespace {
/// The largest |f - exact| / max(floor, |exact|) over [low, high]; a floor of 0 means relative.
template <class F, class G>
double worst(F f, G exact, double low, double high, double floor) {
  double most = 0;
  constexpr int points = 400000;
  for (int i = 0; i <= points; ++i) {
    const auto x = static_cast<float>(low + (high - low) * i / points);
    const double right = exact(static_cast<double>(x));
    const double scale = std::max(floor, std::fabs(right));
    if (scale == 0) continue;
    most = std::max(most, std::fabs(static_cast<double>(f(x)) - right) / scale);
  }
  return most;
}
#define WORST(f, exact, low, high, floor)                                                          \
  worst([](float x) { return f(x); }, [](double x) { return exact; }, low, high, floor)
} // namespace

TEST_CASE("errors against double") {
  CHECK(WORST(exponential, std::exp(x), -87, 88.7, 0) < 3e-7);
  CHECK(WORST(logarithm, std::log(x), 1e-6, 4, 1) < 2e-7);
  CHECK(WORST(logarithm, std::log(x), 4, 1e9, 1) < 2e-7);
  CHECK(WORST(square_root, std::sqrt(x), 1e-6, 1e6, 0) < 2e-7);
  CHECK(WORST(logistic, 1 / (1 + std::exp(-x)), -30, 30, 1) < 4e-7);
  CHECK(WORST(hyperbolic_tangent, std::tanh(x), -12, 12, 1) < 4e-7);
  CHECK(WORST(error_function, std::erf(x), -6, 6, 1) < 6e-7);
  CHECK(WORST(sine, std::sin(x), -1000, 1000, 1) < 4e-7);
  CHECK(WORST(cosine, std::cos(x), -1000, 1000, 1) < 4e-7);
  CHECK(WORST(soft_plus, std::log1p(std::exp(x)), -20, 80, 1) < 4e-7);
  const auto cubed = [](float x) { return power(x, 3.f); };
  CHECK(worst(
            cubed, [](double x) { return x * x * x; }, 0.1, 4, 0) < 2e-6);
  CHECK(worst(
            cubed, [](double x) { return x * x * x; }, -4, -0.1, 0) < 2e-6);
}

TEST_CASE("ends of the ranges") {
  CHECK(exponential(-infinite) == 0);
  CHECK(exponential(infinite) == infinite);
  CHECK(exponential(-200.f) == 0);
  CHECK(exponential(0.f) == 1);
  CHECK(logarithm(0.f) == -infinite);
  CHECK(std::isnan(logarithm(-1.f)));
  CHECK(logarithm(infinite) == infinite);
  CHECK(logarithm(1e-40f) == doctest::Approx(-92.1034));
  CHECK(square_root(0.f) == 0);
  CHECK(square_root(infinite) == infinite);
  CHECK(std::isnan(square_root(-1.f)));
  CHECK(hyperbolic_tangent(100.f) == 1);
  CHECK(hyperbolic_tangent(-100.f) == -1);
  CHECK(soft_plus(800.f) == 800);
  CHECK(power(0.f, 0.f) == 1);
  CHECK(power(0.f, 2.f) == 0);
  CHECK(power(-2.f, 3.f) == doctest::Approx(-8));
  CHECK(power(-2.f, 2.f) == doctest::Approx(4));
  CHECK(std::isnan(power(-2.f, 0.5f)));
  CHECK(rounded(2.5f) == 2);
  CHECK(rounded(3.5f) == 4);
  CHECK(rounded(-0.4f) == 0);
  CHECK(rounded(1e9f) == 1e9f);
}
