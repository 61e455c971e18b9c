// SPDX-License-Identifier: Apache-2.0
// Which loop computes an elementwise function? One for each function and element type, on a block
// of one operand or a plane of two; chosen once, when a layer is prepared.
//
//   unary_block(unary_function::gelu)(from, to, 1024);
#pragma once

#include "../../operands.hpp"
#include "approx.hpp"

#include <utility>

namespace benanza::backend::host::detail {

// clang-format off
/// A function of one float, in f32.
template <op::unary_function F>
inline float apply(float x) {
  using enum op::unary_function;
  constexpr auto as_float = [](double v) { return static_cast<float>(v); };
  if constexpr (F == relu) return x > 0.f ? x : 0.f;
  else if constexpr (F == leaky_relu) return x < 0.f ? as_float(attribute::leaky_slope) * x : x;
  else if constexpr (F == elu) return x < 0.f ? as_float(attribute::elu_alpha) * (exponential(x) - 1.f) : x;
  else if constexpr (F == selu)
    return as_float(attribute::selu_gamma) *
           (x > 0.f ? x : as_float(attribute::selu_alpha) * (exponential(x) - 1.f));
  else if constexpr (F == celu) {
    constexpr float alpha = as_float(attribute::celu_alpha);
    return x > 0.f ? x : alpha * (exponential(x * (1.f / alpha)) - 1.f);
  } else if constexpr (F == thresholded_relu) return x > as_float(attribute::threshold) ? x : 0.f;
  else if constexpr (F == sigmoid) return logistic(x);
  else if constexpr (F == hard_sigmoid) {
    const float y = as_float(attribute::hard_sigmoid_alpha) * x + as_float(attribute::hard_sigmoid_beta);
    const float most = y < 1.f ? y : 1.f;
    return most > 0.f ? most : 0.f;
  } else if constexpr (F == hard_swish) {
    const float y = x * (1.f / 6) + 0.5f, most = y < 1.f ? y : 1.f;
    return x * (most > 0.f ? most : 0.f);
  } else if constexpr (F == tanh) return hyperbolic_tangent(x);
  else if constexpr (F == softplus) return soft_plus(x);
  else if constexpr (F == softsign) return x / (1.f + std::fabs(x));
  else if constexpr (F == mish) {
    // tanh(log(1 + e)) = (e^2 + 2 e) / (e^2 + 2 e + 2); one beyond 20.
    const float e = exponential(x < 20.f ? x : 20.f), w = e * (e + 2.f);
    return x * (w / (w + 2.f));
  } else if constexpr (F == gelu) return 0.5f * x * (1.f + error_function(x * 0.70710678f));
  else if constexpr (F == fast_gelu)
    return 0.5f * x * (1.f + hyperbolic_tangent(0.79788456f * (x + 0.044715f * x * x * x)));
  else if constexpr (F == clip) {
    const float most = x < as_float(attribute::clip_high) ? x : as_float(attribute::clip_high);
    return most > as_float(attribute::clip_low) ? most : as_float(attribute::clip_low);
  } else if constexpr (F == exp) return exponential(x);
  else if constexpr (F == log) return logarithm(x);
  else if constexpr (F == sqrt) return square_root(x);
  else if constexpr (F == abs) return std::fabs(x);
  else if constexpr (F == neg) return -x;
  else if constexpr (F == reciprocal) return 1.f / x;
  else if constexpr (F == floor) { const float r = rounded(x); return r > x ? r - 1.f : r; }
  else if constexpr (F == ceil) { const float r = rounded(x); return r < x ? r + 1.f : r; }
  else if constexpr (F == round) return rounded(x);
  else if constexpr (F == erf) return error_function(x);
  else if constexpr (F == sin) return sine(x);
  else if constexpr (F == cos) return cosine(x);
  else if constexpr (F == sign) return static_cast<float>(x > 0.f) - static_cast<float>(x < 0.f);
  else return x == 0.f ? 1.f : 0.f;
}

/// A function of two elements: the result has the operands' type, or is a truth value.
template <op::binary_function F, class T>
inline auto apply(T a, T b) {
  using enum op::binary_function;
  const auto truth = [](bool v) { return static_cast<std::uint8_t>(v); };
  if constexpr (F == add) return static_cast<T>(a + b);
  else if constexpr (F == sub) return static_cast<T>(a - b);
  else if constexpr (F == mul) return static_cast<T>(a * b);
  else if constexpr (F == div) return static_cast<T>(a / b);
  else if constexpr (F == pow && std::is_same_v<T, float>) return power(a, b);
  else if constexpr (F == pow) {
    T y = 1;
    for (; b > 0; --b) y = static_cast<T>(y * a);
    return y;
  } else if constexpr (F == min) return a < b ? a : b;
  else if constexpr (F == max) return a > b ? a : b;
  else if constexpr (F == prelu) return a < T{} ? static_cast<T>(a * b) : a;
  else if constexpr (F == equal) return truth(a == b);
  else if constexpr (F == greater) return truth(a > b);
  else if constexpr (F == greater_or_equal) return truth(a >= b);
  else if constexpr (F == less) return truth(a < b);
  else if constexpr (F == less_or_equal) return truth(a <= b);
  else if constexpr (F == logical_and) return truth((a != 0) & (b != 0));
  else if constexpr (F == logical_or) return truth((a != 0) | (b != 0));
  else return truth((a != 0) != (b != 0));
}
// clang-format on

using block_function = void (*)(const float*, float*, std::int64_t);

template <op::unary_function F>
void over_block(const float* from, float* to, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    to[i] = apply<F>(from[i]);
}

/// The loop of a function of one float; `from` may be `to`.
inline block_function unary_block(op::unary_function f) {
  constexpr auto all = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<block_function, sizeof...(I)>{
        over_block<static_cast<op::unary_function>(I)>...};
  }
  (std::make_index_sequence<std::size(op::unary_families)>{});
  return all[static_cast<std::size_t>(f)];
}

