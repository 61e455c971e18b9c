// SPDX-License-Identifier: Apache-2.0
// How does a rotary embedding run? Head by head in one trip through memory: a vector of each half,
// or of neighbours that are taken apart in registers, with cosines and sines that stay in the cache
// for all heads of a place. Computed in f32.
//
//   kernel k = make(op::rotary{.sizes = {1, 32, 128, 64}}, job);
#pragma once

#include "detail/convert.hpp"
#include "detail/job.hpp"
#include "detail/lanes.hpp"

#include <utility>

namespace benanza::backend::host {

namespace detail {

/// Turns `n` numbers of each half: y1 = cosine x1 - sine x2, y2 = sine x1 + cosine x2. Those of
/// the second half are `apart` behind those of the first.
inline void turn_halves(const float* x1, const float* x2, const float* cosine, const float* sine,
                        std::int64_t apart, float* y1, float* y2, std::int64_t n) {
  over_lanes(
      n, [&](std::int64_t i, auto at) __attribute__((always_inline)) {
        const float_vector a = at.load(x1 + i), b = at.load(x2 + i);
        const float_vector first =
            float_lanes::multiply_add(at.load(cosine + i), a, -(at.load(sine + i) * b));
        const float_vector second = float_lanes::multiply_add(at.load(sine + apart + i), a,
                                                              at.load(cosine + apart + i) * b);
        at.store(first, y1 + i);
        at.store(second, y2 + i);
      });
}

template <int First, std::size_t... I>
[[gnu::always_inline]] inline float_vector taken_apart(float_vector a, float_vector b,
                                                       std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (First + 2 * static_cast<int>(I))...);
}
template <int First, std::size_t... I>
[[gnu::always_inline]] inline float_vector put_together(float_vector a, float_vector b,
                                                        std::index_sequence<I...>) {
  constexpr int n = float_lanes::count;
  return __builtin_shufflevector(
      a, b, (First + static_cast<int>(I) / 2 + static_cast<int>(I) % 2 * n)...);
}

/// Interleaved pairs, taken apart: the first of each, and the second.
[[gnu::always_inline]] inline std::pair<float_vector, float_vector> pairs_at(const float* x) {
  using all = std::make_index_sequence<float_lanes::count>;
  const float_vector low = float_lanes::load(x);
  const float_vector high = float_lanes::load(x + float_lanes::count);
  return {taken_apart<0>(low, high, all{}), taken_apart<1>(low, high, all{})};
}

/// Turns `n` interleaved pairs; `Wide`: each number of a pair has its cosine and sine.
template <bool Wide>
inline void turn_interleaved(const float* x, const float* cosine, const float* sine, float* y,
                             std::int64_t n) {
  constexpr std::int64_t count = float_lanes::count, step = Wide ? 2 : 1, second = Wide ? 1 : 0;
  const auto angles = [](const float* from) __attribute__((always_inline)) {
    if constexpr (Wide) return pairs_at(from);
    const float_vector both = float_lanes::load(from);
    return std::pair(both, both);
  };
  using all = std::make_index_sequence<count>;
  std::int64_t i = 0;
  for (; i + count <= n; i += count) {
    const auto [x1, x2] = pairs_at(x + 2 * i);
    const auto [c1, c2] = angles(cosine + step * i);
    const auto [s1, s2] = angles(sine + step * i);
    const float_vector a = float_lanes::multiply_add(c1, x1, -(s1 * x2));
    const float_vector b = float_lanes::multiply_add(s2, x1, c2 * x2);
    float_lanes::store(put_together<0>(a, b, all{}), y + 2 * i);
    float_lanes::store(put_together<count / 2>(a, b, all{}), y + 2 * i + count);
  }
  for (; i < n; ++i) {
    const float x1 = x[2 * i], x2 = x[2 * i + 1];
    y[2 * i] = cosine[step * i] * x1 - sine[step * i] * x2;
    y[2 * i + 1] = sine[step * i + second] * x1 + cosine[step * i + second] * x2;
  }
}

struct rotary_plan {
  static constexpr std::int64_t part = block / 2; ///< pairs that are widened at once

