// SPDX-License-Identifier: Apache-2.0
// How does pooling run? Over whole planes as the reduction that it is. Windows in two steps: the
// lines that a row of results reaches are joined into one, which takes no strides and reads each
// line once a tap of height, and then that one is joined tap by tap. Maxima whose places are wanted
// too go tap by tap alone.
//
//   kernel k = make(op::pool{.function = op::pooling::global_average, .input = {1, 2048, 7, 7}},
//   job);
#pragma once

#include "detail/convert.hpp"
#include "detail/lanes.hpp"
#include "detail/pool_plan.hpp"
#include "pool_codes.hpp"
#include "reduce.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace benanza::backend::host {

/// True where there is a kernel: windows of f32 and bf16, global pooling of codes too; maxima of
/// codes that stay codes.
inline bool runs(const op::pool& p, dtype element) {
  if (p.element != dtype::real) return true;
  if (p.global() && !p.norm()) return detail::computes_in_f32(element);
  return p.input.size <= 5 && (element == dtype::f32 || element == dtype::bf16) &&
         (p.indices == op::pool_index::none || elements(p.input, 2, p.input.size) < std::int64_t{1}
                                                                                        << 31);
}

namespace detail {

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

/// Maxima of windows, and where in the whole input they are.
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

/// A row of results, joined tap by tap from the joined lines. `Taps` and `Stride` that are the
/// usual ones have code of their own.
template <int Taps = 0, int Stride = 0, class V, class Join>
[[gnu::always_inline]] inline void join_taps(const pooled_dim& w, const V* line, V* out,
                                             std::int64_t n, Join join) {
  if constexpr (Taps > 0) {
#pragma omp simd
    for (std::int64_t x = 0; x < n; ++x) {
      V v = line[x * Stride];
      for (int k = 1; k < Taps; ++k)
        v = join(v, line[x * Stride + k]);
      out[x] = v;
    }
  } else {
    for (std::int64_t k = 0; k < w.kernel; ++k) {
      const V* from = line + k * w.dilation;
#pragma omp simd
      for (std::int64_t x = 0; x < n; ++x)
        out[x] = k == 0 ? from[x * w.stride] : join(out[x], from[x * w.stride]);
    }
  }
}

/// How a loop over doubles reaches its memory.
struct one_element {
  static constexpr std::int64_t count = 1;
  float load(const float* from) const { return *from; }
  void store(double v, double* to) const { *to = v; }
  double all(double v) const { return v; }
};

/// Elements of `T` as floats.
template <class At>
[[gnu::always_inline]] inline auto floats_at(const At& at, const float* from) {
  return at.load(from);
}
template <class At>
[[gnu::always_inline]] inline auto floats_at(const At& at, const std::uint16_t* from) {
  if constexpr (std::is_same_v<At, one_element>) {
    return from_bf16(*from);
  } else {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    const auto some = static_cast<__mmask16>(0xffff >> (16 - at.count));
    return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(
        0xffff, _mm512_maskz_cvtepu16_epi32(0xffff, _mm256_maskz_loadu_epi16(some, from)), 16));
#else
    typedef std::uint16_t halves __attribute__((vector_size(float_lanes::bytes / 2)));
    halves v{};
    std::memcpy(&v, from, static_cast<std::size_t>(at.count) * 2);
    typedef std::uint32_t words __attribute__((vector_size(float_lanes::bytes)));
    return std::bit_cast<float_vector>(__builtin_convertvector(v, words) << 16);
#endif
  }
}

/// Calls `body(x, at)` for each vector of a line of `V`.
template <class V, class Body>
[[gnu::always_inline]] inline void over_line(std::int64_t n, const Body& body) {
  if constexpr (std::is_same_v<V, float>)
    over_lanes(n, body);
  else
    for (std::int64_t x = 0; x < n; ++x)
      body(x, one_element{});
}

