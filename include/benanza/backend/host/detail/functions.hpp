// SPDX-License-Identifier: Apache-2.0
// Which loop computes an elementwise function? One for each function and element type, on a block
// of one operand or a plane of two; chosen once, when a layer is prepared.
//
//   unary_block(unary_function::gelu)(from, to, 1024);
#pragma once

#include "../../operands.hpp"
#include "approx.hpp"
#include "convert.hpp"

#include <array>
#include <utility>

namespace benanza::backend::host::detail {

// clang-format off
/// A function of one float, or of a vector of them.
template <op::unary_function Function, class F>
[[gnu::always_inline]] inline F apply(F x) {
  using enum op::unary_function;
  constexpr auto f32 = [](double v) { return static_cast<float>(v); };
  const F zero = every<F>(0.f), one = every<F>(1.f);
  if constexpr (Function == relu) return larger(x, zero);
  else if constexpr (Function == leaky_relu) return x < 0.f ? x * f32(attribute::leaky_slope) : x;
  else if constexpr (Function == elu) {
    const F below = (exponential(x) - 1.f) * f32(attribute::elu_alpha);
    return x < 0.f ? below : x;
  } else if constexpr (Function == selu) {
    const F below = (exponential(x) - 1.f) * f32(attribute::selu_gamma * attribute::selu_alpha);
    const F above = x * f32(attribute::selu_gamma);
    return x < 0.f ? below : above;
  } else if constexpr (Function == celu) {
    constexpr float alpha = f32(attribute::celu_alpha);
    const F below = (exponential(x * (1.f / alpha)) - 1.f) * alpha;
    return x < 0.f ? below : x;
  } else if constexpr (Function == thresholded_relu)
    return x > f32(attribute::threshold) ? x : zero;
  else if constexpr (Function == sigmoid) return logistic(x);
  else if constexpr (Function == hard_sigmoid)
    return bounded(x * f32(attribute::hard_sigmoid_alpha) + f32(attribute::hard_sigmoid_beta), 0.f, 1.f);
  else if constexpr (Function == hard_swish) return x * bounded(x * (1.f / 6) + 0.5f, 0.f, 1.f);
  else if constexpr (Function == tanh) return hyperbolic_tangent(x);
  else if constexpr (Function == softplus) return soft_plus(x);
  else if constexpr (Function == softsign) return x / (1.f + magnitude(x));
  else if constexpr (Function == mish) {
    // tanh(log(1 + e)) = (e^2 + 2 e) / (e^2 + 2 e + 2); one beyond 20.
    const F e = exponential_near(bounded(x, -87.3f, 20.f)), w = e * (e + 2.f);
    return x * (w * inverse(w + 2.f));
  } else if constexpr (Function == swish) return x * logistic(x);
  else if constexpr (Function == gelu) return 0.5f * x * (1.f + error_function(x * 0.70710678f));
  else if constexpr (Function == fast_gelu)
    return 0.5f * x * (1.f + hyperbolic_tangent(x * (0.79788456f + 0.035677408f * (x * x))));
  else if constexpr (Function == clip)
    return bounded(x, f32(attribute::clip_low), f32(attribute::clip_high));
  else if constexpr (Function == exp) return exponential(x);
  else if constexpr (Function == log) return logarithm(x);
  else if constexpr (Function == sqrt) return root(x);
  else if constexpr (Function == abs) return magnitude(x);
  else if constexpr (Function == neg) return -x;
  else if constexpr (Function == reciprocal) return 1.f / x;
  else if constexpr (Function == floor || Function == ceil) {
    const F r = nearest(x), inward = Function == floor ? r - 1.f : r + 1.f;
    return (Function == floor ? r > x : r < x) ? inward : r;
  } else if constexpr (Function == round) return nearest(x);
  else if constexpr (Function == erf) return error_function(x);
  else if constexpr (Function == sin) return sine(x);
  else if constexpr (Function == cos) return cosine(x);
  else if constexpr (Function == square) return x * x;
  else if constexpr (Function == cube) return x * x * x;
  else if constexpr (Function == tan) return tangent(x);
  else if constexpr (Function == asin) return arc_sine(x);
  else if constexpr (Function == acos) return arc_cosine(x);
  else if constexpr (Function == atan) return arc_tangent(x);
  else if constexpr (Function == sinh) return hyperbolic_sine(x);
  else if constexpr (Function == cosh) return hyperbolic_cosine(x);
  else if constexpr (Function == asinh) return area_sine(x);
  else if constexpr (Function == acosh) return area_cosine(x);
  else if constexpr (Function == atanh) return area_tangent(x);
  else if constexpr (Function == is_nan) return x == x ? zero : one;
  else if constexpr (Function == is_inf) return magnitude(x) == infinite ? one : zero;
  else if constexpr (Function == shrink) {
    constexpr float lambda = f32(attribute::shrink_lambda), bias = f32(attribute::shrink_bias);
    const F above = x > lambda ? x - bias : zero;
    return x < -lambda ? x + bias : above;
  } else if constexpr (Function == sign) {
    const F above = x > 0.f ? one : zero;
    return x < 0.f ? -one : above;
  } else return x == 0.f ? one : zero;
}

/// Whole numbers of a type as unsigned ones, in which sums and products wrap around.
template <class T>
using wrapping = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

/// Towards zero; 0 where it is divided by 0.
template <class T>
[[gnu::always_inline]] inline T whole_quotient(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return static_cast<T>(wrapping<T>{0} - static_cast<wrapping<T>>(a));
  return static_cast<T>(a / b);
}

/// A function of two whole numbers.
template <op::binary_function F, class T>
[[gnu::always_inline]] inline T apply_whole(T a, T b) {
  using enum op::binary_function;
  using W = wrapping<T>;
  const W x = static_cast<W>(a), y = static_cast<W>(b);
  if constexpr (F == add) return static_cast<T>(x + y);
  else if constexpr (F == sub) return static_cast<T>(x - y);
  else if constexpr (F == mul) return static_cast<T>(x * y);
  else if constexpr (F == div) return whole_quotient(a, b);
  else if constexpr (F == fmod || F == mod) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
      const T r = static_cast<T>(a % b);
      return F == mod && r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
    } else return static_cast<T>(a % b);
  } else if constexpr (F == pow) {
    if constexpr (std::is_signed_v<T>)
      if (b < 0) return a == 1 ? T{1} : a == -1 ? static_cast<T>(b % 2 == 0 ? 1 : -1) : T{0};
    W power = 1, square = x;
    for (W left = y; left > 0; left /= 2, square = static_cast<W>(square * square))
      if (left % 2 != 0) power = static_cast<W>(power * square);
    return static_cast<T>(power);
  } else if constexpr (F == min) return a < b ? a : b;
  else if constexpr (F == max) return a > b ? a : b;
  else if constexpr (F == prelu) return a < T{} ? static_cast<T>(x * y) : a;
  else if constexpr (F == bitwise_and) return static_cast<T>(a & b);
  else if constexpr (F == bitwise_or) return static_cast<T>(a | b);
  else if constexpr (F == bitwise_xor) return static_cast<T>(a ^ b);
  else {
    // As wide as the type or wider, or negative: what is shifted in is all that is left.
    constexpr W bits = 8 * sizeof(T);
    const bool inside = y < bits;
    const W by = inside ? y : bits - 1;
    if constexpr (F == shift_left) return inside ? static_cast<T>(x << by) : T{0};
    else if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> by);
    else return inside ? static_cast<T>(a >> by) : T{0};
  }
}

