// SPDX-License-Identifier: Apache-2.0
// Which elements does each window of a pooling cover? Worked out once, dim by dim.
//
//   window_plan plan(p);   plan.height[y].first   // the first line of window y that is inside
#pragma once

#include "../../../op/pool.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace benanza::backend::host::detail {

/// One spatial dim of a pooling; dims that are not there have one of everything.
struct pooled_dim {
  std::int64_t input = 1, output = 1, kernel = 1, stride = 1, dilation = 1, begin = 0, end = 0;

  /// Where tap `k` of output `o` reads; may be outside.
  std::int64_t at(std::int64_t o, std::int64_t k) const {
    return o * stride - begin + k * dilation;
  }
};
using pooled_dims = std::array<pooled_dim, 3>;

inline pooled_dims pooled_dims_of(const op::pool& p) {
  pooled_dims out;
  const shape result = p.output();
  const int n = p.input.size - 2;
  for (int i = 0; p.global() && i < n; ++i)
    out[static_cast<std::size_t>(3 - n + i)] = {.input = p.input[i + 2], .kernel = p.input[i + 2]};
  for (int i = 0; !p.global() && i < n; ++i)
    out[static_cast<std::size_t>(3 - n + i)] = {p.input[i + 2],
                                                result[i + 2],
                                                p.kernel[i],
                                                op::entry(p.strides, i, 1),
                                                op::entry(p.dilations, i, 1),
                                                op::entry(p.pads, i, 0),
                                                op::entry(p.pads, i + n, 0)};
  return out;
}

/// The taps of an output that are inside: from the first one to before the last one.
struct taps_inside {
  std::int64_t first = 0, end = 0;
};
inline std::vector<taps_inside> all_taps_inside(const pooled_dim& d) {
  std::vector<taps_inside> out;
  for (std::int64_t o = 0; o < d.output; ++o) {
    taps_inside its{d.kernel, 0};
    for (std::int64_t k = 0; k < d.kernel; ++k)
      if (d.at(o, k) >= 0 && d.at(o, k) < d.input) its = {std::min(its.first, k), k + 1};
    out.push_back(its.first < its.end ? its : taps_inside{});
  }
  return out;
}

/// What the rows of a pooling have in common.
struct window_plan {
  pooled_dims d{};
  std::vector<taps_inside> depth{}, height{}; ///< of each output
  std::int64_t planes = 0, plane = 0;         ///< how many, and the elements of one
  std::int64_t whole = 0;                     ///< a row of results, in whole vectors
  /// Padding is in front of a joined line and behind it, as far as vectors of results read.
  std::int64_t line_length = 0;

  explicit window_plan(const op::pool& p)
      : d(pooled_dims_of(p))
      , depth(all_taps_inside(d[0]))
      , height(all_taps_inside(d[1]))
      , planes(p.input[0] * p.input[1])
      , plane(elements(p.input, 2, p.input.size))
      , whole((d[2].output + 15) / 16 * 16) {
    const pooled_dim& w = d[2];
    const std::int64_t read = (whole - 1) * w.stride + (w.kernel - 1) * w.dilation + 1;
    line_length = (std::max(w.begin + w.input, read) + 15) / 16 * 16;
  }
  std::int64_t rows() const { return planes * d[0].output * d[1].output; }
};

} // namespace benanza::backend::host::detail