/// The lines that a row of windows reaches, joined into one of `f` of their elements.
template <int Lines = 0, class T, class V, class F, class Join>
[[gnu::always_inline]] inline void
join_lines(const T* first, std::int64_t planes, std::int64_t next_plane, std::int64_t lines,
           std::int64_t next_line, std::int64_t n, V none, F f, Join join, V* line) {
  over_line<V>(n, [&](std::int64_t x, auto at) {
    if constexpr (Lines > 0) {
      auto v = f(floats_at(at, first + x));
      for (int k = 1; k < Lines; ++k)
        v = join(v, f(floats_at(at, first + x + k * next_line)));
      at.store(v, line + x);
    } else {
      auto v = at.all(none);
      for (std::int64_t kz = 0; kz < planes; ++kz)
        for (std::int64_t ky = 0; ky < lines; ++ky)
          v = join(v, f(floats_at(at, first + x + kz * next_plane + ky * next_line)));
      at.store(v, line + x);
    }
  });
}

/// A row of results of windows of a plane.
template <class T, class V, class F, class Join>
void window_row(const window_plan& p, const T* plane, std::int64_t z, std::int64_t y, V none, F f,
                Join join, V* line, V* out) {
  const pooled_dims& d = p.d;
  const taps_inside kz = p.depth[static_cast<std::size_t>(z)],
                    ky = p.height[static_cast<std::size_t>(y)];
  const std::int64_t n = d[2].input, next_plane = d[0].dilation * d[1].input * n,
                     next_line = d[1].dilation * n;
  const T* const first = plane + (d[0].at(z, kz.first) * d[1].input + d[1].at(y, ky.first)) * n;
  const std::int64_t planes = kz.end - kz.first, lines = ky.end - ky.first;
  V* const to = line + d[2].begin;
  if (planes == 1 && lines == 3)
    join_lines<3>(first, 1, 0, 3, next_line, n, none, f, join, to);
  else if (planes == 1 && lines == 2)
    join_lines<2>(first, 1, 0, 2, next_line, n, none, f, join, to);
  else
    join_lines(first, planes, next_plane, lines, next_line, n, none, f, join, to);
  if (d[2].dilation == 1 && d[2].kernel == 3 && d[2].stride == 2)
    join_taps<3, 2>(d[2], line, out, p.whole, join);
  else if (d[2].dilation == 1 && d[2].kernel == 3 && d[2].stride == 1)
    join_taps<3, 1>(d[2], line, out, p.whole, join);
  else if (d[2].kernel == 2 && d[2].stride == 2 && d[2].dilation == 1)
    join_taps<2, 2>(d[2], line, out, p.whole, join);
  else
    join_taps(d[2], line, out, p.whole, join);
}

/// How many taps of each output count in an average: those inside, or those in the padded input;
/// none that hangs over that does.
inline std::vector<float> counted_taps(const pooled_dim& d, bool include_pad) {
  std::vector<float> out;
  for (std::int64_t o = 0; o < d.output; ++o) {
    std::int64_t n = 0;
    for (std::int64_t k = 0; k < d.kernel; ++k) {
      const std::int64_t at = d.at(o, k);
      n += include_pad ? at < d.input + d.end : at >= 0 && at < d.input;
    }
    out.push_back(static_cast<float>(n));
  }
  return out;
}

