// SPDX-License-Identifier: Apache-2.0
// How are many elements folded into one? Along a row, in the lanes of a vector; or row by row into
// a row of results. One loop for each kind of fold (sum, absolutes, squares, most, least, product)
// and element type, chosen when a layer is prepared.
//
//   rows_fold<float, float>(op::reduction::l1)(values, 49, 2048, sums)
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

template <term Term, class Sum, class T>
inline Sum term_of(T v) {
  const auto wide = static_cast<Sum>(v);
  if constexpr (Term == term::absolute)
    return wide < 0 ? -wide : wide;
  else if constexpr (Term == term::square)
    return wide * wide;
  else
    return wide;
}

template <term Term, class T, class Sum>
Sum fold_sum(const T* v, std::int64_t n) {
  Sum sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i)
    sum += term_of<Term, Sum>(v[i]);
  return sum;
}

template <class T, class Sum>
Sum fold_product(const T* v, std::int64_t n) {
  Sum product = 1;
#pragma omp simd reduction(* : product)
  for (std::int64_t i = 0; i < n; ++i)
    product *= static_cast<Sum>(v[i]);
  return product;
}

template <class T, class Sum>
Sum fold_most(const T* v, std::int64_t n) {
  T most = v[0];
#pragma omp simd reduction(max : most)
  for (std::int64_t i = 0; i < n; ++i)
    most = v[i] > most ? v[i] : most;
  return static_cast<Sum>(most);
}

template <class T, class Sum>
Sum fold_least(const T* v, std::int64_t n) {
  T least = v[0];
#pragma omp simd reduction(min : least)
  for (std::int64_t i = 0; i < n; ++i)
    least = v[i] < least ? v[i] : least;
  return static_cast<Sum>(least);
}

/// The sum of e^(v - most).
inline float fold_exponentials(const float* v, std::int64_t n, float most) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i)
    sum += exponential(v[i] - most);
  return sum;
}

template <auto Fold, class T, class Sum>
void fold_rows(const T* v, std::int64_t n, std::int64_t rows, Sum* sums) {
  for (std::int64_t r = 0; r < rows; ++r)
    sums[r] = Fold(v + r * n, n);
}

/// The fold of each of some rows; log_sum_exp begins with the maximum.
template <class T, class Sum>
auto rows_fold(op::reduction f) -> void (*)(const T*, std::int64_t, std::int64_t, Sum*) {
  switch (f) {
  case op::reduction::log_sum_exp:
  case op::reduction::max: return fold_rows<fold_most<T, Sum>, T, Sum>;
  case op::reduction::min: return fold_rows<fold_least<T, Sum>, T, Sum>;
  case op::reduction::product: return fold_rows<fold_product<T, Sum>, T, Sum>;
  case op::reduction::l1: return fold_rows<fold_sum<term::absolute, T, Sum>, T, Sum>;
  case op::reduction::l2:
  case op::reduction::sum_square: return fold_rows<fold_sum<term::square, T, Sum>, T, Sum>;
  default: return fold_rows<fold_sum<term::itself, T, Sum>, T, Sum>;
  }
}

template <term Term, class T, class Sum>
void add_row(const T* v, Sum* sums, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    sums[i] += term_of<Term, Sum>(v[i]);
}

template <class T, class Sum>
void multiply_row(const T* v, Sum* sums, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    sums[i] *= static_cast<Sum>(v[i]);
}

template <bool Most, class T, class Sum>
void extend_row(const T* v, Sum* sums, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const auto wide = static_cast<Sum>(v[i]);
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
template <class T, class Sum>
auto column_fold(op::reduction f) -> void (*)(const T*, Sum*, std::int64_t) {
  switch (f) {
  case op::reduction::log_sum_exp:
  case op::reduction::max: return extend_row<true, T, Sum>;
  case op::reduction::min: return extend_row<false, T, Sum>;
  case op::reduction::product: return multiply_row<T, Sum>;
  case op::reduction::l1: return add_row<term::absolute, T, Sum>;
  case op::reduction::l2:
  case op::reduction::sum_square: return add_row<term::square, T, Sum>;
  default: return add_row<term::itself, T, Sum>;
  }
}

} // namespace benanza::backend::host::detail
