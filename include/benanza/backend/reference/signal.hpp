// SPDX-License-Identifier: Apache-2.0
// One output of a Fourier transform (ONNX DFT-20) as its sum says it, and of a determinant
// (Det-11) by elimination with pivots, in double.
//
//   value(dft{.input = {1, 8, 1}, .axis = 1, .length = 8}, operands, 3)
#pragma once

#include "position.hpp"

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace benanza::backend::reference {

inline double value(const op::dft& p, const operands& o, std::int64_t flat) {
  const shape out = p.output();
  shape place = place_of(out, flat);
  const bool imaginary = place.back() == 1;
  const std::int64_t frequency = place[p.axis];
  const std::int64_t there = std::min(p.input[p.axis], p.wanted());
  double sum = 0;
  for (std::int64_t i = 0; i < there; ++i) {
    place[p.axis] = i;
    place[place.size - 1] = 0;
    const std::int64_t at = index_of(p.input, place);
    const double real = element(o, 0, at), other = p.complex_input() ? element(o, 0, at + 1) : 0;
    // The turn is a fraction of the circle, reduced exactly.
    const auto steps = static_cast<double>(i * frequency % p.length);
    const double angle =
        (p.inverse ? 2 : -2) * std::numbers::pi * steps / static_cast<double>(p.length);
    const double c = std::cos(angle), s = std::sin(angle);
    // Of a real signal, those that are left out are the conjugates of those that are there.
    const bool twice = p.real_result() && i > 0 && 2 * i != p.length;
    sum += (twice ? 2 : 1) * (imaginary ? real * s + other * c : real * c - other * s);
  }
  return p.inverse ? sum / static_cast<double>(p.length) : sum;
}

inline double value(const op::det& p, const operands& o, std::int64_t flat) {
  const std::int64_t n = p.side();
  std::vector<double> m;
  for (std::int64_t i = 0; i < n * n; ++i)
    m.push_back(element(o, 0, flat * n * n + i));
  const auto at = [&](std::int64_t row, std::int64_t column) -> double& {
    return m[static_cast<std::size_t>(row * n + column)];
  };
  double product = 1;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t r = k + 1; r < n; ++r)
      if (std::fabs(at(r, k)) > std::fabs(at(pivot, k))) pivot = r;
    if (at(pivot, k) == 0) return 0;
    if (pivot != k) product = -product;
    for (std::int64_t c = k; pivot != k && c < n; ++c)
      std::swap(at(k, c), at(pivot, c));
    product *= at(k, k);
    for (std::int64_t r = k + 1; r < n; ++r) {
      const double share = at(r, k) / at(k, k);
      for (std::int64_t c = k; c < n; ++c)
        at(r, c) -= share * at(k, c);
    }
  }
  return product;
}

} // namespace benanza::backend::reference
