// SPDX-License-Identifier: Apache-2.0
// Are the errors of the vector functions what their header states? Against double, over all floats,
// denormals and infinities too, for vectors and for single floats.
#include <benanza/backend/host/detail/approx.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace benanza::backend::host::detail;

namespace {
/// Every 9973rd float of a range, whatever its exponent.
std::vector<float> floats_in(double low, double high) {
  std::vector<float> all;
  for (std::uint64_t bits = 0; bits < 1ull << 32; bits += 9973) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (x >= low && x <= high) all.push_back(x);
  }
  return all;
}

template <class F>
std::vector<float> in_vectors(const std::vector<float>& from, F f) {
  std::vector<float> to(from.size());
  over_lanes(static_cast<std::int64_t>(from.size()), [&](std::int64_t i, auto at) {
    at.store(f(at.load(from.data() + i)), to.data() + i);
  });
  return to;
}

/// The largest |f - exact| over [low, high], in units of `unit(exact)`. What is too large for a
/// float has to be infinite.
template <class F, class G, class U>
double worst(F f, G exact, double low, double high, U unit) {
  const std::vector<float> from = floats_in(low, high), got = in_vectors(from, f);
  double most = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double right = exact(static_cast<double>(from[i]));
    for (const float value : {got[i], f(from[i])}) {
      if (value == static_cast<float>(right)) continue;
      const double off = std::fabs(static_cast<double>(value) - right) / unit(right);
      most = std::max(most, off <= infinite ? off : 1e300); // 1e300: not a number
    }
  }
  return most;
}

double last_place(double exact) {
  return std::ldexp(1., std::max(std::ilogb(exact) - 23, -149));
}
double one(double) {
  return 1;
}
double at_least_one(double exact) {
  return std::max(1., std::fabs(exact));
}
double at_least_tiny(double exact) { // results below 2^-125 may be zero
  return std::max(last_place(exact), 0x1p-125);
}
#define WORST(f, exact, low, high, unit)                                                           \
  worst([](auto x) { return f(x); }, [](double x) { return exact; }, low, high, unit)
} // namespace

TEST_CASE("errors against double") {
  CHECK(WORST(exponential, std::exp(x), -1e38, 1e38, at_least_tiny) < 1.5);
  CHECK(WORST(logarithm, std::log(x), 1e-45, 3.4e38, last_place) < 1);
  CHECK(WORST(root, std::sqrt(x), 1e-45, 3.4e38, last_place) < 1.5);
  CHECK(WORST(logistic, 1 / (1 + std::exp(-x)), -87, 1e38, last_place) < 3);
  CHECK(WORST(logistic, 0 * x, -1e38, -87, one) < 1e-37);
  CHECK(WORST(hyperbolic_tangent, std::tanh(x), -1e38, 1e38, last_place) < 7);
  CHECK(WORST(error_function, std::erf(x), -1e38, 1e38, at_least_tiny) < 7);
  CHECK(WORST(sine, std::sin(x), -1000, 1000, one) < 2e-7);
  CHECK(WORST(cosine, std::cos(x), -1000, 1000, one) < 2e-7);
  CHECK(WORST(soft_plus, x > 80 ? x : std::log1p(std::exp(x)), -1e38, 1e38, at_least_one) < 2e-7);
  CHECK(WORST(tangent, std::tan(x), -1000, 1000, last_place) < 4);
  CHECK(WORST(arc_sine, std::asin(x), -1, 1, last_place) < 4);
  CHECK(WORST(arc_cosine, std::acos(x), -1, 1, last_place) < 4);
  CHECK(WORST(arc_tangent, std::atan(x), -1e38, 1e38, last_place) < 4);
  CHECK(WORST(hyperbolic_sine, std::sinh(x), -1e38, 1e38, last_place) < 6);
  CHECK(WORST(hyperbolic_cosine, std::cosh(x), -1e38, 1e38, last_place) < 6);
  CHECK(WORST(area_sine, std::asinh(x), -1e38, 1e38, last_place) < 4);
  CHECK(WORST(area_cosine, std::acosh(x), 1, 1e38, last_place) < 4);
  CHECK(WORST(area_tangent, std::atanh(x), -1, 1, last_place) < 4);
  for (const double b : {3., 2., 0.5, -1., -2.7, 11.}) {
    const auto raised = [b](auto x) { return power(x, every<decltype(x)>(static_cast<float>(b))); };
    const auto exact = [b](double x) {
      return std::pow(x, static_cast<double>(static_cast<float>(b)));
    };
    const auto unit = [](double exact_value) {
      return std::fabs(exact_value) * (2 + std::fabs(std::log(std::fabs(exact_value))));
    };
    CHECK(worst(raised, exact, 1e-3, 1e3, unit) < 2e-7);
    if (b == std::nearbyint(b)) CHECK(worst(raised, exact, -1e3, -1e-3, unit) < 2e-7);
  }
}

