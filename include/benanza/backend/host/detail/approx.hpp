// SPDX-License-Identifier: Apache-2.0
// How are transcendental functions computed in vector loops, where the C library would be called
// once an element? By range reduction and a polynomial, without branches. Errors below were
// measured over the whole range against double; none is larger than the tolerance of layers allows.
//
//   exponential(x)  relative 3e-7    logarithm(x)  2e-7 of max(1, |log x|)    power(x, 3)  2e-6
//   hyperbolic_tangent, logistic, sine, cosine (|x| < 1000)  absolute 4e-7;  error_function  6e-7
#pragma once

#include "convert.hpp"

namespace benanza::backend::host::detail {

inline constexpr float infinite = std::numeric_limits<float>::infinity();
inline constexpr float undefined = std::numeric_limits<float>::quiet_NaN();

/// `yes` where `c` holds, else `no`, by bits: chains of conditional expressions become branches,
/// which the compiler then vectorises with masks on every operation.
inline float chosen(bool c, float yes, float no) {
  const std::uint32_t mask = std::uint32_t{0} - static_cast<std::uint32_t>(c);
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(yes) & mask) |
                              (std::bit_cast<std::uint32_t>(no) & ~mask));
}

/// 2 to a whole power in [-126, 127].
inline float power_of_two(std::int32_t n) {
  return std::bit_cast<float>((n + 127) << 23);
}

/// e^x: x = n log 2 + r, |r| <= log(2) / 2, Taylor to r^7 (remainder 6e-9); 2^n in two steps, so
/// that it may leave the normal range. Beyond +-104 it is infinite or zero, and so for a NaN.
inline float exponential(float x) {
  const float bounded = within(x, 104.f);
  constexpr float shift = 12582912.f;
  const float shifted = bounded * 1.44269504f + shift, n = shifted - shift;
  // log 2 in two parts, the first short enough for an exact product.
  const float r = (bounded - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.f / 5040;
  p = p * r + 1.f / 720;
  p = p * r + 1.f / 120;
  p = p * r + 1.f / 24;
  p = p * r + 1.f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.f;
  p = p * r + 1.f;
  // The sum's lowest bits are n.
  const std::int32_t whole =
      std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(shift);
  const std::int32_t half = whole >> 1;
  return p * power_of_two(half) * power_of_two(whole - half);
}

/// Natural logarithm: x = m 2^n, m near 1, log m = 2 artanh((m - 1) / (m + 1)), series to s^9.
inline float logarithm(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const auto bits = std::bit_cast<std::int32_t>(chosen(tiny, x * 8388608.f, x));
  // 0x3f3504f3 is sqrt(1/2): m lies in [sqrt(1/2), sqrt(2)).
  const std::int32_t exponent = (bits - 0x3f3504f3) >> 23;
  const float m = std::bit_cast<float>(bits - (exponent << 23));
  const float s = (m - 1.f) / (m + 1.f), q = s * s;
  const float series = s * (2.f + q * (2.f / 3 + q * (2.f / 5 + q * (2.f / 7 + q * (2.f / 9)))));
  const float n = static_cast<float>(exponent) - chosen(tiny, 23.f, 0.f);
  const float y = n * 0.693359375f + (series - n * 2.12194440e-4f);
  return chosen(x > 0.f, chosen(x < infinite, y, x), chosen(x == 0.f, -infinite, undefined));
}

/// Square root by Newton's method on 1 / sqrt(x): the library's own sets errno and stays scalar.
inline float square_root(float x) {
  float y = std::bit_cast<float>(0x5f3759df - (std::bit_cast<std::int32_t>(x) >> 1));
  const float half = 0.5f * x;
  y = y * (1.5f - half * y * y);
  y = y * (1.5f - half * y * y);
  y = y * (1.5f - half * y * y);
  const float root = x * y, better = root + 0.5f * y * (x - root * root);
  return chosen(x > 0.f, chosen(x < infinite, better, x), chosen(x == 0.f, x, undefined));
}

/// 1 / (1 + e^-x).
inline float logistic(float x) {
  return 1.f / (1.f + exponential(-x));
}

inline float hyperbolic_tangent(float x) {
  return 1.f - 2.f / (exponential(2.f * x) + 1.f);
}

/// Abramowitz and Stegun 7.1.26: absolute error below 1.5e-7 before rounding.
inline float error_function(float x) {
  const float a = std::fabs(x), t = 1.f / (1.f + 0.3275911f * a);
  const float p =
      t * (0.254829592f +
           t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
  return std::copysign(1.f - p * exponential(-a * a), x);
}

/// sin(r) for |r| <= pi / 2, Taylor to r^13.
inline float sine_near(float r) {
  const float q = r * r;
  float p = 1.f / 6227020800.f;
  p = p * q - 1.f / 39916800;
  p = p * q + 1.f / 362880;
  p = p * q - 1.f / 5040;
  p = p * q + 1.f / 120;
  p = p * q - 1.f / 6;
  return r + r * q * p;
}

/// r = x - n pi with pi in three parts; n may end in one half.
inline float without_pi(float x, float n) {
  return ((x - n * 3.140625f) - n * 9.67502593994140625e-4f) - n * 1.509957990978376432e-7f;
}

/// The sign of (-1)^n.
inline float alternating(float n) {
  return n - 2.f * rounded(0.5f * n) == 0.f ? 1.f : -1.f;
}

inline float sine(float x) {
  const float n = rounded(x * 0.318309886f);
  return alternating(n) * sine_near(without_pi(x, n));
}

inline float cosine(float x) {
  const float n = rounded(x * 0.318309886f - 0.5f);
  return -alternating(n) * sine_near(without_pi(x, n + 0.5f));
}

/// log(1 + e^x) without overflow.
inline float soft_plus(float x) {
  return chosen(x > 0.f, x, 0.f) + logarithm(1.f + exponential(-std::fabs(x)));
}

/// a^b; a negative base takes whole exponents only.
inline float power(float a, float b) {
  const float y = exponential(b * logarithm(std::fabs(a)));
  const bool whole = rounded(b) == b;
  const float negative = chosen(whole, alternating(rounded(b)) * y, undefined);
  return chosen(b == 0.f, 1.f, chosen(a < 0.f, negative, y));
}

} // namespace benanza::backend::host::detail
