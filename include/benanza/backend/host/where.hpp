// SPDX-License-Identifier: Apache-2.0
// How does a Where run at the speed of memory? Row by row along the last dim that broadcasting
// leaves: a blend of two rows, or where one truth value holds for the whole row, a copy of one.
//
//   kernel k = make(op::where{.condition = {9, 9}, .x = {2, 9, 9}, .y = {1}}, job);
#pragma once

#include "detail/copy.hpp"
#include "detail/job.hpp"
#include "detail/loops.hpp"

#include "../../op/where.hpp"

#include <array>

namespace benanza::backend::host {

namespace detail {

/// Which operands of a row move along it.
template <class E, bool X, bool Y>
void blend_row(const std::uint8_t* condition, const E* x, const E* y, E* __restrict to,
               std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const E first = x[X ? i : 0], second = y[Y ? i : 0];
    to[i] = condition[i] != 0 ? first : second;
  }
}

template <class E>
void where_row(const std::uint8_t* condition, const E* x, const E* y, E* to, std::int64_t n,
               const std::array<std::int64_t, 4>& moves) {
  if (moves[1] == 0) {
    const bool first = *condition != 0;
    return copy_strided_row(to, first ? x : y, moves[first ? 2 : 3], n);
  }
  if (moves[2] != 0 && moves[3] != 0)
    blend_row<E, true, true>(condition, x, y, to, n);
  else if (moves[2] != 0)
    blend_row<E, true, false>(condition, x, y, to, n);
  else if (moves[3] != 0)
    blend_row<E, false, true>(condition, x, y, to, n);
  else
    blend_row<E, false, false>(condition, x, y, to, n);
}
} // namespace detail

inline bool runs(const op::where&, dtype) {
  return true;
}

inline detail::kernel make(const op::where& p, const detail::job& j) {
  const shape out = p.output(), to = packed(out);
  if (elements(out) == 0) return {"rows", [] {}};
  const shape c = detail::broadcast_strides(p.condition, out.size);
  const shape x = detail::broadcast_strides(p.x, out.size);
  const shape y = detail::broadcast_strides(p.y, out.size);
  detail::loops<4> l;
  for (int i = 0; i < out.size; ++i)
    l.push(out[i], {to[i], c[i], x[i], y[i]});
  l.simplify();
  l.widen(1);
  const int threads = detail::team_for(j.threads, p.cost().bytes(numeric::f32));
  detail::kernel made{"rows", {}};
  detail::with_width(j.width(), [&](auto e) {
    using E = decltype(e);
    made.run = [=, condition = reinterpret_cast<const std::uint8_t*>(j.inputs[0]),
                first = reinterpret_cast<const E*>(j.inputs[1]),
                second = reinterpret_cast<const E*>(j.inputs[2]),
                result = reinterpret_cast<E*>(j.output)] {
      const int last = l.rank - 1;
      const std::int64_t rows = l.count(0, last), n = l.size[last];
      const auto& moves = l.stride[last];
      const auto part = [&](std::int64_t row, std::int64_t row_end, std::int64_t begin,
                            std::int64_t end) {
        for (detail::walker<4> w(l, last, row); row < row_end; ++row, w.next())
          detail::where_row(condition + w.at[1] + begin * moves[1],
                            first + w.at[2] + begin * moves[2], second + w.at[3] + begin * moves[3],
                            result + row * n + begin, end - begin, moves);
      };
      if (rows < 2 * threads)
        detail::share(threads, n, 1024,
                      [&](std::int64_t b, std::int64_t e2) { part(0, rows, b, e2); });
      else
        detail::share(threads, rows, 1,
                      [&](std::int64_t b, std::int64_t e2) { part(b, e2, 0, n); });
    };
  });
  return made;
}

} // namespace benanza::backend::host
