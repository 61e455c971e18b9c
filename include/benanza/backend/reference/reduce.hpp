// SPDX-License-Identifier: Apache-2.0
// One output of a reduction (ONNX Reduce*-18), over all elements of the reduced axes, in double.
//
//   value(reduce{.function = reduction::mean, .input = {1, 64, 56, 56}, .axes = {2, 3}}, operands,
//   5)
#pragma once

#include "eltwise.hpp"

#include <cstddef>
#include <limits>

namespace benanza::backend::reference {

/// What an infinity is in a type that has none.
inline double end_of(dtype t, double infinity) {
  if (t == dtype::boolean) return infinity > 0;
  std::byte room[8]{};
  store(t, room, 0, infinity);
  return load(t, room, 0);
}

inline double value(const op::reduce& p, const operands& o, std::int64_t flat) {
  const shape place = place_of(p.output(), flat);
  shape reduced;
  for (std::int64_t axis : p.axes)
    reduced.push(p.input[static_cast<int>(axis)]);
  const std::int64_t count = elements(reduced);
  const bool nothing = count == 0 && whole(p.element);
  const auto each = [&](auto f) {
    for (std::int64_t i = 0; i < count; ++i) {
      const shape inner = place_of(reduced, i);
      shape at = place;
      for (int a = 0; a < reduced.size; ++a)
        at[static_cast<int>(p.axes[a])] = inner[a];
      f(element(o, 0, index_of(p.input, at)));
    }
  };
  constexpr double infinite = std::numeric_limits<double>::infinity();
  using op::reduction;
  double total = 0, ones = 0, squares = 0, most = -infinite, least = infinite, times = 1;
  each([&](double v) {
    total += v;
    ones += std::fabs(v);
    squares += v * v;
    most = std::max(most, v);
    least = std::min(least, v);
    times *= v;
  });
  double out = 0;
  switch (p.function) {
  case reduction::mean: out = total / static_cast<double>(count); break;
  case reduction::sum: return total;
  case reduction::max: return nothing ? end_of(p.element, most) : most;
  case reduction::min: return nothing ? end_of(p.element, least) : least;
  case reduction::product: return times;
  case reduction::l1: return ones;
  case reduction::l2: out = std::sqrt(squares); break;
  case reduction::sum_square: return squares;
  case reduction::log_sum: return std::log(total);
  case reduction::log_sum_exp: {
    if (count == 0) return most;
    double exponentials = 0;
    each([&](double v) { exponentials += std::exp(v - most); });
    return most + std::log(exponentials);
  }
  }
  return whole(p.element) ? std::trunc(out) : out;
}

} // namespace benanza::backend::reference
