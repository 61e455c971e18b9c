// SPDX-License-Identifier: Apache-2.0
// One output of a normalization (ONNX BatchNormalization-15 at inference, LRN-13).
//
//   value(lrn{.input = {1, 96, 55, 55}, .size = 5}, operands, 12)
#pragma once

#include "position.hpp"

#include <algorithm>
#include <cmath>

namespace benanza::backend::reference {

inline double value(const op::batch_norm& p, const operands& o, std::int64_t flat) {
  const std::int64_t c = flat / elements(p.input, 2, p.input.size) % p.input[1];
  return element(o, 1, c) * (element(o, 0, flat) - element(o, 3, c)) /
             std::sqrt(element(o, 4, c) + o.attributes.epsilon) +
         element(o, 2, c);
}

inline double value(const op::lrn& p, const operands& o, std::int64_t flat) {
  const std::int64_t inner = elements(p.input, 2, p.input.size), c = flat / inner % p.input[1];
  const std::int64_t first = std::max<std::int64_t>(0, c - (p.size - 1) / 2);
  const std::int64_t last = std::min(p.input[1] - 1, c + p.size / 2);
  double squares = 0;
  for (std::int64_t i = first; i <= last; ++i) {
    const double v = element(o, 0, flat + (i - c) * inner);
    squares += v * v;
  }
  const double scale =
      o.attributes.lrn_bias + o.attributes.lrn_alpha / static_cast<double>(p.size) * squares;
  return element(o, 0, flat) / std::pow(scale, o.attributes.lrn_beta);
}

} // namespace benanza::backend::reference
