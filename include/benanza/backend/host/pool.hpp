// SPDX-License-Identifier: Apache-2.0
// How does global pooling run? As the reduction over all spatial dims that it is. Windows are left
// to libraries that have them, but for what they lack: maxima whose places are wanted too, norms,
// averages that count padding but not what hangs over it. Row by row of the result, tap by tap, the
// best or the sum so far in a small buffer.
//
//   kernel k = make(op::pool{.function = op::pooling::global_average, .input = {1, 2048, 7, 7}},
//   job);
#pragma once

#include "../../op/pool.hpp"
#include "reduce.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace benanza::backend::host {

/// True for an average that counts padding, whose last window hangs over that.
inline bool hangs_over(const op::pool& p) {
  if (p.function != op::pooling::average || !p.include_pad) return false;
  const shape out = p.output();
  for (int i = 0; i < p.kernel.size; ++i) {
    const std::int64_t reached = (out[i + 2] - 1) * op::entry(p.strides, i, 1) +
                                 op::window_span(p.kernel[i], op::entry(p.dilations, i, 1)) -
                                 op::entry(p.pads, i, 0);
    if (reached > p.input[i + 2] + op::entry(p.pads, i + p.kernel.size, 0)) return true;
  }
  return false;
}

/// True where there is a kernel: global pooling of f32, bf16 and codes, and what libraries lack of
/// f32 and bf16.
inline bool runs(const op::pool& p, dtype element) {
  if (p.norm() || hangs_over(p))
    return p.input.size <= 5 && (element == dtype::f32 || element == dtype::bf16);
  if (p.indices != op::pool_index::none)
    return (element == dtype::f32 || element == dtype::bf16) &&
           elements(p.input, 2, p.input.size) < std::int64_t{1} << 31;
  return p.global() && detail::computes_in_f32(element);
}

namespace detail {

/// One spatial dim of a pooling; dims that are not there have one of everything.
struct pooled_dim {
  std::int64_t input = 1, output = 1, kernel = 1, stride = 1, dilation = 1, begin = 0, end = 0;