TEST_CASE("remainders are those of the C library") {
  const std::vector<float> x{7.5f, -7.5f, 0.f,  -0.f, 1e9f, 3.f,   0.3f, infinite,
                             5.f,  -5.f,  2e9f, 0.f,  3e8f, 2e12f, 1.f,  undefined};
  for (const float y : {3.f, -3.f, 0.1f, 1e-3f, 7.5f, infinite, 0.f}) {
    const auto by = [y](auto v) { return every<decltype(v)>(y); };
    const auto rest = in_vectors(x, [&](auto v) { return rest_of(v, by(v)); });
    const auto positive = in_vectors(x, [&](auto v) { return modulus(v, by(v)); });
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float exact = std::fmod(x[i], y);
      const bool same = rest[i] == exact || (std::isnan(rest[i]) && std::isnan(exact));
      CHECK_MESSAGE(same, x[i] << " by " << y << ": " << rest[i] << ", not " << exact);
      if (std::isnan(exact)) continue;
      const bool turned = exact != 0 && std::signbit(exact) != std::signbit(y);
      CHECK(positive[i] == (turned ? exact + y : exact));
    }
  }
}

TEST_CASE("ends of the ranges") {
  CHECK(std::isnan(arc_sine(1.5f)));
  CHECK(std::isnan(arc_cosine(-1.5f)));
  CHECK(std::isnan(area_cosine(0.5f)));
  CHECK(area_tangent(1.f) == infinite);
  CHECK(arc_tangent(-infinite) == doctest::Approx(-1.57079633));
  CHECK(hyperbolic_sine(-infinite) == -infinite);
  CHECK(hyperbolic_cosine(100.f) == infinite);
  CHECK(area_sine(infinite) == infinite);
  CHECK(exponential(-infinite) == 0);
  CHECK(exponential(infinite) == infinite);
  CHECK(exponential(-200.f) == 0);
  CHECK(exponential(0.f) == 1);
  CHECK(logarithm(0.f) == -infinite);
  CHECK(std::isnan(logarithm(-1.f)));
  CHECK(logarithm(infinite) == infinite);
  CHECK(hyperbolic_tangent(infinite) == doctest::Approx(1));
  CHECK(hyperbolic_tangent(-100.f) == doctest::Approx(-1));
  CHECK(soft_plus(800.f) == 800);
  CHECK(power(0.f, 0.f) == 1);
  CHECK(power(0.f, 2.f) == 0);
  CHECK(std::isnan(power(-2.f, 0.5f)));
  const std::vector<float> ends{undefined, infinite, -infinite, 0.f, -1.f};
  const auto roots = in_vectors(ends, [](auto x) { return root(x); });
  CHECK(std::isnan(roots[0]));
  CHECK(roots[1] == infinite);
  CHECK(std::isnan(roots[2]));
  CHECK(roots[3] == 0);
  CHECK(std::isnan(roots[4]));
  const auto whole =
      in_vectors({2.5f, 3.5f, -0.4f, 1e9f, -2.5f}, [](auto x) { return nearest(x); });
  CHECK(whole == std::vector<float>{2, 4, 0, 1e9f, -2});
}

TEST_CASE("a NaN stays one") {
  const std::vector<float> nan(3, std::bit_cast<float>(0x7fc12345u));
  const auto stays = [&](auto f) {
    return std::isnan(in_vectors(nan, f)[2]) && std::isnan(f(nan[0]));
  };
  CHECK(stays([](auto x) { return exponential(x); }));
  CHECK(stays([](auto x) { return logarithm(x); }));
  CHECK(stays([](auto x) { return logistic(x); }));
  CHECK(stays([](auto x) { return hyperbolic_tangent(x); }));
  CHECK(stays([](auto x) { return error_function(x); }));
  CHECK(stays([](auto x) { return sine(x); }));
  CHECK(stays([](auto x) { return cosine(x); }));
  CHECK(stays([](auto x) { return soft_plus(x); }));
  CHECK(stays([](auto x) { return power(x, x); }));
  CHECK(stays([](auto x) { return tangent(x); }));
  CHECK(stays([](auto x) { return arc_sine(x); }));
  CHECK(stays([](auto x) { return arc_cosine(x); }));
  CHECK(stays([](auto x) { return arc_tangent(x); }));
  CHECK(stays([](auto x) { return hyperbolic_sine(x); }));
  CHECK(stays([](auto x) { return hyperbolic_cosine(x); }));
  CHECK(stays([](auto x) { return area_sine(x); }));
  CHECK(stays([](auto x) { return area_cosine(x); }));
  CHECK(stays([](auto x) { return area_tangent(x); }));
}
