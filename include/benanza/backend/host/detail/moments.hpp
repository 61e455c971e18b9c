// SPDX-License-Identifier: Apache-2.0
// What are mean and variance of many elements, read once? Those of blocks that stay in the
// first-level cache, each in two passes in f32 of which the second corrects the first, joined in
// double by the formula of Chan, Golub and LeVeque (1979): no difference of large sums, however
// long the row is.
//
//   moments m;   m.add(values, 1024);   m.mean;   m.squares / m.count;
#pragma once

#include "fold.hpp"

namespace benanza::backend::host::detail {

/// Count, mean and squared differences from it, of all that was added.
struct moments {
  double count = 0, mean = 0, squares = 0;

  void add(const float* v, std::int64_t n) {
    const auto more = static_cast<double>(n);
    const float near = fold_sum<term::itself>(v, n) / static_cast<float>(n);
    float differences = 0, around = 0;
#pragma omp simd reduction(+ : differences, around)
    for (std::int64_t i = 0; i < n; ++i) {
      const float apart = v[i] - near;
      differences += apart;
      around += apart * apart;
    }
    const double off = static_cast<double>(differences) / more;
    const double apart = static_cast<double>(near) + off - mean, all = count + more;
    squares += static_cast<double>(around) - off * off * more;
    squares += apart * apart * count * more / all;
    mean += apart * more / all;
    count = all;
  }
  /// Adds the squares alone, as if the mean were zero.
  void add_squares(const float* v, std::int64_t n) {
    squares += static_cast<double>(fold_sum<term::square>(v, n));
    count += static_cast<double>(n);
  }
};

} // namespace benanza::backend::host::detail
