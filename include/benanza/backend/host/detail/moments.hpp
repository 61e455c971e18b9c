// SPDX-License-Identifier: Apache-2.0
// What are mean and variance of many elements, read once? Those of blocks that stay in the
// first-level cache, each in two passes in f32 of which the second corrects the first, joined in
// double by the formula of Chan, Golub and LeVeque (1979): no difference of large sums, however
// long the row is.
//
//   moments m;   m.add(values, 1024);   m.mean;   m.squares / m.count;
#pragma once

#include "lanes.hpp"

namespace benanza::backend::host::detail {

/// Count, mean and squared differences from it, of all that was added.
struct moments {
  double count = 0, mean = 0, squares = 0;

  void add(const float* v, std::int64_t n) {
    const auto more = static_cast<double>(n);
    const float near = sums<false>(v, n, 0).itself / static_cast<float>(n);
    const auto [differences, around] = sums<true>(v, n, near);
    const double off = static_cast<double>(differences) / more;
    const double apart = static_cast<double>(near) + off - mean, all = count + more;
    squares += static_cast<double>(around) - off * off * more;
    squares += apart * apart * count * more / all;
    mean += apart * more / all;
    count = all;
  }
  /// Adds the squares alone, as if the mean were zero.
  void add_squares(const float* v, std::int64_t n) {
    squares += static_cast<double>(sums<true>(v, n, 0).squared);
    count += static_cast<double>(n);
  }

private:
  struct two_sums {
    float itself, squared;
  };
  /// The sums of `v - from` and, if asked for, of its square.
  template <bool Squared>
  static two_sums sums(const float* v, std::int64_t n, float from) {
    using lanes = float_lanes;
    constexpr std::int64_t step = 4 * lanes::count;
    const lanes::vector less = lanes::all(-from);
    lanes::vector itself[4]{}, squared[4]{};
    const auto take = [&](int k, const float* at) {
      const lanes::vector x = lanes::load(at) + less;
      itself[k] += x;
      if constexpr (Squared) squared[k] = lanes::multiply_add(x, x, squared[k]);
    };
    std::int64_t i = 0;
    for (; i + step <= n; i += step) {
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k)
        take(k, v + i + k * lanes::count);
    }
    for (; i + lanes::count <= n; i += lanes::count)
      take(0, v + i);
    two_sums out{lanes::sum(itself[0] + itself[1] + (itself[2] + itself[3])),
                 Squared ? lanes::sum(squared[0] + squared[1] + (squared[2] + squared[3])) : 0};
    for (; i < n; ++i) {
      const float x = v[i] - from;
      out.itself += x;
      out.squared += x * x;
    }
    return out;
  }
};

} // namespace benanza::backend::host::detail
