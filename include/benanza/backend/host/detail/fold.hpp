// SPDX-License-Identifier: Apache-2.0
// How are many elements folded into one? Along a row, in the lanes of a vector; or row by row into
// a row of results. One loop for each kind of fold (sum, absolutes, squares, most, least, product)
// and element type, chosen when a layer is prepared.
//
//   rows_fold<float>(op::reduction::l1)(values, 49, 2048, sums)
#pragma once

#include "../../operands.hpp"
#include "approx.hpp"
#include "convert.hpp"

namespace benanza::backend::host::detail {

/// What a fold begins with.
template <class Sum>
Sum start(op::reduction f) {
  using limits = std::numeric_limits<Sum>;
  switch (f) {
  case op::reduction::log_sum_exp:
  case op::reduction::max: return limits::has_infinity ? -limits::infinity() : limits::lowest();
  case op::reduction::min: return limits::has_infinity ? limits::infinity() : limits::max();
  case op::reduction::product: return 1;
  default: return 0;
  }
}

/// Two parts of one fold together.
template <class Sum>
Sum combined(op::reduction f, Sum a, Sum b) {
  switch (f) {
  case op::reduction::max: return a > b ? a : b;
  case op::reduction::min: return a < b ? a : b;
  case op::reduction::product: return a * b;
  case op::reduction::log_sum_exp: return a > b ? a : b;
  default: return a + b;
  }
}

/// What is added for an element: itself, its absolute value or its square.
enum class term { itself, absolute, square };

template <term Term, class T>
inline T term_of(T v) {
  if constexpr (Term == term::absolute)
    return v < 0 ? -v : v;
  else if constexpr (Term == term::square)
    return v * v;
  else
    return v;
}

/// Folds a row of floats in four vectors, so that none waits for the one before: `more(sum, x)`
/// adds elements, `join(a, b)` two sums, also single ones; `rest` adds nothing.
template <class More, class Join>
[[gnu::always_inline]] inline float fold_lanes(const float* v, std::int64_t n, float first,
                                               float rest, More more, Join join) {
  constexpr std::int64_t count = float_lanes::count;
  float_vector sums[4];
  for (float_vector& s : sums)
    s = float_lanes::all(first);
  std::int64_t i = 0;
  for (; i + 4 * count <= n; i += 4 * count) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k)
      sums[k] = more(sums[k], float_lanes::load(v + i + k * count));
  }
  for (; i + count <= n; i += count)
    sums[0] = more(sums[0], float_lanes::load(v + i));
  if (i < n) sums[1] = more(sums[1], float_lanes::load(v + i, n - i, rest));
  return float_lanes::folded(join(join(sums[0], sums[1]), join(sums[2], sums[3])), join);
}

template <term Term, class T>
T fold_sum(const T* v, std::int64_t n) {
  if constexpr (std::is_same_v<T, float>) {
    const auto more = [](float_vector sum, float_vector x) __attribute__((always_inline)) {
      if constexpr (Term == term::absolute)
        return sum + magnitude(x);
      else if constexpr (Term == term::square)
        return float_lanes::multiply_add(x, x, sum);
      else
        return sum + x;
    };
    const auto join = [](auto a, auto b) __attribute__((always_inline)) {
      return a + b;
    };
    return fold_lanes(v, n, 0, 0, more, join);
  } else {
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i)
      sum += term_of<Term>(v[i]);
    return sum;
  }
}

template <class T>
T fold_product(const T* v, std::int64_t n) {
  if constexpr (std::is_same_v<T, float>) {
    const auto multiply = [](auto a, auto b) __attribute__((always_inline)) {
      return a * b;
    };
    return fold_lanes(v, n, 1, 1, multiply, multiply);
  } else {
    T product = 1;
#pragma omp simd reduction(* : product)
    for (std::int64_t i = 0; i < n; ++i)
      product *= v[i];
    return product;
  }
}

/// The most or the least of a row. In lanes by hand: no compiler may reorder comparisons of
/// float_vector.
template <bool Most, class T>
T fold_extreme(const T* v, std::int64_t n) {
  const auto better = [](auto a, auto b) __attribute__((always_inline)) {
    return (Most ? a > b : a < b) ? a : b;
  };
  if constexpr (std::is_same_v<T, float>) {
    return fold_lanes(v, n, v[0], v[0], better, better);
  } else {
    T best = v[0];
    for (std::int64_t i = 1; i < n; ++i)
      best = better(v[i], best);
    return best;
  }
}

/// The sum of e^(v - most), each of which is also written to `to` if that is there.
template <bool Written = false>
[[gnu::always_inline]] inline float fold_exponentials(const float* v, std::int64_t n, float most,
                                                      float* to = nullptr) {
  float_vector sum{};
  over_lanes(
      n, [&](std::int64_t i, auto at) __attribute__((always_inline)) {
        const float_vector e = exponential(at.load(v + i, -infinite) - most);
        if constexpr (Written) at.store(e, to + i);
        sum += e;
      });
  return float_lanes::sum(sum);
}

