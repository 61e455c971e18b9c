// SPDX-License-Identifier: Apache-2.0
// How do Expand and Tile run at the speed of memory? As strided copies whose input has a stride of
// zero along what is repeated; each dim that a Tile repeats is two, the repetitions and what is
// repeated.
//
//   kernel k = make(op::expand{.input = {8, 1, 64}, .sizes = {8, 4, 64}}, job);
#pragma once

#include "move.hpp"

#include "../../op/expand.hpp"

namespace benanza::backend::host {

namespace detail {

/// The loops of a repetition; false where they are more than the copy has room for.
inline bool repeat_loops(const op::expand& p, loops<2>& l) {
  const int added = p.sizes.size - p.input.size;
  const shape in = packed(p.input), out = packed(p.sizes);
  const auto add = [&l](std::int64_t n, std::int64_t to, std::int64_t from) {
    if (n == 1) return true;
    loops<2> joined = l;
    if (l.rank == 9) return false;
    joined.push(n, {to, from});
    joined.simplify();
    l = joined;
    return true;
  };
  for (int i = 0; i < p.sizes.size; ++i) {
    const std::int64_t held = i < added ? 1 : p.input[i - added];
    const std::int64_t step = i < added ? 0 : in[i - added];
    if (!add(held == 0 ? 0 : p.sizes[i] / held, out[i] * held, 0) || !add(held, out[i], step))
      return false;
  }
  return true;
}
} // namespace detail

/// True where there is a kernel: what is left of the dims, joined, are nine at most.
inline bool runs(const op::expand& p, dtype) {
  detail::loops<2> l;
  return elements(p.sizes) == 0 || detail::repeat_loops(p, l);
}

inline detail::kernel make(const op::expand& p, const detail::job& j) {
  if (elements(p.sizes) == 0) return {"copy", [] {}};
  detail::loops<2> l;
  detail::repeat_loops(p, l);
  return detail::copied(l, 0, j);
}

} // namespace benanza::backend::host