/// Rows of two operands: how far apart they are, and whether an operand moves along a row at all.
struct plane {
  std::int64_t rows, n;
  std::int64_t a_row, b_row;
  bool a_moves, b_moves;
};

using plane_function = void (*)(const std::byte*, const std::byte*, std::byte*, const plane&);

template <op::binary_function F, class T>
void over_plane(const std::byte* a, const std::byte* b, std::byte* to, const plane& p) {
  using result = decltype(apply<F>(T{}, T{}));
  for (std::int64_t r = 0; r < p.rows; ++r) {
    const T* x = reinterpret_cast<const T*>(a) + r * p.a_row;
    const T* y = reinterpret_cast<const T*>(b) + r * p.b_row;
    result* z = reinterpret_cast<result*>(to) + r * p.n;
    if constexpr (F == op::binary_function::pow && std::is_integral_v<T>) {
      // A loop in itself: it has no vector form.
      for (std::int64_t i = 0; i < p.n; ++i)
        z[i] = apply<F>(x[p.a_moves ? i : 0], y[p.b_moves ? i : 0]);
      continue;
    }
    if (p.a_moves && p.b_moves) {
#pragma omp simd
      for (std::int64_t i = 0; i < p.n; ++i)
        z[i] = apply<F>(x[i], y[i]);
    } else if (p.a_moves) {
      const T same = *y;
#pragma omp simd
      for (std::int64_t i = 0; i < p.n; ++i)
        z[i] = apply<F>(x[i], same);
    } else {
      const T same = *x;
      const std::int64_t step = p.b_moves;
      if (step == 0) {
        std::fill_n(z, p.n, apply<F>(same, *y));
        continue;
      }
#pragma omp simd
      for (std::int64_t i = 0; i < p.n; ++i)
        z[i] = apply<F>(same, y[i]);
    }
  }
}

/// The loop of a function of two elements of type `T`; none where the type has no such function.
template <class T>
plane_function binary_plane(op::binary_function f) {
  using enum op::binary_function;
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    switch (f) {
    case equal: return over_plane<equal, T>;
    case logical_and: return over_plane<logical_and, T>;
    case logical_or: return over_plane<logical_or, T>;
    case logical_xor: return over_plane<logical_xor, T>;
    default: return nullptr;
    }
  } else {
    switch (f) {
    case add:
    case sum:
    case mean: return over_plane<add, T>;
    case sub: return over_plane<sub, T>;
    case mul: return over_plane<mul, T>;
    case div: return over_plane<div, T>;
    case pow: return over_plane<pow, T>;
    case min: return over_plane<min, T>;
    case max: return over_plane<max, T>;
    case prelu: return over_plane<prelu, T>;
    case equal: return over_plane<equal, T>;
    case greater: return over_plane<greater, T>;
    case greater_or_equal: return over_plane<greater_or_equal, T>;
    case less: return over_plane<less, T>;
    case less_or_equal: return over_plane<less_or_equal, T>;
    default: return nullptr;
    }
  }
}

} // namespace benanza::backend::host::detail
