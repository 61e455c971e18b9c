// SPDX-License-Identifier: Apache-2.0
// Layers that only move data: Concat, Split, Transpose, Pad, Slice, Gather, DepthToSpace and
// SpaceToDepth, in all ONNX versions: attributes that later became inputs are read from either.
//
//   handle_slice(call)   // Slice/1x8x56x56-1x4x56x56-from0x4x0x0
#pragma once

#include "call.hpp"

namespace benanza::onnx {

inline answer handle_concat(const call& c) {
  const shape& first = c.dims(0);
  if (c.opset() >= 4 && !c.has_attribute("axis")) throw error("its attribute axis is missing");
  op::concat p{.whole = first, .element = c.type(0)};
  p.axis = call::axis(c.integer("axis", 1), first.size);
  p.parts = 0;
  p.whole[p.axis] = 0;
  for (int i = 0; i < c.size(); ++i) {
    shape s = c.dims(i);
    if (s.size != first.size)
      throw error("its inputs " + text(first) + " and " + text(s) + " do not fit together");
    p.whole[p.axis] += s[p.axis];
    check_dims(p.whole);
    p.parts += s[p.axis] > 0;
    s[p.axis] = first[p.axis];
    if (!(s == first))
      throw error("its inputs " + text(first) + " and " + text(c.dims(i)) + " do not fit together" +
                  (c.batch != c.old_batch
                       ? ": exported with a fixed batch; export it with a dynamic batch axis"
                       : ""));
  }
  p.parts = std::max<std::int64_t>(1, p.parts);
  return of_layer(c, p, p.whole);
}

/// Sizes are an attribute up to opset 12, then an input; where there are none the parts are equal
/// (opset 18: the last one may be smaller).
inline answer handle_split(const call& c) {
  const shape& x = c.dims(0);
  op::split p{.whole = x, .element = c.type(0)};
  p.axis = call::axis(c.integer("axis", 0), x.size);
  const std::int64_t length = x[p.axis];
  std::vector<std::int64_t> sizes = c.has(1) ? c.whole_numbers(1) : c.integers("split");
  if (sizes.empty()) {
    const std::int64_t count = c.integer("num_outputs", c.outputs());
    if (count < 1 || count != c.outputs()) throw error("its num_outputs is not that of its node");
    if (length % count != 0 && !c.has_attribute("num_outputs"))
      throw error("it cuts " + std::to_string(length) + " into " + std::to_string(count) +
                  " equal parts");
    const std::int64_t each = (length + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i)
      sizes.push_back(std::min(each, std::max<std::int64_t>(0, length - i * each)));
  }
  std::int64_t sum = 0;
  answer a;
  for (std::int64_t s : sizes) {
    if (s < 0 || s > length - sum) throw error("its parts do not add up to its input");
    sum += s;
    p.parts += s > 0;
    shape part = x;
    part[p.axis] = s;
    a.outputs.push_back({c.element(0), part});
  }
  if (sum != length || static_cast<int>(sizes.size()) != c.outputs())
    throw error("its parts do not add up to its input");
  p.parts = std::max<std::int64_t>(1, p.parts);
  a.layer = p;
  return a;
}

inline answer handle_transpose(const call& c) {
  op::transpose p{.input = c.dims(0), .element = c.type(0)};
  p.order = to_list<shape>(c.integers("perm"));
  if (!c.has_attribute("perm"))
    for (int i = p.input.size; i-- > 0;)
      p.order.push(i);
  p.validate();
  return of_layer(c, p, p.output());
}

namespace detail {
inline op::pad_mode pad_mode_of(const call& c) {
  const std::string_view mode = c.word("mode", "constant");
  for (std::size_t i = 0; i < std::size(op::pad_names); ++i)
    if (op::pad_names[i] == mode) return static_cast<op::pad_mode>(i);
  throw error("its mode is " + in_quotes(mode) + ", which no layer has");
}
} // namespace detail

/// Sizes are an attribute up to opset 10, then an input; opset 18 adds axes.
inline answer handle_pad(const call& c) {
  const shape& x = c.dims(0);
  op::pad p{.input = x, .element = c.type(0)};
  const std::vector<std::int64_t> given = c.opset() >= 11  ? c.whole_numbers(1)
                                          : c.opset() == 1 ? c.integers("paddings")
                                                           : c.integers("pads");
  std::vector<int> axes;
  if (c.has(3))
    for (std::int64_t a : c.whole_numbers(3))
      axes.push_back(call::axis(a, x.size));
  else
    for (int i = 0; i < x.size; ++i)
      axes.push_back(i);
  if (given.size() != 2 * axes.size()) throw error("its pads do not match its dims");
  p.begins = p.ends = shape::filled(x.size, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    p.begins[axes[i]] = given[i];
    p.ends[axes[i]] = given[i + axes.size()];
  }
  p.mode = detail::pad_mode_of(c);
  p.validate();
  return of_layer(c, p, p.output());
}

/// Starts, ends and axes are attributes up to opset 9, then inputs, and steps came with them. Ends
/// far outside mean "up to the end".
inline answer handle_slice(const call& c) {
  const shape& x = c.dims(0);
  const bool inputs = c.opset() >= 10;
  const auto starts = inputs ? c.whole_numbers(1) : c.integers("starts");
  const auto ends = inputs ? c.whole_numbers(2) : c.integers("ends");
  const auto steps = inputs && c.has(4) ? c.whole_numbers(4) : std::vector<std::int64_t>{};
  std::vector<int> axes;
  const bool named = inputs ? c.has(3) : c.has_attribute("axes");
  if (named)
    for (std::int64_t a : inputs ? c.whole_numbers(3) : c.integers("axes"))
      axes.push_back(call::axis(a, x.size));
  else
    for (int i = 0; i < x.size && i < static_cast<int>(starts.size()); ++i)
      axes.push_back(i);
  if (starts.size() != axes.size() || ends.size() != axes.size() ||
      (!steps.empty() && steps.size() != axes.size()))
    throw error("its starts, ends, axes and steps differ in number");

  op::slice p{.input = x, .sizes = x, .element = c.type(0)};
  p.starts = shape::filled(x.size, 0);
  p.steps = shape::filled(x.size, 1);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t step = steps.empty() ? 1 : steps[i], length = x[axes[i]];
    if (step == 0) throw error("it has a step of 0");
    if (step > dim_limit || step < -dim_limit) throw error("it has a step over 2^40");
    const auto clamp = [&](std::int64_t at, std::int64_t least, std::int64_t most) {
      if (at < 0) at = at < -length ? -1 : at + length;
      return std::clamp(at, least, std::max(least, most));
    };
    std::int64_t from = 0, count = 0;
    if (step > 0) {
      from = clamp(starts[i], 0, length);
      const std::int64_t to = clamp(ends[i], 0, length);
      count = to > from ? (to - from + step - 1) / step : 0;
    } else {
      from = clamp(starts[i], -1, length - 1);
      const std::int64_t to = clamp(ends[i], -1, length - 1);
      count = from > to ? (from - to - step - 1) / -step : 0;
    }
    p.starts[axes[i]] = count == 0 ? 0 : from;
    p.steps[axes[i]] = step;
    p.sizes[axes[i]] = count;
  }
  return of_layer(c, p, p.sizes);
}

inline answer handle_gather(const call& c) {
  op::gather p{.data = c.dims(0), .indices = c.dims(1), .element = c.type(0), .index = c.type(1)};
  p.axis = call::axis(c.integer("axis", 0), p.data.size);
  if (c.element(1) == 0) p.index = dtype::s64;
  return of_layer(c, p, p.output());
}

inline answer handle_depth_to_space(const call& c) {
  op::depth_to_space p = *op::depth_to_space::of(c.op());
  p.input = c.dims(0);
  p.block = c.integer("blocksize", 0);
  const std::string_view mode = c.word("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") throw error("its mode is " + detail::in_quotes(mode));
  p.column_row_depth = mode == "CRD";
  p.validate();
  return of_layer(c, p, p.output());
}

} // namespace benanza::onnx
