// SPDX-License-Identifier: Apache-2.0
// How does global pooling run? As the reduction over all spatial dims that it is. Windows are left
// to libraries that have them, but for maxima whose places are wanted too: row by row of the
// result, tap by tap, the best so far in a small buffer.
//
//   kernel k = make(op::pool{.function = op::pooling::global_average, .input = {1, 2048, 7, 7}},
//   job);
#pragma once

#include "../../op/pool.hpp"
#include "reduce.hpp"

#include <array>

namespace benanza::backend::host {

/// True where there is a kernel: global pooling of f32, bf16 and codes, and maxima with their
/// places.
inline bool runs(const op::pool& p, dtype element) {
  if (p.indices != op::pool_index::none)
    return (element == dtype::f32 || element == dtype::bf16) &&
           elements(p.input, 2, p.input.size) < std::int64_t{1} << 31;
  return p.global() && detail::computes_in_f32(element);
}

namespace detail {

/// One spatial dim of a pooling; dims that are not there have one of everything.
struct pooled_dim {
  std::int64_t input = 1, output = 1, kernel = 1, stride = 1, dilation = 1, begin = 0;

  /// Where tap `k` of output `o` reads; may lie outside.
  std::int64_t at(std::int64_t o, std::int64_t k) const {
    return o * stride - begin + k * dilation;
  }
};
using pooled_dims = std::array<pooled_dim, 3>;

inline pooled_dims pooled_dims_of(const op::pool& p) {
  pooled_dims out;
  const shape result = p.output();
  const int n = p.kernel.size;
  for (int i = 0; i < n; ++i)
    out[static_cast<std::size_t>(3 - n + i)] = {p.input[i + 2],
                                                result[i + 2],
                                                p.kernel[i],
                                                op::entry(p.strides, i, 1),
                                                op::entry(p.dilations, i, 1),
                                                op::entry(p.pads, i, 0)};
  return out;
}

/// Compares `n` outputs of a row with one tap each, `stride` apart, the first at `place`.
template <class Load>
[[gnu::always_inline]] inline void keep_larger(const Load& load, std::int64_t stride,
                                               std::int32_t place, float* most, std::int32_t* where,
                                               std::int64_t n) {
  const auto step = static_cast<std::int32_t>(stride);
#pragma omp simd
  for (std::int64_t x = 0; x < n; ++x) {
    const float v = load(x * stride);
    const bool more = v > most[x];
    most[x] = more ? v : most[x];
    where[x] = more ? place + static_cast<std::int32_t>(x) * step : where[x];
  }
}

/// The row of maxima at depth `z`, height `y` of one plane, `T` its storage.
template <class T>
void pool_row(const pooled_dims& d, const T* plane, std::int64_t z, std::int64_t y, float* most,
              std::int32_t* where) {
  const auto& w = d[2];
  std::fill_n(most, w.output, -std::numeric_limits<float>::infinity());
  std::fill_n(where, w.output, 0);
  for (std::int64_t kz = 0; kz < d[0].kernel; ++kz)
    for (std::int64_t ky = 0; ky < d[1].kernel; ++ky) {
      const std::int64_t iz = d[0].at(z, kz), iy = d[1].at(y, ky);
      if (iz < 0 || iz >= d[0].input || iy < 0 || iy >= d[1].input) continue;
      const std::int64_t line = (iz * d[1].input + iy) * w.input;
      for (std::int64_t kx = 0; kx < w.kernel; ++kx) {
        const std::int64_t offset = w.at(0, kx); // of output 0
        const std::int64_t low = offset < 0 ? (-offset + w.stride - 1) / w.stride : 0;
        const std::int64_t last = w.input - 1 - offset;
        const std::int64_t high = last < 0 ? 0 : std::min(w.output, last / w.stride + 1);
        if (low >= high) continue;
        const std::int64_t at = line + offset + low * w.stride;
        const T* from = plane + at;
        const auto load = [from](std::int64_t i) {
          if constexpr (std::is_same_v<T, float>)
            return from[i];
          else
            return from_bf16(from[i]);
        };
        const auto place = static_cast<std::int32_t>(at);
        if (w.stride == 1) // loads of neighbours
          keep_larger(load, 1, place, most + low, where + low, high - low);
        else
          keep_larger(load, w.stride, place, most + low, where + low, high - low);
      }
    }
}

/// Maxima of windows, and where in the whole input they stand.
template <class T>
kernel pool_with_places(const op::pool& p, const job& j) {
  const pooled_dims d = pooled_dims_of(p);
  const std::int64_t planes = p.input[0] * p.input[1];
  const std::int64_t plane = elements(p.input, 2, p.input.size);
  const std::int64_t lines = d[0].output * d[1].output, width = d[2].output;
  const bool by_column = p.indices == op::pool_index::column_major;
  const int threads = team_for(j.threads, (planes * plane + 3 * planes * lines * width) * 4);
  const std::int64_t line_length = (width + 15) / 16 * 16;
  return {"windows",
          [=, from = reinterpret_cast<const T*>(j.inputs[0]), to = reinterpret_cast<T*>(j.output),
           places = reinterpret_cast<std::int64_t*>(j.result_at(1)),
           room = scratch(threads, 2 * line_length)] {
            if (width == 0) return;
            share(threads, planes * lines, 1, [&](std::int64_t begin, std::int64_t end) {
              float* most = room.mine();
              auto* where = reinterpret_cast<std::int32_t*>(most + line_length);
              for (std::int64_t row = begin; row < end; ++row) {
                const std::int64_t of = row / lines, line = row % lines;
                pool_row(d, from + of * plane, line / d[1].output, line % d[1].output, most, where);
                T* values = to + row * width;
                std::int64_t* at = places + row * width;
                for (std::int64_t x = 0; x < width; ++x) {
                  const float v = most[x];
                  if constexpr (std::is_same_v<T, float>)
                    values[x] = v;
                  else
                    values[x] = computed_bf16(v);
                  at[x] = of * plane + where[x];
                }
                for (std::int64_t x = 0; by_column && x < width; ++x) {
                  const std::int64_t w = where[x];
                  const std::int64_t h = w / d[2].input;
                  at[x] = of * plane + h / d[1].input +
                          d[0].input * (h % d[1].input + d[1].input * (w % d[2].input));
                }
              }
            });
          }};
}
} // namespace detail

inline detail::kernel make(const op::pool& p, const detail::job& j) {
  if (p.indices != op::pool_index::none)
    return j.element == dtype::f32 ? detail::pool_with_places<float>(p, j)
                                   : detail::pool_with_places<std::uint16_t>(p, j);
  op::reduce r{.function = p.maximum() ? op::reduction::max : op::reduction::mean,
               .input = p.input};
  for (int i = 2; i < p.input.size; ++i)
    r.axes.push(i);
  return make(r, j);
}

} // namespace benanza::backend::host
