// SPDX-License-Identifier: Apache-2.0
// Which layers are sums over one run of dims? Those that a product with ones computes: sums and
// means whose reduced dims are adjacent, and the global average.
//
//   row_sums_of(op::reduce{.input = {32, 49}, .axes = {1}})->factor == 1.0 / 49
#pragma once

#include "../op/pool.hpp"
#include "../op/reduce.hpp"

#include <optional>

namespace benanza::backend {

/// Sums over the middle one of three dims, each times `factor`.
struct row_sums {
  std::int64_t outer = 1, reduced = 1, inner = 1;
  double factor = 1;

  std::int64_t count() const { return outer * reduced * inner; }
};

inline std::optional<row_sums> row_sums_of(const op::reduce& p) {
  using enum op::reduction;
  if ((p.function != sum && p.function != mean) || elements(p.input) == 0) return std::nullopt;
  row_sums s;
  bool begun = false, ended = false;
  for (int i = 0; i < p.input.size; ++i) {
    if (p.input[i] == 1) continue;
    if (p.reduces(i) && ended) return std::nullopt;
    ended = ended || (begun && !p.reduces(i));
    begun = begun || p.reduces(i);
    (p.reduces(i) ? s.reduced : begun ? s.inner : s.outer) *= p.input[i];
  }
  if (!begun) return std::nullopt;
  if (p.function == mean) s.factor = 1 / static_cast<double>(s.reduced);
  return s;
}

inline std::optional<row_sums> row_sums_of(const op::pool& p) {
  if (p.function != op::pooling::global_average || elements(p.input) == 0) return std::nullopt;
  row_sums s{.outer = p.input[0] * p.input[1], .reduced = elements(p.input, 2, p.input.size)};
  s.factor = 1 / static_cast<double>(s.reduced);
  return s;
}

} // namespace benanza::backend