  /// Where tap `k` of output `o` reads; may lie outside.
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

/// Outputs of a row whose tap `k` lies inside.
inline std::pair<std::int64_t, std::int64_t> reached_by(const pooled_dim& d, std::int64_t k) {
  const std::int64_t offset = d.at(0, k), last = d.input - 1 - offset;
  const std::int64_t low = offset < 0 ? (-offset + d.stride - 1) / d.stride : 0;
  return {low, last < 0 ? 0 : std::min(d.output, last / d.stride + 1)};
}

/// Adds `f` of each element that the windows of a row cover.
template <class T, class Sum, class F>
void sum_row(const pooled_dims& d, const T* plane, std::int64_t z, std::int64_t y, Sum* sums, F f) {
  std::fill_n(sums, d[2].output, Sum{});
  for (std::int64_t kz = 0; kz < d[0].kernel; ++kz)
    for (std::int64_t ky = 0; ky < d[1].kernel; ++ky) {
      const std::int64_t iz = d[0].at(z, kz), iy = d[1].at(y, ky);
      if (iz < 0 || iz >= d[0].input || iy < 0 || iy >= d[1].input) continue;
      const T* line = plane + (iz * d[1].input + iy) * d[2].input;
      for (std::int64_t kx = 0; kx < d[2].kernel; ++kx) {
        const auto reached = reached_by(d[2], kx);
        const std::int64_t low = reached.first, high = reached.second; // as clang captures them
        const T* from = line + d[2].at(0, kx);
        const std::int64_t stride = d[2].stride;
#pragma omp simd
        for (std::int64_t x = low; x < high; ++x) {
          const T v = from[x * stride];
          if constexpr (std::is_same_v<T, float>)
            sums[x] += f(v);
          else
            sums[x] += f(from_bf16(v));
        }
      }
    }
}

/// Taps of output `o` that lie in the padded input: none hangs over.
inline std::int64_t padded_taps(const pooled_dim& d, std::int64_t o) {
  const std::int64_t room = d.input + d.end - 1 - d.at(o, 0);
  return room < 0 ? 0 : std::min(d.kernel, room / d.dilation + 1);
}

/// The norm or average that sums become.
template <class T, class Sum>
void finish_row(const op::pool& p, const pooled_dims& d, std::int64_t z, std::int64_t y,
                const Sum* sums, T* to) {
  const std::int64_t lines = padded_taps(d[0], z) * padded_taps(d[1], y);
  for (std::int64_t x = 0; x < d[2].output; ++x) {
    auto v = static_cast<float>(sums[x]);
    if (!p.norm())
      v /= static_cast<float>(std::max<std::int64_t>(1, lines * padded_taps(d[2], x)));
    else if (p.power == 2)
      v = std::sqrt(v);
    else if (p.power > 2)
      v = static_cast<float>(
          std::pow(static_cast<double>(sums[x]), 1 / static_cast<double>(p.power)));
    if constexpr (std::is_same_v<T, float>)
      to[x] = v;
    else
      to[x] = computed_bf16(v);
  }
}

/// Norms, and averages that count padding. Powers over 2 are summed in double: they are far apart.
template <class T, class Sum, class F>
kernel pool_by_sums(const op::pool& p, const job& j, F f) {
  const pooled_dims d = pooled_dims_of(p);
  const std::int64_t planes = p.input[0] * p.input[1];
  const std::int64_t plane = elements(p.input, 2, p.input.size);
  const std::int64_t lines = d[0].output * d[1].output, width = d[2].output;
  const int threads = team_for(j.threads, (planes * plane + planes * lines * width) * 4);
  return {"windows",
          [=, from = reinterpret_cast<const T*>(j.inputs[0]), to = reinterpret_cast<T*>(j.output),
           room = scratch(threads, width * static_cast<std::int64_t>(sizeof(Sum) / 4))] {
            share(threads, planes * lines, 1, [&](std::int64_t row, std::int64_t end) {
              auto* sums = reinterpret_cast<Sum*>(room.mine());
              for (; row < end; ++row) {
                const std::int64_t z = row % lines / d[1].output, y = row % lines % d[1].output;
                sum_row(d, from + row / lines * plane, z, y, sums, f);
                finish_row(p, d, z, y, sums, to + row * width);
              }
            });
          }};
}

template <class T>
kernel pool_summed(const op::pool& p, const job& j) {
  if (!p.norm()) return pool_by_sums<T, float>(p, j, [](float v) { return v; });
  if (p.power == 1) return pool_by_sums<T, float>(p, j, [](float v) { return std::fabs(v); });
  if (p.power == 2) return pool_by_sums<T, float>(p, j, [](float v) { return v * v; });
  return pool_by_sums<T, double>(p, j, [power = static_cast<double>(p.power)](float v) {
    return std::pow(std::fabs(static_cast<double>(v)), power);
  });
}
} // namespace detail

inline detail::kernel make(const op::pool& p, const detail::job& j) {
  if (p.indices != op::pool_index::none)
    return j.element == dtype::f32 ? detail::pool_with_places<float>(p, j)
                                   : detail::pool_with_places<std::uint16_t>(p, j);
  const bool reduces = p.global() && (!p.norm() || p.power <= 2);
  if (!reduces)
    return j.element == dtype::f32 ? detail::pool_summed<float>(p, j)
                                   : detail::pool_summed<std::uint16_t>(p, j);
  op::reduce r{.function = p.maximum() ? op::reduction::max : op::reduction::mean,
               .input = p.input};
  if (p.norm()) r.function = p.power == 1 ? op::reduction::l1 : op::reduction::l2;
  for (int i = 2; i < p.input.size; ++i)
    r.axes.push(i);
  return make(r, j);
}

} // namespace benanza::backend::host
