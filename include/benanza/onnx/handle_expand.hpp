// SPDX-License-Identifier: Apache-2.0
// Tensors repeated: ONNX Expand-8..13 to dims that broadcasting gives, and Tile-6..13 by numbers of
// repetitions.
//
//   handle_expand(call)   // Expand/1x8x1x64-1x8x4x64
#pragma once

#include "handle_eltwise.hpp"

namespace benanza::onnx {

namespace detail {
inline answer repeated(const call& c, op::expand p) {
  answer a;
  a.outputs.push_back({c.element(0), p.sizes});
  try {
    p.element = c.type(0);
    a.layer = p;
  } catch (const error& e) {
    a.problem = e.what();
  }
  return a;
}
} // namespace detail

inline answer handle_expand(const call& c) {
  shape target;
  for (std::int64_t d : c.whole_numbers(1))
    target.push(d);
  check_dims(target);
  const shape& x = c.dims(0);
  return detail::repeated(c, {.input = x, .sizes = detail::broadcast_of(x, target)});
}

inline answer handle_tile(const call& c) {
  op::expand p{.input = c.dims(0), .sizes = c.dims(0), .tile = true};
  const std::vector<std::int64_t>& repeats = c.whole_numbers(1);
  if (static_cast<int>(repeats.size()) != p.input.size)
    throw error("its repeats do not match its dims");
  for (int i = 0; i < p.input.size; ++i)
    p.sizes[i] = checked_multiply(p.input[i], repeats[static_cast<std::size_t>(i)]);
  check_dims(p.sizes);
  return detail::repeated(c, p);
}

} // namespace benanza::onnx
