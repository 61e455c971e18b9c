// SPDX-License-Identifier: Apache-2.0
// Maxima of windows of codes of 8 bits, which stay codes: as windows of real numbers (pool.hpp), in
// whole vectors of bytes. Padding is the smallest code, and never the largest of a window.
//
//   kernel k = largest_codes(op::pool{.input = {1, 64, 112, 112}, .kernel = {3, 3}, .element =
//   dtype::u8}, job);
#pragma once

#include "detail/job.hpp"
#include "detail/memory.hpp"
#include "detail/pool_plan.hpp"
#include "detail/share.hpp"

#include <algorithm>
#include <limits>
#include <memory>

namespace benanza::backend::host::detail {

/// The largest code of each window along one line. `Taps` and `Stride` that are the usual ones have
/// code of their own.
template <int Taps = 0, int Stride = 0, class T>
void largest_taps(const pooled_dim& w, const T* line, T* out) {
  if constexpr (Taps > 0) {
#pragma omp simd
    for (std::int64_t x = 0; x < w.output; ++x) {
      T v = line[x * Stride];
      for (int k = 1; k < Taps; ++k)
        v = std::max(v, line[x * Stride + k]);
      out[x] = v;
    }
  } else {
    for (std::int64_t k = 0; k < w.kernel; ++k) {
      const T* from = line + k * w.dilation;
#pragma omp simd
      for (std::int64_t x = 0; x < w.output; ++x)
        out[x] = k == 0 ? from[x * w.stride] : std::max(out[x], from[x * w.stride]);
    }
  }
}

/// A row of results at depth `z`, height `y` of one plane. `line` has the smallest code in front of
/// its elements and behind them.
template <class T>
void row_of_largest(const window_plan& p, const T* plane, std::int64_t z, std::int64_t y, T* line,
                    T* out) {
  const pooled_dims& d = p.d;
  const taps_inside kz = p.depth[static_cast<std::size_t>(z)],
                    ky = p.height[static_cast<std::size_t>(y)];
  const std::int64_t n = d[2].input;
  T* const to = line + d[2].begin;
  bool first = true;
  for (std::int64_t a = kz.first; a < kz.end; ++a)
    for (std::int64_t b = ky.first; b < ky.end; ++b) {
      const T* from = plane + (d[0].at(z, a) * d[1].input + d[1].at(y, b)) * n;
      if (first) {
        std::copy_n(from, n, to);
        first = false;
        continue;
      }
#pragma omp simd
      for (std::int64_t x = 0; x < n; ++x)
        to[x] = std::max(to[x], from[x]);
    }
  const pooled_dim& w = d[2];
  if (w.dilation == 1 && w.kernel == 3 && w.stride == 2)
    largest_taps<3, 2>(w, line, out);
  else if (w.dilation == 1 && w.kernel == 3 && w.stride == 1)
    largest_taps<3, 1>(w, line, out);
  else if (w.dilation == 1 && w.kernel == 2 && w.stride == 2)
    largest_taps<2, 2>(w, line, out);
  else
    largest_taps(w, line, out);
}

template <class T>
kernel largest_of(const op::pool& p, const job& j) {
  const auto plan = std::make_shared<const window_plan>(p);
  const int threads = team_for(j.threads, elements(p.input) + elements(p.output()));
  const scratch room(threads, (plan->line_length + 3) / 4);
  return {"windows",
          [=, from = reinterpret_cast<const T*>(j.inputs[0]), to = reinterpret_cast<T*>(j.output)] {
            const std::int64_t depth = plan->d[0].output, height = plan->d[1].output,
                               width = plan->d[2].output;
            share(threads, plan->rows(), 1, [&](std::int64_t row, std::int64_t end) {
              T* line = reinterpret_cast<T*>(room.mine());
              std::fill_n(line, plan->line_length, std::numeric_limits<T>::lowest());
              for (; row < end; ++row)
                row_of_largest(*plan, from + row / height / depth * plan->plane,
                               row / height % depth, row % height, line, to + row * width);
            });
          }};
}

inline kernel largest_codes(const op::pool& p, const job& j) {
  return p.element == dtype::s8 ? largest_of<std::int8_t>(p, j) : largest_of<std::uint8_t>(p, j);
}

} // namespace benanza::backend::host::detail