/// A function of two elements: the result has the operands' type, or is a truth value.
template <op::binary_function F, class T>
[[gnu::always_inline]] inline auto apply(T a, T b) {
  using enum op::binary_function;
  const auto truth = [](bool v) { return static_cast<std::uint8_t>(v); };
  constexpr bool numeric = F <= prelu || F > logical_xor;
  if constexpr (numeric && std::is_integral_v<T>) return apply_whole<F>(a, b);
  else if constexpr (F == add) return a + b;
  else if constexpr (F == sub) return a - b;
  else if constexpr (F == mul) return a * b;
  else if constexpr (F == div) return a / b;
  else if constexpr (F == pow) return power(a, b);
  else if constexpr (F == min) return a < b ? a : b;
  else if constexpr (F == max) return a > b ? a : b;
  else if constexpr (F == prelu) return a < T{} ? a * b : a;
  else if constexpr (F == mod) return modulus(a, b);
  else if constexpr (F == fmod) return rest_of(a, b);
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

template <op::unary_function Function>
void over_block(const float* from, float* to, std::int64_t n) {
  over_lanes(
      n, [&](std::int64_t i, auto at) __attribute__((always_inline)) {
        at.store(apply<Function>(at.load(from + i)), to + i);
      });
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

/// A row of floats, in vectors; an operand that does not move is the same for all.
template <op::binary_function F, bool A, bool B>
[[gnu::always_inline]] inline void over_floats(const float* x, const float* y, float* z,
                                               std::int64_t n) {
  const float_vector left = float_lanes::all(*x), right = float_lanes::all(*y);
  over_lanes(
      n, [=](std::int64_t i, auto at) __attribute__((always_inline)) {
        const float_vector a = A ? at.load(x + i, 1) : left, b = B ? at.load(y + i, 1) : right;
        at.store(apply<F>(a, b), z + i);
      });
}

/// Functions of whole numbers that processors compute one by one.
template <op::binary_function F>
inline constexpr bool loops_itself =
    F == op::binary_function::pow || F == op::binary_function::div ||
    F == op::binary_function::mod || F == op::binary_function::fmod;

template <op::binary_function F, class T>
void over_plane(const std::byte* a, const std::byte* b, std::byte* to, const plane& p) {
  using result = decltype(apply<F>(T{}, T{}));
  for (std::int64_t r = 0; r < p.rows; ++r) {
    const T* x = reinterpret_cast<const T*>(a) + r * p.a_row;
    const T* y = reinterpret_cast<const T*>(b) + r * p.b_row;
    result* z = reinterpret_cast<result*>(to) + r * p.n;
    if constexpr (std::is_same_v<T, float> && std::is_same_v<result, float>) {
      if (p.a_moves && p.b_moves)
        over_floats<F, true, true>(x, y, z, p.n);
      else if (p.a_moves)
        over_floats<F, true, false>(x, y, z, p.n);
      else if (p.b_moves)
        over_floats<F, false, true>(x, y, z, p.n);
      else
        std::fill_n(z, p.n, apply<F>(*x, *y));
      continue;
    }
    if constexpr (loops_itself<F> && std::is_integral_v<T>) {
      // It has no vector form.
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
  switch (f) {
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
  case mod: return over_plane<mod, T>;
  case fmod: return over_plane<fmod, T>;
  default: break;
  }
  // Those that need no sign are the same for both kinds of whole numbers.
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    return f == shift_right ? over_plane<shift_right, T> : binary_plane<std::make_unsigned_t<T>>(f);
  } else {
    switch (f) {
    case add:
    case sum:
    case mean: return over_plane<add, T>;
    case sub: return over_plane<sub, T>;
    case mul: return over_plane<mul, T>;
    default: break;
    }
    if constexpr (std::is_integral_v<T>) switch (f) {
      case bitwise_and: return over_plane<bitwise_and, T>;
      case bitwise_or: return over_plane<bitwise_or, T>;
      case bitwise_xor: return over_plane<bitwise_xor, T>;
      case shift_left: return over_plane<shift_left, T>;
      case shift_right: return over_plane<shift_right, T>;
      default: break;
      }
    return nullptr;
  }
}

/// The loop of a function of two truth values.
inline plane_function truth_plane(op::binary_function f) {
  using enum op::binary_function;
  using T = std::uint8_t;
  switch (f) {
  case equal: return over_plane<equal, T>;
  case logical_and: return over_plane<logical_and, T>;
  case logical_or: return over_plane<logical_or, T>;
  case logical_xor: return over_plane<logical_xor, T>;
  default: return nullptr;
  }
}

/// Calls `f` with a whole number of that type; gives what `f` gives, or nothing for other types.
template <class F>
auto with_whole(dtype t, F&& f) -> decltype(f(std::int32_t{})) {
  switch (t) {
  case dtype::s8: return f(std::int8_t{});
  case dtype::u8: return f(std::uint8_t{});
  case dtype::s16: return f(std::int16_t{});
  case dtype::u16: return f(std::uint16_t{});
  case dtype::s32: return f(std::int32_t{});
  case dtype::u32: return f(std::uint32_t{});
  case dtype::s64: return f(std::int64_t{});
  case dtype::u64: return f(std::uint64_t{});
  default: return {};
  }
}

} // namespace benanza::backend::host::detail
