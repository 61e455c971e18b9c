// SPDX-License-Identifier: Apache-2.0
// How do GridSample and AffineGrid run? A block of points first becomes a table of what each takes
// and with what weights, a vector of points at once; the table then serves all channels, whose
// planes are read by gathers. The points of an affine map are written row by row.
//
//   kernel k = make(op::grid_sample{.input = {1, 64, 32, 32}, .points = {16, 16}}, job);
#pragma once

#include "detail/convert.hpp"
#include "detail/job.hpp"
#include "detail/lanes.hpp"

#include <cstring>

namespace benanza::backend::host {

namespace detail {

/// A number of f32 or bf16 storage.
inline float number_of(float v) {
  return v;
}
inline float number_of(std::uint16_t v) {
  return from_bf16(v);
}
inline void put(float v, float& to) {
  to = v;
}
inline void put(float v, std::uint16_t& to) {
  to = computed_bf16(v);
}

/// Calls `f` with a value of the storage, f32 or bf16.
template <class F>
auto with_floats(dtype t, F&& f) {
  return t == dtype::f32 ? f(float{}) : f(std::uint16_t{});
}

/// The largest whole number that is not over `x`, and the one towards zero.
[[gnu::always_inline]] inline float_vector lower(float_vector x) {
  const float_vector n = nearest(x);
  return n > x ? n - 1.f : n;
}
[[gnu::always_inline]] inline float_vector truncated(float_vector x) {
  return x < 0.f ? -lower(-x) : lower(x);
}
[[gnu::always_inline]] inline float_vector clamped(float_vector x, float low, float high) {
  return smaller(larger(x, float_lanes::all(low)), float_lanes::all(high));
}

/// `x` mirrored at two borders until it is between them.
inline float_vector mirror(float_vector x, float low, float high) {
  const float span = high - low;
  if (!(span > 0)) return float_lanes::all(low);
  const float_vector none{};
  const float_vector beyond = x < low ? low - x : x > high ? x - high : none;
  const float_vector turns = lower(beyond / span), rest = beyond - turns * span;
  const float_vector odd = turns - 2.f * lower(turns * 0.5f);
  const float_vector from_high = x < low ? odd : 1.f - odd; // 1: the way goes down
  const float_vector mirrored = from_high != 0.f ? high - rest : low + rest;
  return beyond > 0.f ? mirrored : x;
}

/// What some places take along one dim: up to four positions each.
struct line_taps {
  int count = 1;
  float_lanes::whole at[4]{};
  float_vector weight[4]{};
};

inline line_taps taps_along(const op::grid_sample& p, std::int64_t size, float_vector place) {
  const auto n = static_cast<float>(size);
  const float low = p.align_corners ? 0.f : -0.5f, high = p.align_corners ? n - 1 : n - 0.5f;
  float_vector x =
      p.align_corners ? (place + 1.f) * 0.5f * (n - 1) : ((place + 1.f) * n - 1.f) * 0.5f;
  const bool picks = p.mode == op::interpolation::nearest;
  if (picks) x = nearest(x);
  const auto outside = (x < low) | (x > high);
  if (p.outside == op::border::edge) x = outside ? clamped(x, 0.f, n - 1) : x;
  if (p.outside == op::border::reflection) x = outside ? mirror(x, low, high) : x;
  line_taps t;
  // What is outside, and what is no number, has no weight.
  const auto take = [&](int k, float_vector at, float_vector weight) {
    const auto number = at == at;
    if (p.outside == op::border::reflection) at = truncated(mirror(at, low, high));
    if (p.outside == op::border::edge) at = clamped(at, 0.f, n - 1);
    const float_vector none{};
    const auto inside = number & (at >= 0.f) & (at < n);
    t.at[k] = __builtin_convertvector(inside ? at : none, float_lanes::whole);
    t.weight[k] = inside ? weight : none;
  };
  if (picks) {
    take(0, truncated(x), float_lanes::all(1.f));
    return t;
  }
  const float_vector first = lower(x), rest = x - first;
  if (p.mode == op::interpolation::linear) {
    t.count = 2;
    take(0, first, 1.f - rest);
    take(1, first + 1.f, rest);
    return t;
  }
  constexpr auto a = static_cast<float>(attribute::cubic);
  const auto near = [](float_vector d) { return ((a + 2) * d - (a + 3)) * d * d + 1.f; };
  const auto far = [](float_vector d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  t.count = 4;
  take(0, first - 1.f, far(1.f + rest));
  take(1, first, near(rest));
  take(2, first + 1.f, near(1.f - rest));
  take(3, first + 2.f, far(2.f - rest));
  return t;
}

/// Points of a table.
inline constexpr std::int64_t sampled_block = 128;

/// Writes what `n` points take, and some more up to a whole vector: tap `t` of point `i` at
/// [t * sampled_block + i].
template <int Taps, class T>
void fill_taps(const op::grid_sample& p, const T* grid, std::int64_t n, std::int32_t* at,
               float* weight) {
  const int rank = p.rank();
  alignas(64) float places[3][sampled_block]{};
  for (int d = 0; d < rank; ++d)
    for (std::int64_t i = 0; i < n; ++i)
      places[d][i] = number_of(grid[i * rank + rank - 1 - d]);
  for (std::int64_t i = 0; i < n; i += float_lanes::count) {
    line_taps along[3];
    for (int d = 0; d < rank; ++d)
      along[d] = taps_along(p, p.input[d + 2], float_lanes::load(places[d] + i));
    for (int t = 0; t < Taps; ++t) {
      float_lanes::whole from{};
      float_vector share = float_lanes::all(1.f);
      for (int d = 0, rest = t, each = Taps; d < rank; ++d) {
        each /= along[d].count; // taps of the dims behind
        from = from * static_cast<std::int32_t>(p.input[d + 2]) + along[d].at[rest / each];
        share *= along[d].weight[rest / each];
        rest %= each;
      }
      std::memcpy(at + t * sampled_block + i, &from, sizeof from);
      float_lanes::store(share, weight + t * sampled_block + i);
    }
  }
}

template <int Taps, class T>
void blend_taps(const T* __restrict plane, const std::int32_t* __restrict at,
                const float* __restrict weight, T* __restrict to, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    float sum = 0;
    for (int t = 0; t < Taps; ++t)
      sum += weight[t * sampled_block + i] * number_of(plane[at[t * sampled_block + i]]);
    put(sum, to[i]);
  }
}

template <int Taps, class T>
kernel sample(const op::grid_sample& p, const job& j) {
  const shape out = p.output();
  const std::int64_t points = elements(out, 2, out.size), channels = p.input[1];
  const std::int64_t plane = elements(p.input, 2, p.input.size);
  const std::int64_t blocks = (points + sampled_block - 1) / sampled_block;
  const int threads = team_for(j.threads, (elements(out) * Taps + elements(p.grid())) * 4);
  const scratch room(threads, 2 * Taps * sampled_block);
  return {"table",
          [=, x = reinterpret_cast<const T*>(j.inputs[0]),
           grid = reinterpret_cast<const T*>(j.inputs[1]), y = reinterpret_cast<T*>(j.output)] {
            share(threads, p.input[0] * blocks, 1, [&](std::int64_t k, std::int64_t end) {
              float* weight = room.mine();
              auto* at = reinterpret_cast<std::int32_t*>(weight + Taps * sampled_block);
              for (; k < end; ++k) {
                const std::int64_t image = k / blocks, first = k % blocks * sampled_block;
                const std::int64_t n = std::min(sampled_block, points - first);
                fill_taps<Taps>(p, grid + (image * points + first) * p.rank(), n, at, weight);
                for (std::int64_t c = image * channels; c < (image + 1) * channels; ++c)
                  blend_taps<Taps>(x + c * plane, at, weight, y + c * points + first, n);
              }
            });
          }};
}
} // namespace detail

/// True where there is a kernel: f32 and bf16, planes whose elements 31 bits count.
inline bool runs(const op::grid_sample& p, dtype element) {
  return (element == dtype::f32 || element == dtype::bf16) &&
         elements(p.input, 2, p.input.size) < std::int64_t{1} << 31;
}

inline detail::kernel make(const op::grid_sample& p, const detail::job& j) {
  return detail::with_floats(j.element, [&](auto e) -> detail::kernel {
    using storage = decltype(e);
    switch (p.taps()) {
    case 1: return detail::sample<1, storage>(p, j);
    case 4: return detail::sample<4, storage>(p, j);
    case 8: return detail::sample<8, storage>(p, j);
    case 16: return detail::sample<16, storage>(p, j);
    default: return detail::sample<64, storage>(p, j);
    }
  });
}

inline bool runs(const op::affine_grid&, dtype element) {
  return element == dtype::f32 || element == dtype::bf16;
}

inline detail::kernel make(const op::affine_grid& p, const detail::job& j) {
  const int rank = p.rank();
  const std::int64_t width = p.points[rank - 1];
  const std::int64_t lines = elements(p.output(), 1, rank), rows = p.batch * lines;
  const int threads = detail::team_for(j.threads, elements(p.output()) * j.width());
  std::vector<float> along[3];
  for (int d = 0; d < rank; ++d)
    for (std::int64_t i = 0; i < p.points[d]; ++i) {
      const auto n = static_cast<double>(p.points[d]), at = static_cast<double>(i);
      along[d].push_back(static_cast<float>(p.align_corners ? (n > 1 ? 2 * at / (n - 1) - 1 : -1)
                                                            : (2 * at + 1) / n - 1));
    }
  return detail::with_floats(j.element, [&](auto e) -> detail::kernel {
    using storage = decltype(e);
    return {"rows", [=, theta = reinterpret_cast<const storage*>(j.inputs[0]),
                     to = reinterpret_cast<storage*>(j.output)] {
              detail::share(threads, rows, 1, [&](std::int64_t row, std::int64_t end) {
                for (; row < end; ++row)
                  for (int r = 0; r < rank; ++r) {
                    const storage* map = theta + (row / lines * rank + r) * (rank + 1);
                    float base = detail::number_of(map[rank]);
                    std::int64_t rest = row % lines;
                    for (int d = rank - 2; d >= 0; --d) {
                      base += detail::number_of(map[rank - 1 - d]) *
                              along[d][static_cast<std::size_t>(rest % p.points[d])];
                      rest /= p.points[d];
                    }
                    const float step = detail::number_of(map[0]);
                    const float* x = along[rank - 1].data();
                    storage* line = to + row * width * rank + r;
                    for (std::int64_t i = 0; i < width; ++i)
                      detail::put(base + step * x[i], line[i * rank]);
                  }
              });
            }};
  });
}

} // namespace benanza::backend::host
