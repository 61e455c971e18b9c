// SPDX-License-Identifier: Apache-2.0
// Reductions: ONNX Reduce*-1..18. Axes are an attribute, and an input from opset 13 (ReduceSum) or
// 18 (all others) on; none means all of them, or none with noop_with_empty_axes.
//
//   handle_reduce(call)   // ReduceMean/1x64x56x56-a2x3
#pragma once

#include "call.hpp"

namespace benanza::onnx {

inline answer handle_reduce(const call& c) {
  const shape& x = c.dims(0);
  op::reduce p = *op::reduce::of(c.op());
  p.input = x;
  p.element = c.type(0);
  const bool input = c.opset() >= 18 || (c.opset() >= 13 && c.op() == "ReduceSum");
  std::vector<std::int64_t> given;
  if (input && c.has(1))
    given = c.whole_numbers(1);
  else if (!input)
    given = c.integers("axes");
  for (int axis : call::axes(given, x.size))
    p.axes.push(axis);
  if (given.empty() && c.integer("noop_with_empty_axes", 0) == 0)
    for (int i = 0; i < x.size; ++i)
      p.axes.push(i);
  const bool keep = c.integer("keepdims", 1) != 0;
  shape out;
  for (int i = 0; i < x.size; ++i)
    if (!p.reduces(i) || keep) out.push(p.reduces(i) ? 1 : x[i]);
  return of_layer(c, p, out);
}

} // namespace benanza::onnx
