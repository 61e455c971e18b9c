// SPDX-License-Identifier: Apache-2.0
// How do group and instance normalization run? As rows of a group's channels (layer_norm.hpp), with
// one factor and one summand for each channel.
//
//   kernel k = make(op::group_norm{.input = {1, 320, 64, 64}, .groups = 32}, job);
#pragma once

#include "layer_norm.hpp"

namespace benanza::backend::host {

inline detail::kernel make(const op::group_norm& p, const detail::job& j) {
  const std::int64_t channels = p.input[1], in_group = channels / p.groups;
  const std::int64_t inner = elements(p.input, 2, p.input.size);
  const std::int64_t rows = channels == 0 ? 0 : p.input[0] * p.groups;
  return detail::normalize_rows(j, rows, p.row(), true, [=](const detail::row_part& r) {
    const float *scale = r.parameters, *shift = scale + channels;
    const std::int64_t first = r.row * in_group % channels;
    for (std::int64_t done = 0; done < r.length;) {
      const std::int64_t at = r.at + done, c = first + at / inner;
      const std::int64_t n = std::min(r.length - done, inner - at % inner);
      const float *x = r.x + done, factor = r.factor * scale[c], more = shift[c], mean = r.mean;
      float* y = r.y + done;
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i)
        y[i] = (x[i] - mean) * factor + more;
      done += n;
    }
  });
}

inline detail::kernel make(const op::instance_norm& p, const detail::job& j) {
  return make(op::group_norm{.input = p.input, .groups = std::max<std::int64_t>(p.input[1], 1)}, j);
}

} // namespace benanza::backend::host