  op::rotary p{};
  const std::byte *x, *cosine, *sine;
  const std::int64_t* places;
  std::byte* y;
  bool floats;
  std::int64_t width;
  widener widen;
  narrower narrow;

  rotary_plan(const op::rotary& layer, const job& j)
      : p(layer)
      , x(j.inputs[0])
      , cosine(j.inputs[1])
      , sine(j.inputs[2])
      , places(layer.table > 0 ? reinterpret_cast<const std::int64_t*>(j.inputs[3]) : nullptr)
      , y(j.output)
      , floats(j.element == dtype::f32)
      , width(j.width())
      , widen(widen_as(j.element))
      , narrow(narrow_as(j.result)) {}

  /// One head of one place, by its number in memory.
  void run(std::int64_t row) const {
    const std::int64_t batch = row / (p.heads() * p.length());
    const std::int64_t place = p.sequence_major ? row / p.heads() % p.length() : row % p.length();
    std::int64_t angles = (p.own_places ? batch * p.length() : 0) + place;
    if (places != nullptr)
      angles = std::clamp<std::int64_t>(places[batch * p.length() + place], 0, p.table - 1);
    const std::int64_t at = row * p.size();
    floats ? in_place(at, angles * p.angle_size()) : in_parts(at, angles * p.angle_size());
    std::memcpy(y + (at + p.turned()) * width, x + (at + p.turned()) * width,
                static_cast<std::size_t>((p.size() - p.turned()) * width));
  }

private:
  void in_place(std::int64_t at, std::int64_t angles) const {
    const std::int64_t half = p.turned() / 2;
    const auto* from = reinterpret_cast<const float*>(x) + at;
    const auto* c = reinterpret_cast<const float*>(cosine) + angles;
    const auto* s = reinterpret_cast<const float*>(sine) + angles;
    auto* to = reinterpret_cast<float*>(y) + at;
    if (p.interleaved)
      interleaved(from, c, s, to, half);
    else
      turn_halves(from, from + half, c, s, p.wide ? half : 0, to, to + half, half);
  }
  void interleaved(const float* from, const float* c, const float* s, float* to,
                   std::int64_t n) const {
    p.wide ? turn_interleaved<true>(from, c, s, to, n) : turn_interleaved<false>(from, c, s, to, n);
  }

  void in_parts(std::int64_t at, std::int64_t angles) const {
    alignas(64) float c[2 * part], s[2 * part], v[2 * part];
    const std::int64_t half = p.turned() / 2, step = p.wide && p.interleaved ? 2 : 1;
    for (std::int64_t i = 0; i < half; i += part) {
      const std::int64_t n = std::min(part, half - i);
      widen(cosine + (angles + step * i) * width, c, step * n);
      widen(sine + (angles + step * i) * width, s, step * n);
      if (p.interleaved) {
        widen(x + (at + 2 * i) * width, v, 2 * n);
        interleaved(v, c, s, v, n);
        narrow(v, y + (at + 2 * i) * width, 2 * n, 1);
      } else {
        if (p.wide) {
          widen(cosine + (angles + half + i) * width, c + part, n);
          widen(sine + (angles + half + i) * width, s + part, n);
        }
        widen(x + (at + i) * width, v, n);
        widen(x + (at + half + i) * width, v + part, n);
        turn_halves(v, v + part, c, s, p.wide ? part : 0, v, v + part, n);
        narrow(v, y + (at + i) * width, n, 1);
        narrow(v + part, y + (at + half + i) * width, n, 1);
      }
    }
  }
};
} // namespace detail

/// True where a layer has a kernel for operands stored as `element`.
inline bool runs(const op::rotary&, dtype element) {
  return element == dtype::f32 || element == dtype::bf16;
}

inline detail::kernel make(const op::rotary& p, const detail::job& j) {
  const detail::rotary_plan plan(p, j);
  const std::int64_t rows = elements(p.sizes, 0, 3);
  const int threads = detail::team_for(j.threads, 2 * elements(p.sizes) * j.width());
  return {"heads", [=] {
            detail::share(threads, rows, 1, [&](std::int64_t row, std::int64_t end) {
              for (; row < end; ++row)
                plan.run(row);
            });
          }};
}

} // namespace benanza::backend::host
