// SPDX-License-Identifier: Apache-2.0
// Which differences are more than chance? Student's t distribution, and Holm's correction of many
// tests at once: with it the chance of any false claim among all of them is what one test alone has
// (Holm, Scandinavian Journal of Statistics 6, 1979).
//
//   tail(2.31, 8) == 0.05;   quantile(0.05, 8) == 2.31;   holm({0.01, 0.04, 0.03})
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <vector>

namespace benanza::compare {

/// What independent spreads come to together.
inline double joined(std::initializer_list<double> spreads) {
  double squares = 0;
  for (const double s : spreads)
    squares += s * s;
  return std::sqrt(squares);
}

namespace detail {
/// The continued fraction of the incomplete beta function (Lentz's way, as in Numerical Recipes).
inline double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  const auto kept = [](double v) { return std::abs(v) < tiny ? tiny : v; };
  double c = 1, d = 1 / kept(1 - (a + b) * x / (a + 1)), h = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / kept(1 + even * d), c = kept(1 + even / c), h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / kept(1 + odd * d), c = kept(1 + odd / c);
    const double step = d * c;
    h *= step;
    if (std::abs(step - 1) < 1e-14) break;
  }
  return h;
}

/// The regularized incomplete beta function.
inline double beta(double a, double b, double x) {
  if (!(x > 0)) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                   : 1 - front * beta_fraction(b, a, 1 - x) / b;
}
} // namespace detail

/// The chance that Student's t with `df` degrees of freedom is further from zero than `t`.
inline double tail(double t, double df) {
  return detail::beta(df / 2, 0.5, df / (df + t * t));
}

/// What Student's t exceeds, on both sides together, with the chance `p`.
inline double quantile(double p, double df) {
  double low = 0, high = 1;
  while (tail(high, df) > p && high < 1e12)
    high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = std::midpoint(low, high);
    (tail(middle, df) > p ? low : high) = middle;
  }
  return high;
}

/// Holm's adjusted chances, in the order of `p`: those below 0.05 are more than chance, all of them
/// together.
inline std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> out(p.size());
  double most = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    most = std::max(most, std::min(1.0, p[order[i]] * static_cast<double>(p.size() - i)));
    out[order[i]] = most;
  }
  return out;
}

} // namespace benanza::compare
