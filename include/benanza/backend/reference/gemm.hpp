// SPDX-License-Identifier: Apache-2.0
// One output of a matrix product (ONNX Gemm-13, MatMul-13), summed in double.
//
//   value(gemm{.m = 1, .n = 1000, .k = 2048}, operands, 999)
#pragma once

#include "position.hpp"

namespace benanza::backend::reference {

/// The sum of products at an output, of elements `a(i)` and `b(i)`.
template <class A, class B>
double products(const op::gemm& p, std::int64_t flat, const A& a, const B& b) {
  const std::int64_t i = flat / p.n, j = flat % p.n;
  double sum = 0;
  for (std::int64_t k = 0; k < p.k; ++k)
    sum +=
        a(p.transpose_a ? k * p.m + i : i * p.k + k) * b(p.transpose_b ? j * p.k + k : k * p.n + j);
  return sum;
}

template <class A, class B>
double products(const op::matmul& p, std::int64_t flat, const A& a, const B& b) {
  const shape out = p.output(), place = place_of(out, flat);
  // Stacks broadcast; along k both operands are walked by hand.
  shape stack_a = p.a, stack_b = p.b, stack = place;
  stack_a.size -= 2, stack_b.size -= 2, stack.size -= 2;
  const std::int64_t row = broadcast_index(stack_a, stack) * p.m() + place[out.size - 2];
  const std::int64_t matrix = broadcast_index(stack_b, stack) * p.k();
  double sum = 0;
  for (std::int64_t k = 0; k < p.k(); ++k)
    sum += a(row * p.k() + k) * b((matrix + k) * p.n() + place[out.size - 1]);
  return sum;
}

inline double value(const op::gemm& p, const operands& o, std::int64_t flat) {
  const double sum = products(
      p, flat, [&](std::int64_t i) { return element(o, 0, i); },
      [&](std::int64_t i) { return element(o, 1, i); });
  const double product = o.attributes.alpha * sum;
  if (p.c.empty()) return product;
  return product +
         o.attributes.beta * element(o, 2, broadcast_index(p.c, {flat / p.n, flat % p.n}));
}

inline double value(const op::matmul& p, const operands& o, std::int64_t flat) {
  return products(
      p, flat, [&](std::int64_t i) { return element(o, 0, i); },
      [&](std::int64_t i) { return element(o, 1, i); });
}

} // namespace benanza::backend::reference