template <auto Fold, class T>
void fold_rows(const T* v, std::int64_t n, std::int64_t rows, T* sums) {
  for (std::int64_t r = 0; r < rows; ++r)
    sums[r] = Fold(v + r * n, n);
}

/// How an element is added to a fold, and how one begins.
template <term Term>
struct adding {
  float operator()(float x) const { return term_of<Term>(x); }
  float operator()(float sum, float x) const { return sum + term_of<Term>(x); }
};
struct multiplying {
  float operator()(float x) const { return x; }
  float operator()(float product, float x) const { return product * x; }
};
template <bool Most>
struct extending {
  float operator()(float x) const { return x; }
  float operator()(float best, float x) const { return (Most ? x > best : x < best) ? x : best; }
};

/// The fold of each of some rows of two to four: as many rows at once as a vector has.
template <int N, class More>
void fold_short_rows(const float* v, std::int64_t, std::int64_t rows, float* sums) {
#pragma omp simd
  for (std::int64_t r = 0; r < rows; ++r) {
    constexpr More more{};
    float sum = more(v[r * N]);
    for (int k = 1; k < N; ++k)
      sum = more(sum, v[r * N + k]);
    sums[r] = sum;
  }
}

/// The fold of each of some rows of floats.
using float_rows_fold = void (*)(const float*, std::int64_t, std::int64_t, float*);

template <class More>
float_rows_fold short_rows_fold(std::int64_t n) {
  return n == 2   ? fold_short_rows<2, More>
         : n == 3 ? fold_short_rows<3, More>
                  : fold_short_rows<4, More>;
}
inline float_rows_fold short_rows_fold(op::reduction f, std::int64_t n) {
  switch (f) {
  case op::reduction::log_sum_exp:
  case op::reduction::max: return short_rows_fold<extending<true>>(n);
  case op::reduction::min: return short_rows_fold<extending<false>>(n);
  case op::reduction::product: return short_rows_fold<multiplying>(n);
  case op::reduction::l1: return short_rows_fold<adding<term::absolute>>(n);
  case op::reduction::l2:
  case op::reduction::sum_square: return short_rows_fold<adding<term::square>>(n);
  default: return short_rows_fold<adding<term::itself>>(n);
  }
}

/// The fold of each of some rows, `n` long where all are (0: any); log_sum_exp begins with the
/// maximum.
template <class T>
auto rows_fold(op::reduction f, std::int64_t n = 0)
    -> void (*)(const T*, std::int64_t, std::int64_t, T*) {
  if constexpr (std::is_same_v<T, float>)
    if (n >= 2 && n <= 4) return short_rows_fold(f, n);
  switch (f) {
  case op::reduction::log_sum_exp:
  case op::reduction::max: return fold_rows<fold_extreme<true, T>, T>;
  case op::reduction::min: return fold_rows<fold_extreme<false, T>, T>;
  case op::reduction::product: return fold_rows<fold_product<T>, T>;
  case op::reduction::l1: return fold_rows<fold_sum<term::absolute, T>, T>;
  case op::reduction::l2:
  case op::reduction::sum_square: return fold_rows<fold_sum<term::square, T>, T>;
  default: return fold_rows<fold_sum<term::itself, T>, T>;
  }
}

template <term Term, class T>
void add_row(const T* v, T* sums, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    sums[i] += term_of<Term>(v[i]);
}

template <class T>
void multiply_row(const T* v, T* sums, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    sums[i] *= v[i];
}

template <bool Most, class T>
void extend_row(const T* v, T* sums, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const auto wide = v[i];
    sums[i] = (Most ? wide > sums[i] : wide < sums[i]) ? wide : sums[i];
  }
}

/// sums += e^(v - most), column by column.
inline void add_exponentials(const float* v, const float* most, float* sums, std::int64_t n) {
  over_lanes(
      n, [&](std::int64_t i, auto at) __attribute__((always_inline)) {
        at.store(at.load(sums + i) + exponential(at.load(v + i) - at.load(most + i)), sums + i);
      });
}

/// The fold of a row into a row of results; log_sum_exp begins with the maximum.
template <class T>
auto column_fold(op::reduction f) -> void (*)(const T*, T*, std::int64_t) {
  switch (f) {
  case op::reduction::log_sum_exp:
  case op::reduction::max: return extend_row<true, T>;
  case op::reduction::min: return extend_row<false, T>;
  case op::reduction::product: return multiply_row<T>;
  case op::reduction::l1: return add_row<term::absolute, T>;
  case op::reduction::l2:
  case op::reduction::sum_square: return add_row<term::square, T>;
  default: return add_row<term::itself, T>;
  }
}

} // namespace benanza::backend::host::detail
