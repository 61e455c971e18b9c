// SPDX-License-Identifier: Apache-2.0
// How are transcendental functions computed in vectors, where the C library would be called once an
// element? By range reduction and a polynomial, without branches, for a float or a vector of them.
// All are inlined: a loop that calls one is no vector loop. Errors below were measured over the
// whole range against double; a NaN stays one. An `ulp` is the last place of the exact result.
//
//   exponential     1.5 ulp; zero below 2^-125      logarithm           1 ulp
//   logistic        3 ulp; e^-87 and less is that   hyperbolic_tangent  7 ulp
//   error_function  7 ulp                           soft_plus           2e-7 of max(1, y)
//   sine, cosine    absolute 2e-7, |x| < 1000       power(a, b)         relative 2e-7 (2 + |b log
//   a|)
//   tangent         4 ulp, |x| < 1000               arc_sine, arc_cosine, arc_tangent   4 ulp
//   hyperbolic_sine, hyperbolic_cosine  6 ulp       area_sine, area_cosine, area_tangent  4 ulp
//   rest_of, modulus  exact
#pragma once

#include "lanes.hpp"

#include <limits>

namespace benanza::backend::host::detail {

inline constexpr float infinite = std::numeric_limits<float>::infinity();
inline constexpr float undefined = std::numeric_limits<float>::quiet_NaN();

/// The same number in every lane.
template <class F>
[[gnu::always_inline]] inline F every(float v) {
  if constexpr (std::is_same_v<F, float>)
    return v;
  else
    return float_lanes::all(v);
}

/// `x` kept in a range; a NaN stays one.
template <class F>
[[gnu::always_inline]] inline F bounded(F x, float low, float high) {
  return smaller(every<F>(high), larger(every<F>(low), x));
}

template <class F>
[[gnu::always_inline]] inline F magnitude(F x) {
  return std::bit_cast<F>(std::bit_cast<whole_of<F>>(x) & 0x7fffffff);
}

/// `size` with the sign of `x`.
template <class F>
[[gnu::always_inline]] inline F with_sign(F size, F x) {
  using whole = whole_of<F>;
  return std::bit_cast<F>((std::bit_cast<whole>(size) & 0x7fffffff) |
                          (std::bit_cast<whole>(x) & static_cast<std::int32_t>(0x80000000u)));
}

/// c[0] + c[1] x + c[2] x^2 ..., Horner's way.
template <class F, std::size_t N>
[[gnu::always_inline]] inline F polynomial(F x, const float (&c)[N]) {
  F sum = every<F>(c[N - 1]);
#pragma GCC unroll 16
  for (std::size_t i = N - 1; i > 0; --i)
    sum = sum * x + c[i - 1];
  return sum;
}

/// e^x in [-87.3, 89]: x = n log 2 + r, |r| <= log(2) / 2; 2 e^r times 2^(n - 1), which is made of
/// the bits of n.
template <class F>
[[gnu::always_inline]] inline F exponential_near(F x) {
  // Adding 1.5 x 2^23 leaves no bits for a fraction; 126 makes an exponent of what is left.
  constexpr float shift = 12582912.f + 126.f;
  const F shifted = x * 1.44269504f + shift, n = shifted - shift;
  // log 2 in two parts, the first short enough for an exact product.
  const F r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  const F p = polynomial(r, {2.f, 2.f, 1.f, 2 * 1.6666665459e-1f, 2 * 4.1665795894e-2f,
                             2 * 8.3334519073e-3f, 2 * 1.3981999507e-3f, 2 * 1.9875691500e-4f});
  return p * std::bit_cast<F>(std::bit_cast<whole_of<F>>(shifted) << 23);
}

/// e^x: zero below that range, and infinite above.
template <class F>
[[gnu::always_inline]] inline F exponential(F x) {
  return exponential_near(bounded(x, -87.3f, 89.f));
}

/// Natural logarithm of a positive normal number times 2^-`less`: x = m 2^n, m in [sqrt(1/2),
/// sqrt(2)), whose bits are 0x3f3504f3.
template <class F>
[[gnu::always_inline]] inline F logarithm_of_normal(F x, F less) {
  const auto bits = std::bit_cast<whole_of<F>>(x);
  const auto exponent = (bits - 0x3f3504f3) >> 23;
  const F m = std::bit_cast<F>(bits - (exponent << 23)) - 1.f, q = m * m;
  F n;
  if constexpr (std::is_same_v<F, float>)
    n = static_cast<float>(exponent) - less;
  else
    n = __builtin_convertvector(exponent, float_vector) - less;
  const F p = polynomial(m, {3.3333331174e-1f, -2.4999993993e-1f, 2.0000714765e-1f,
                             -1.6668057665e-1f, 1.4249322787e-1f, -1.2420140846e-1f,
                             1.1676998740e-1f, -1.1514610310e-1f, 7.0376836292e-2f});
  const F small = (m * q * p - n * 2.12194440e-4f) - q * 0.5f;
  return (m + small) + n * 0.693359375f;
}

/// Natural logarithm.
template <class F>
[[gnu::always_inline]] inline F logarithm(F x) {
  const auto tiny = x < 1.17549435e-38f;
  const F y = logarithm_of_normal(tiny ? x * 8388608.f : x, tiny ? every<F>(23.f) : every<F>(0.f));
  const F of_zero = x == 0.f ? every<F>(-infinite) : every<F>(undefined);
  const F finite = x < infinite ? y : x;
  return x > 0.f ? finite : of_zero;
}

/// 1 / (1 + e^-x).
template <class F>
[[gnu::always_inline]] inline F logistic(F x) {
  return inverse(1.f + exponential_near(bounded(-x, -87.f, 87.f)));
}

/// x p(x^2) / q(x^2); one beyond +-7.9988 in f32.
template <class F>
[[gnu::always_inline]] inline F hyperbolic_tangent(F x) {
  const F near = bounded(x, -7.99881172180175781f, 7.99881172180175781f), q = near * near;
  const F above =
      polynomial(q, {4.89352455891786e-03f, 6.37261928875436e-04f, 1.48572235717979e-05f,
                     5.12229709037114e-08f, -8.60467152213735e-11f, 2.00018790482477e-13f,
                     -2.76076847742355e-16f});
  const F below = polynomial(q, {4.89352518554385e-03f, 2.26843463243900e-03f,
                                 1.18534705686654e-04f, 1.19825839466702e-06f});
  return near * (above * inverse(below));
}

/// x p(x^2) / q(x^2); one beyond +-4 in f32.
template <class F>
[[gnu::always_inline]] inline F error_function(F x) {
  const F near = bounded(x, -4.f, 4.f), q = near * near;
  const F above =
      polynomial(q, {-1.60960333262415e-02f, -2.95459980854025e-03f, -7.34990630326855e-04f,
                     -5.69250639462346e-05f, -2.10102402082508e-06f, 2.77068142495902e-08f,
                     -2.72614225801306e-10f});
  const F below =
      polynomial(q, {-1.42647390514189e-02f, -7.37332916720468e-03f, -1.68282697438203e-03f,
                     -2.13374055278905e-04f, -1.45660718464996e-05f});
  return near * (above * inverse(below));
}

/// sin(r + n pi), for |r| <= pi / 2; Taylor to r^13. `parity`: a float whose lowest bit is n's.
template <class F>
[[gnu::always_inline]] inline F sine_near(F r, F parity) {
  const F q = r * r;
  const F p = polynomial(
      q, {-1.f / 6, 1.f / 120, -1.f / 5040, 1.f / 362880, -1.f / 39916800, 1.f / 6227020800.f});
  const F y = r + r * q * p;
  return std::bit_cast<F>(std::bit_cast<whole_of<F>>(y) ^ std::bit_cast<whole_of<F>>(parity) << 31);
}

/// r = x - n pi with pi in three parts; n may end in one half. No more than a quarter turn, however
/// large x is.
template <class F>
[[gnu::always_inline]] inline F without_pi(F x, F n) {
  const F r = ((x - n * 3.140625f) - n * 9.67502593994140625e-4f) - n * 1.509957990978376432e-7f;
  return bounded(r, -1.5708f, 1.5708f);
}

template <class F>
[[gnu::always_inline]] inline F sine(F x) {
  const F shifted = x * 0.318309886f + 12582912.f;
  return sine_near(without_pi(x, shifted - 12582912.f), shifted);
}

template <class F>
[[gnu::always_inline]] inline F cosine(F x) {
  const F shifted = (x * 0.318309886f - 0.5f) + 12582912.f;
  // One more half turn: cos x = -sin(x - (n + 1/2) pi) for an even n.
  return -sine_near(without_pi(x, (shifted - 12582912.f) + 0.5f), shifted);
}

/// log(1 + e^x) without overflow.
template <class F>
[[gnu::always_inline]] inline F soft_plus(F x) {
  const F most = larger(every<F>(0.f), x);
  return most + logarithm_of_normal(1.f + exponential_near(-smaller(every<F>(87.3f), magnitude(x))),
                                    every<F>(0.f));
}

/// a^b; a negative base takes whole exponents only.
template <class F>
[[gnu::always_inline]] inline F power(F a, F b) {
  const F y = exponential(b * logarithm(magnitude(a)));
  const F half = nearest(b * 0.5f);
  const F with_parity = half * 2.f == b ? y : -y;
  const F negative = nearest(b) == b ? with_parity : every<F>(undefined);
  const F any = a < 0.f ? negative : y;
  return b == 0.f ? every<F>(1.f) : any;
}

/// Both are right to the last places where they are zero too.
template <class F>
[[gnu::always_inline]] inline F tangent(F x) {
  return sine(x) / cosine(x);
}

// Polynomials below are those of Cephes (Moshier, single precision).

/// For |x| <= 1/2.
template <class F>
[[gnu::always_inline]] inline F arc_sine_near(F x, F square) {
  const F p = polynomial(square, {1.6666752422e-1f, 7.4953002686e-2f, 4.5470025998e-2f,
                                  2.4181311049e-2f, 4.2163199048e-2f});
  return x + x * square * p;
}
/// Far from zero: asin a = pi / 2 - 2 asin(sqrt((1 - a) / 2)).
template <class F>
[[gnu::always_inline]] inline F arc_sine(F x) {
  const F a = magnitude(x);
  const auto far = a > 0.5f;
  const F square = far ? 0.5f * (1.f - a) : a * a;
  const F y = arc_sine_near(far ? root(square) : a, square);
  return with_sign(far ? 1.57079633f - 2.f * y : y, x);
}
template <class F>
[[gnu::always_inline]] inline F arc_cosine(F x) {
  const F a = magnitude(x);
  const auto far = a > 0.5f;
  const F square = far ? 0.5f * (1.f - a) : a * a;
  const F y = arc_sine_near(far ? root(square) : x, square);
  const F twice = 2.f * y, other = 3.14159265f - twice;
  const F outer = x > 0.f ? twice : other;
  return far ? outer : 1.57079633f - y;
}

/// Turned by pi / 2 or pi / 4 until |x| <= tan(pi / 8).
template <class F>
[[gnu::always_inline]] inline F arc_tangent(F x) {
  const F a = magnitude(x), zero = every<F>(0.f);
  const auto far = a > 2.41421356f, middle = a > 0.414213562f;
  const F turned = middle ? (a - 1.f) / (a + 1.f) : a;
  const F r = far ? -1.f / a : turned;
  const F turn_of_middle = middle ? every<F>(0.785398163f) : zero;
  const F turn = far ? every<F>(1.57079633f) : turn_of_middle;
  const F square = r * r;
  const F p = polynomial(
      square, {-3.33329491539e-1f, 1.99777106478e-1f, -1.38776856032e-1f, 8.05374449538e-2f});
  return with_sign(turn + (r + r * square * p), x);
}

/// e^|x| / 2 without overflow before the result has one: as the square of e^(|x| / 2).
template <class F>
[[gnu::always_inline]] inline F half_exponential(F x) {
  const F e = exponential(0.5f * magnitude(x));
  return (0.5f * e) * e;
}
template <class F>
[[gnu::always_inline]] inline F hyperbolic_sine(F x) {
  const F q = x * x, h = half_exponential(x);
  const F near =
      x + x * q * polynomial(q, {1.66667160211e-1f, 8.33028376239e-3f, 2.03721912945e-4f});
  return magnitude(x) <= 1.f ? near : with_sign(h - 0.25f / h, x);
}
template <class F>
[[gnu::always_inline]] inline F hyperbolic_cosine(F x) {
  const F h = half_exponential(x);
  return h + 0.25f / h;
}

/// log(a + sqrt(a^2 + `more`)), for large a of 2 a.
template <class F>
[[gnu::always_inline]] inline F area_logarithm(F a, F other_root) {
  const auto large = a > 1500.f;
  const F y = logarithm(large ? a : a + other_root);
  return large ? y + 0.693147181f : y;
}
template <class F>
[[gnu::always_inline]] inline F area_sine(F x) {
  const F a = magnitude(x), q = x * x;
  const F near = x + x * q *
                         polynomial(q, {-1.6666288134e-1f, 7.4847586088e-2f, -4.2699340972e-2f,
                                        2.0122003309e-2f});
  return a < 0.5f ? near : with_sign(area_logarithm(a, root(q + 1.f)), x);
}
template <class F>
[[gnu::always_inline]] inline F area_cosine(F x) {
  const F z = x - 1.f;
  const F near = root(z) * polynomial(z, {1.4142135263f, -1.1784741703e-1f, 2.6454905019e-2f,
                                          -7.5272886713e-3f, 1.7596881071e-3f});
  return z < 0.5f ? near : area_logarithm(x, root(z * (x + 1.f)));
}
template <class F>
[[gnu::always_inline]] inline F area_tangent(F x) {
  const F q = x * x;
  const F near = x + x * q *
                         polynomial(q, {3.33337300303e-1f, 1.99782164500e-1f, 1.46691431730e-1f,
                                        8.24370301058e-2f, 1.81740078349e-1f});
  return magnitude(x) < 0.5f ? near : 0.5f * logarithm((1.f + x) / (1.f - x));
}

/// x - y trunc(x / y), of the sign of x; where the quotient has more digits than a float, as the C
/// library has it.
template <class F>
[[gnu::always_inline]] inline F rest_of(F x, F y) {
  if constexpr (std::is_same_v<F, float>) {
    return std::fmod(x, y);
  } else {
    const F q = x / y, near = nearest(q);
    // A quotient that was rounded may be off by one: what is left says so.
    const F whole = magnitude(near) > magnitude(q) ? near - with_sign(every<F>(1.f), q) : near;
    const F r = float_lanes::multiply_add(-whole, y, x), size = magnitude(y);
    const auto negative = std::bit_cast<whole_of<F>>(x) < 0;
    const F forward = negative ? -r : r; // in [0, size) when it is right
    const F raised = forward < 0.f ? forward + size : forward;
    const F right = raised >= size ? raised - size : raised;
    F out = with_sign(right, x);
    out = size == infinite ? x - x + x : out;
    // Products that are rounded lose what is left; a NaN has nothing to lose.
#if defined(__FMA__)
    const F most = q == q ? magnitude(q) : every<F>(0.f);
    if (!(float_lanes::folded(most, [](auto a, auto b) { return a > b ? a : b; }) < 4194304.f))
#endif
      for (int i = 0; i < float_lanes::count; ++i)
        out[i] = std::fmod(x[i], y[i]);
    return out;
  }
}

/// x - y floor(x / y), of the sign of y.
template <class F>
[[gnu::always_inline]] inline F modulus(F x, F y) {
  const F r = rest_of(x, y);
  using whole = whole_of<F>;
  const auto differs = (std::bit_cast<whole>(r) ^ std::bit_cast<whole>(y)) < 0;
  const F moved = differs ? r + y : r;
  return r == 0.f ? with_sign(r, y) : moved;
}

} // namespace benanza::backend::host::detail
