// SPDX-License-Identifier: Apache-2.0
// How are elements of computed constants taken and put together? By their positions, in order.
//
//   gathered(x, {2, 3}, [&](const shape& at) { return index_in(dims, at); })
#pragma once

#include "evaluate_scalar.hpp"

#include <optional>
#include <vector>

namespace benanza::onnx {

namespace detail {
using maybe_elements = std::optional<elements_of>;

/// Row-major index of an element of `s`, where dims of one are read again and again.
inline std::size_t index_in(const shape& s, const shape& at) {
  std::int64_t index = 0;
  const int skipped = at.size - s.size;
  for (int i = 0; i < s.size; ++i)
    index = index * s[i] + (s[i] == 1 ? 0 : at[i + skipped]);
  return static_cast<std::size_t>(index);
}

/// Calls `see` with the position of each element of `s`, in order.
template <class See>
void each_position(const shape& s, const See& see) {
  const std::int64_t n = benanza::elements(s);
  shape at = shape::filled(s.size, 0);
  for (std::int64_t i = 0; i < n; ++i) {
    see(at);
    for (int d = s.size; d-- > 0;) {
      if (++at[d] < s[d]) break;
      at[d] = 0;
    }
  }
}

inline void copy_element(elements_of& to, const elements_of& from, std::size_t i) {
  if (from.real)
    to.reals.push_back(from.reals[i]);
  else
    to.integers.push_back(from.integers[i]);
}

/// The elements of `x` that `where` names for each position of `out`.
template <class Where>
elements_of gathered(const elements_of& x, const shape& out, const Where& where) {
  elements_of result{.real = x.real};
  each_position(out, [&](const shape& at) { copy_element(result, x, where(at)); });
  return result;
}

/// An operand's elements, rounded to what its type holds; nothing where they are not known.
inline const elements_of* known(const call& c, int i) {
  return c.has(i) && c.constant(i) && c.operand(i).dims ? c.operand(i).elements() : nullptr;
}
} // namespace detail

} // namespace benanza::onnx
