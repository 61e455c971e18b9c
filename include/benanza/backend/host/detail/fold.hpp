// SPDX-License-Identifier: Apache-2.0
// How are many elements folded into one? Along a row, in the lanes of a vector; or row by row into
// a row of results. One loop for each kind of fold (sum, absolutes, squares, most, least, product)
// and element type, chosen when a layer is prepared.
//
//   rows_fold<float>(op::reduction::l1)(values, 49, 2048, sums)
#pragma once

#include "../../operands.hpp"
#include "approx.hpp"

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

template <term Term, class T>
T fold_sum(const T* v, std::int64_t n) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i)
    sum += term_of<Term>(v[i]);
  return sum;
}

template <class T>
T fold_product(const T* v, std::int64_t n) {
  T product = 1;
#pragma omp simd reduction(* : product)
  for (std::int64_t i = 0; i < n; ++i)
    product *= v[i];
  return product;
}

/// The most or the least of a row. In lanes by hand: no compiler may reorder comparisons of floats.
template <bool Most, class T>
T fold_extreme(const T* v, std::int64_t n) {
  constexpr std::int64_t lanes = 32;
  const auto better = [](T a, T b) { return (Most ? a > b : a < b) ? a : b; };
  T best = v[0];
  std::int64_t i = 0;
  if (n >= lanes) {
    T held[lanes];
    std::copy_n(v, lanes, held);
    for (i = lanes; i + lanes <= n; i += lanes) {
#pragma omp simd
      for (std::int64_t k = 0; k < lanes; ++k)
        held[k] = better(v[i + k], held[k]);
    }
    for (T h : held)
      best = better(h, best);
  }
  for (; i < n; ++i)
    best = better(v[i], best);
  return best;
}

/// The sum of e^(v - most).
inline float fold_exponentials(const float* v, std::int64_t n, float most) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i)
    sum += exponential(v[i] - most);
  return sum;
}

template <auto Fold, class T>
void fold_rows(const T* v, std::int64_t n, std::int64_t rows, T* sums) {
  for (std::int64_t r = 0; r < rows; ++r)
    sums[r] = Fold(v + r * n, n);
}

/// The fold of each of some rows; log_sum_exp begins with the maximum.
template <class T>
auto rows_fold(op::reduction f) -> void (*)(const T*, std::int64_t, std::int64_t, T*) {
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
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    sums[i] += exponential(v[i] - most[i]);
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
