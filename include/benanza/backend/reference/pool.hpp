// SPDX-License-Identifier: Apache-2.0
// One output of a pooling layer (ONNX MaxPool-12, AveragePool-19, LpPool-18, the global ones). An
// average
// divides by the taps inside the input or, with `include_pad`, inside the padded input: taps that
// `ceil` lets hang over the end padding never count.
//
// Behind the maxima come their places, of equal ones the first.
//
//   value(pool{.function = pooling::average, ...}, operands, 0)
#pragma once

#include "position.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace benanza::backend::reference {

inline double value(const op::pool& p, const operands& o, std::int64_t flat) {
  extents kernel = p.kernel;
  if (p.global()) {
    kernel = {};
    for (int i = 2; i < p.input.size; ++i)
      kernel.push(p.input[i]);
  }
  const shape out = p.output();
  const bool place_wanted = flat >= elements(out);
  if (place_wanted) flat -= elements(out);
  const window w(p, kernel, out);
  const std::int64_t spatial = elements(out, 2, out.size), at = flat % spatial;
  const std::int64_t base = flat / spatial * elements(p.input, 2, p.input.size);
  const std::int64_t place[3] = {at / (w.output[1] * w.output[2]), at / w.output[2] % w.output[1],
                                 at % w.output[2]};
  double sum = 0, most = -std::numeric_limits<double>::infinity();
  std::int64_t counted = 0, where = 0;
  for (std::int64_t tap = 0; tap < w.taps(); ++tap) {
    const std::int64_t k[3] = {tap / (w.kernel[1] * w.kernel[2]), tap / w.kernel[2] % w.kernel[1],
                               tap % w.kernel[2]};
    std::int64_t x = 0;
    bool inside = true, padded = true;
    for (int d = 0; d < 3; ++d) {
      const std::int64_t i = place[d] * w.stride[d] - w.begin[d] + k[d] * w.dilation[d];
      inside = inside && i >= 0 && i < w.input[d];
      padded = padded && i < w.input[d] + w.end[d];
      x = x * w.input[d] + i;
    }
    counted += p.include_pad ? padded : inside;
    if (!inside) continue;
    const double v = element(o, 0, base + x);
    sum += p.norm() ? std::pow(std::fabs(v), static_cast<double>(p.power)) : v;
    if (v > most) most = v, where = x;
  }
  if (place_wanted) {
    if (p.indices == op::pool_index::column_major)
      where = (where / (w.input[2] * w.input[1])) +
              w.input[0] * (where / w.input[2] % w.input[1] + w.input[1] * (where % w.input[2]));
    return static_cast<double>(base + where);
  }
  if (p.maximum()) return most;
  if (p.norm()) return std::pow(sum, 1 / static_cast<double>(p.power));
  return counted > 0 ? sum / static_cast<double>(counted) : 0;
}

} // namespace benanza::backend::reference
