// SPDX-License-Identifier: Apache-2.0
// Counts of n-grams (ONNX TfIdfVectorizer-9): each n-gram of the pool is looked for at every place
// and with every skip.
//
//   value(tf_idf{.input = {12}, .outputs = 7, ...}, operands, 3)
#pragma once

#include "position.hpp"

#include <algorithm>

namespace benanza::backend::reference {

namespace detail {
/// How often the n-gram at `from` of the pool occurs in a row.
inline std::int64_t occurrences(const op::tf_idf& p, const operands& o, std::int64_t row,
                                std::int64_t from, std::int64_t n) {
  std::int64_t found = 0;
  for (std::int64_t apart = 1; apart <= (n == 1 ? 1 : p.skips + 1); ++apart) {
    if ((n - 1) * apart >= p.length()) break;
    for (std::int64_t at = 0; at + (n - 1) * apart < p.length(); ++at) {
      bool same = true;
      for (std::int64_t i = 0; same && i < n; ++i)
        same = element(o, 0, row * p.length() + at + i * apart) == element(o, 1, from + i);
      found += same;
    }
  }
  return found;
}
} // namespace detail

/// The exact output at a flat index.
inline double value(const op::tf_idf& p, const operands& o, std::int64_t flat) {
  const std::int64_t column = flat % p.outputs, row = flat / p.outputs;
  double sum = 0;
  std::int64_t from = 0, gram = 0;
  for (std::int64_t n = 1; n <= p.pool.size; ++n)
    for (std::int64_t k = 0; k < p.pool[static_cast<int>(n) - 1]; ++k, ++gram, from += n) {
      if (!p.counts(n) || static_cast<std::int64_t>(element(o, 2, gram)) != column) continue;
      const auto found = static_cast<double>(detail::occurrences(p, o, row, from, n));
      sum += p.weigh == op::weighting::tf    ? found
             : p.weigh == op::weighting::idf ? std::min(found, 1.) * element(o, 3, gram)
                                             : found * element(o, 3, gram);
    }
  return sum;
}

} // namespace benanza::backend::reference
