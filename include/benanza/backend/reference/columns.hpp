// SPDX-License-Identifier: Apache-2.0
// One output of a Col2Im (ONNX Col2Im-18) or of a DeformConv-19, and all of a MaxUnpool-11, in
// double.
//
//   value(col2im{.image = {1, 1, 4, 4}, .kernel = {2, 2}}, operands, 3)
#pragma once

#include "position.hpp"

#include <cmath>
#include <vector>

namespace benanza::backend::reference {

/// Sums each tap of each window that is on the element.
inline double value(const op::col2im& p, const operands& o, std::int64_t flat) {
  const shape place = place_of(p.image, flat);
  const extents blocks = p.blocks();
  std::int64_t windows = 1;
  for (std::int64_t n : blocks)
    windows *= n;
  double sum = 0;
  for (std::int64_t tap = 0; tap < p.taps(); ++tap) {
    std::int64_t rest = tap, window = 0, step = 1;
    bool inside = true;
    for (int d = p.kernel.size; d-- > 0;) {
      const std::int64_t k = rest % p.kernel[d], stride = op::entry(p.strides, d, 1);
      rest /= p.kernel[d];
      const std::int64_t at =
          place[d + 2] + op::entry(p.pads, d, 0) - k * op::entry(p.dilations, d, 1);
      inside = inside && at >= 0 && at % stride == 0 && at / stride < blocks[d];
      window += at / stride * step;
      step *= blocks[d];
    }
    if (inside)
      sum +=
          element(o, 0, ((place[0] * p.image[1] + place[1]) * p.taps() + tap) * windows + window);
  }
  return sum;
}

/// An image at a place between its elements; zeros are around it.
inline double interpolated(const operands& o, std::int64_t image, std::int64_t height,
                           std::int64_t width, double y, double x) {
  const double top = std::floor(y), left = std::floor(x);
  double sum = 0;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k) {
      const double row = top + i, column = left + k;
      if (row < 0 || column < 0 || row >= static_cast<double>(height) ||
          column >= static_cast<double>(width))
        continue;
      sum += (1 - std::fabs(y - row)) * (1 - std::fabs(x - column)) *
             element(o, 0,
                     image + static_cast<std::int64_t>(row) * width +
                         static_cast<std::int64_t>(column));
    }
  return sum;
}

/// Operands: input, weights, offsets, bias (or its place), mask.
inline double value(const op::deform_conv& p, const operands& o, std::int64_t flat) {
  const shape out = p.output(), place = place_of(out, flat);
  const std::int64_t each = p.input[1] / p.groups, taps = p.taps();
  const std::int64_t group = place[1] / (p.outputs / p.groups);
  double sum = p.bias ? element(o, 3, place[1]) : 0;
  for (std::int64_t c = 0; c < each; ++c) {
    const std::int64_t channel = group * each + c;
    const std::int64_t part = channel / (p.input[1] / p.offset_groups);
    const std::int64_t image = (place[0] * p.input[1] + channel) * p.input[2] * p.input[3];
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const std::int64_t which = part * taps + tap;
      const auto moved = [&](int d, std::int64_t k) {
        const std::int64_t at = place[d + 2] * op::entry(p.strides, d, 1) -
                                op::entry(p.pads, d, 0) + k * op::entry(p.dilations, d, 1);
        return static_cast<double>(at) +
               element(o, 2, index_of(p.offsets(), {place[0], 2 * which + d, place[2], place[3]}));
      };
      const double v = interpolated(o, image, p.input[2], p.input[3], moved(0, tap / p.kernel[1]),
                                    moved(1, tap % p.kernel[1]));
      const double weight = element(o, 1, (place[1] * each + c) * taps + tap);
      const double mask =
          p.mask ? element(o, 4, index_of(p.masks(), {place[0], which, place[2], place[3]})) : 1;
      sum += v * weight * mask;
    }
  }
  return sum;
}

/// Where each value of a MaxUnpool went, found once.
class unpooled_values {
public:
  unpooled_values(const op::max_unpool& p, const operands& o)
      : at_(static_cast<std::size_t>(elements(p.result))) {
    for (std::int64_t i = 0; i < elements(p.input); ++i) {
      auto where = static_cast<std::int64_t>(element(o, 1, i));
      if (where < 0) where += elements(p.unpooled);
      at_[static_cast<std::size_t>(index_of(p.result, place_of(p.unpooled, where)))] =
          element(o, 0, i);
    }
  }
  double at(std::int64_t flat) const { return at_[static_cast<std::size_t>(flat)]; }

private:
  std::vector<double> at_;
};

inline unpooled_values lines_of(const op::max_unpool& p, const operands& o) {
  return {p, o};
}

} // namespace benanza::backend::reference
