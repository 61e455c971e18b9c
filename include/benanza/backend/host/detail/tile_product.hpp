// SPDX-License-Identifier: Apache-2.0
// How is a product of 16 x 16 matrices computed by vectors? Eight rows at a time, whose sums stay
// in registers; rows are vectors of 16 floats, which the compiler cuts where the processor's are
// shorter.
//
//   tiles::scan256<vector_products>(x);
#pragma once

#include "../../tile_sums.hpp"

#include <cstring>

namespace benanza::backend::host::detail {

struct vector_products {
  typedef float row __attribute__((vector_size(64)));

  /// c += a b
  [[gnu::always_inline]] static inline void add(const tiles::tile& a, const tiles::tile& b,
                                                tiles::tile& c) {
    static constexpr int rows = 8;
    for (int from = 0; from < tiles::side; from += rows) {
      row sums[rows];
      std::memcpy(sums, c.at[from], sizeof sums);
      for (int k = 0; k < tiles::side; ++k) {
        row right;
        std::memcpy(&right, b.at[k], sizeof right);
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r)
          sums[r] += a.at[from + r][k] * right;
      }
      std::memcpy(c.at[from], sums, sizeof sums);
    }
  }
};

} // namespace benanza::backend::host::detail