/// Windows whose results are `finish` of what their elements were joined to. `V` is what they are
/// joined in.
template <class T, class V, class F, class Join, class Finish>
kernel pool_windows(const op::pool& p, const job& j, V none, F f, Join join, Finish finish) {
  const auto plan = std::make_shared<const window_plan>(p);
  const int threads = team_for(j.threads, (elements(p.input) + elements(p.output())) * 4);
  const scratch room(threads,
                     (plan->line_length + plan->whole) * static_cast<std::int64_t>(sizeof(V) / 4));
  return {"windows",
          [=, from = reinterpret_cast<const T*>(j.inputs[0]), to = reinterpret_cast<T*>(j.output)] {
            const std::int64_t depth = plan->d[0].output, height = plan->d[1].output,
                               width = plan->d[2].output;
            share(threads, plan->rows(), 1, [&](std::int64_t row, std::int64_t end) {
              auto* line = reinterpret_cast<V*>(room.mine());
              V* out = line + plan->line_length;
              std::fill_n(line, plan->line_length, none);
              std::int64_t y = row % height, z = row / height % depth;
              const T* plane = from + row / height / depth * plan->plane;
              for (; row < end; ++row) {
                window_row(*plan, plane, z, y, none, f, join, line, out);
                T* values = to + row * width;
                for (std::int64_t x = 0; x < width; ++x)
                  if constexpr (std::is_same_v<T, float>)
                    values[x] = finish(out[x], z, y, x);
                  else
                    values[x] = computed_bf16(finish(out[x], z, y, x));
                if (++y < height) continue;
                y = 0;
                if (++z == depth) z = 0, plane += plan->plane;
              }
            });
          }};
}

/// Windows in `T`. Powers over 2 are summed in double: they are far apart.
template <class T>
kernel pool_of(const op::pool& p, const job& j) {
  const auto same = [](auto v) { return v; };
  const auto plus = [](auto a, auto b) { return a + b; };
  const auto as_is = [](float v, std::int64_t, std::int64_t, std::int64_t) { return v; };
  if (p.maximum())
    return pool_windows<T>(
        p, j, -std::numeric_limits<float>::infinity(), same,
        [](auto a, auto b) { return larger(b, a); }, as_is);
  if (p.norm() && p.power == 1)
    return pool_windows<T>(
        p, j, 0.f, [](auto v) { return v < 0 ? -v : v; }, plus, as_is);
  if (p.norm() && p.power == 2)
    return pool_windows<T>(
        p, j, 0.f, [](auto v) { return v * v; }, plus,
        [](float v, std::int64_t, std::int64_t, std::int64_t) { return std::sqrt(v); });
  if (p.norm())
    return pool_windows<T>(
        p, j, 0.0,
        [power = static_cast<double>(p.power)](float v) {
          return std::pow(std::fabs(static_cast<double>(v)), power);
        },
        plus,
        [root = 1 / static_cast<double>(p.power)](double v, std::int64_t, std::int64_t,
                                                  std::int64_t) {
          return static_cast<float>(std::pow(v, root));
        });
  const pooled_dims d = pooled_dims_of(p);
  std::array<std::vector<float>, 3> taps;
  for (std::size_t i = 0; i < 3; ++i)
    taps[i] = counted_taps(d[i], p.include_pad);
  return pool_windows<T>(
      p, j, 0.f, same, plus, [taps](float v, std::int64_t z, std::int64_t y, std::int64_t x) {
        const float n = taps[0][static_cast<std::size_t>(z)] *
                        taps[1][static_cast<std::size_t>(y)] * taps[2][static_cast<std::size_t>(x)];
        return v / std::max(1.f, n);
      });
}
} // namespace detail

inline detail::kernel make(const op::pool& p, const detail::job& j) {
  if (p.element != dtype::real) return detail::largest_codes(p, j);
  if (p.indices != op::pool_index::none)
    return j.element == dtype::f32 ? detail::pool_with_places<float>(p, j)
                                   : detail::pool_with_places<std::uint16_t>(p, j);
  if (!p.global() || (p.norm() && p.power > 2))
    return j.element == dtype::f32 ? detail::pool_of<float>(p, j)
                                   : detail::pool_of<std::uint16_t>(p, j);
  op::reduce r{.function = p.maximum() ? op::reduction::max : op::reduction::mean,
               .input = p.input};
  if (p.norm()) r.function = p.power == 1 ? op::reduction::l1 : op::reduction::l2;
  for (int i = 2; i < p.input.size; ++i)
    r.axes.push(i);
  return make(r, j);
}

} // namespace benanza::backend::host
