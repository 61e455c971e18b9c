// SPDX-License-Identifier: Apache-2.0
// How does a softmax run along any axis? Lanes of lines side by side: `lanes` neighbouring lines
// (of the inner dims, or rows put side by side when the axis is last and short) are brought into a
// block of floats, axis outermost, and maximum, exponentials, sum and division run over the lanes.
// A long last axis is done line by line, with the lanes along it.
//
//   kernel k = make(op::softmax{.input = {1, 21, 64, 64}, .axis = 1}, job);
#pragma once

#include "detail/fold.hpp"
#include "detail/job.hpp"
#include "detail/tile.hpp"

namespace benanza::backend::host {

namespace detail {

/// One line of `n` neighbouring floats; `to` may be `from`.
inline void softmax_line(const float* from, float* to, std::int64_t n, bool log) {
  const float most = fold_extreme<true>(from, n);
  if (log) {
    // Two differences: a large maximum would swallow the logarithm.
    const float less = logarithm(fold_exponentials(from, n, most));
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = (from[i] - most) - less;
    return;
  }
  const float share_of_each = 1.f / fold_exponentials<true>(from, n, most, to);
  over_lanes(
      n, [&](std::int64_t i, auto at)
             __attribute__((always_inline)) { at.store(at.load(to + i) * share_of_each, to + i); });
}

/// One vector of lines: element k of lane i is from[k * from_row + i].
template <class At>
[[gnu::always_inline]] inline void softmax_vector(const float* from, std::int64_t from_row,
                                                  float* to, std::int64_t to_row, std::int64_t n,
                                                  bool log, At at) {
  float_vector most = at.load(from), sum{};
  for (std::int64_t k = 1; k < n; ++k) {
    const float_vector x = at.load(from + k * from_row);
    most = x > most ? x : most;
  }
  for (std::int64_t k = 0; k < n; ++k) {
    const float_vector e = exponential(at.load(from + k * from_row) - most);
    sum += e;
    if (!log) at.store(e, to + k * to_row);
  }
  if (log) {
    const float_vector less = logarithm(sum);
    for (std::int64_t k = 0; k < n; ++k)
      at.store((at.load(from + k * from_row) - most) - less, to + k * to_row);
  } else {
    const float_vector share_of_each = 1.f / sum;
    for (std::int64_t k = 0; k < n; ++k)
      at.store(at.load(to + k * to_row) * share_of_each, to + k * to_row);
  }
}

/// `lanes` lines at once, one vector of them after the other.
inline void softmax_lanes(const float* from, std::int64_t from_row, float* to, std::int64_t to_row,
                          std::int64_t n, std::int64_t lanes, bool log) {
  over_lanes(
      lanes, [&](std::int64_t i, auto at) __attribute__((always_inline)) {
        softmax_vector(from + i, from_row, to + i, to_row, n, log, at);
      });
}

struct softmax_plan {
  std::int64_t outer, n, inner; // lines: outer x inner, each of n elements
  std::int64_t lanes;           // lines taken at once
  bool log, floats;
  widener widen;
  narrower narrow;
  std::int64_t width;
  float scale;
  const std::byte* from;
  std::byte* to;
  scratch room; // two blocks of lanes for each thread

  /// Inner dims: lanes [begin, end) of lines, where a line's neighbours are next to it.
  void beside(std::int64_t begin, std::int64_t end) const {
    float* lines = room.mine();
    while (begin < end) {
      const std::int64_t o = begin / inner, i = begin % inner;
      const std::int64_t count = std::min({lanes, inner - i, end - begin});
      const std::int64_t at = o * n * inner + i;
      begin += count;
      if (floats) {
        softmax_lanes(reinterpret_cast<const float*>(from) + at, inner,
                      reinterpret_cast<float*>(to) + at, inner, n, count, log);
        continue;
      }
      for (std::int64_t k = 0; k < n; ++k)
        widen(from + (at + k * inner) * width, lines + k * count, count);
      softmax_lanes(lines, count, lines, count, n, count, log);
      for (std::int64_t k = 0; k < n; ++k)
        narrow(lines + k * count, to + (at + k * inner) * width, count, scale);
    }
  }

  /// Short lines, or short runs of them: brought side by side, [begin, end) counts lines.
  void gathered(std::int64_t begin, std::int64_t end) const {
    float *dense = room.mine(), *turned = dense + n * lanes;
    const std::int64_t group = inner == 1 ? lanes : inner; // contiguous lines
    while (begin < end) {
      const std::int64_t count = std::min(group, end - begin), at = begin * n;
      begin += count;
      widen(from + at * width, dense, count * n);
      if (inner == 1)
        turn(dense, turned, count, n);
      else
        turn(dense, turned, n, inner);
      if (inner == 1) {
        softmax_lanes(turned, count, turned, count, n, count, log);
        turn(turned, dense, n, count);
      } else {
        for (std::int64_t i = 0; i < inner; ++i)
          softmax_line(turned + i * n, turned + i * n, n, log);
        turn(turned, dense, inner, n);
      }
      narrow(dense, to + at * width, count * n, scale);
    }
  }

  /// The last axis, line by line.
  void along(std::int64_t begin, std::int64_t end) const {
    float* line = room.mine();
    for (; begin < end; ++begin) {
      const std::int64_t at = begin * n;
      if (floats) {
        softmax_line(reinterpret_cast<const float*>(from) + at, reinterpret_cast<float*>(to) + at,
                     n, log);
        continue;
      }
      widen(from + at * width, line, n);
      softmax_line(line, line, n, log);
      narrow(line, to + at * width, n, scale);
    }
  }

private:
  static void turn(const float* from, float* to, std::int64_t rows, std::int64_t columns) {
    transpose_plane(to, rows, from, columns, rows, columns);
  }
};
} // namespace detail

inline detail::kernel make(const op::softmax& p, const detail::job& j) {
  detail::softmax_plan plan{};
  plan.outer = elements(p.input, 0, p.axis);
  plan.n = p.input[p.axis];
  plan.inner = elements(p.input, p.axis + 1, p.input.size);
  plan.log = p.log;
  plan.floats = j.element == dtype::f32;
  plan.widen = detail::widen_as(j.element);
  plan.narrow = detail::narrow_as(j.result);
  plan.width = j.width();
  plan.scale = j.scale;
  plan.from = j.inputs[0];
  plan.to = j.output;
  const std::int64_t lines = plan.outer * plan.inner;
  if (lines * plan.n == 0) return {"loop", [] {}};
  const int threads = detail::team_for(j.threads, 16 * lines * plan.n);
  // A block of lanes stays in half a second-level cache.
  const std::int64_t fitting = std::max<std::int64_t>(65536 / plan.n / 16 * 16, 16);
  plan.lanes = std::min(fitting, detail::block);
  if (plan.inner > 1 && plan.inner < 16) plan.lanes = plan.inner;
  const bool along = plan.inner == 1 && plan.n >= 48;
  if (along) plan.lanes = 1;
  plan.room = detail::scratch(threads, 2 * plan.n * plan.lanes);
  if (plan.inner >= 16)
    return {"lanes", [=] {
              detail::share(threads, lines, 16,
                            [&](std::int64_t b, std::int64_t e) { plan.beside(b, e); });
            }};
  if (along)
    return {"lines", [=] {
              detail::share(threads, lines, 1,
                            [&](std::int64_t b, std::int64_t e) { plan.along(b, e); });
            }};
  return {"gathered", [=] {
            detail::share(threads, lines, plan.inner,
                          [&](std::int64_t b, std::int64_t e) { plan.gathered(b, e); });
          }};
}

} // namespace benanza::backend::host
