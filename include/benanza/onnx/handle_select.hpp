// SPDX-License-Identifier: Apache-2.0
// Operators that find elements: ArgMax-1..13, ArgMin, TopK-1..11, NonZero-9..13, Compress-9..11,
// Unique-11; and running sums (CumSum-11..14, CumProd-26). Where only a run shows how many there
// are, `largest.hpp` says the most.
//
//   handle_top_k(call)   // TopK/1x8400-a1-k100
#pragma once

#include "evaluate_select.hpp"

namespace benanza::onnx {

inline answer handle_arg(const call& c) {
  op::arg p = *op::arg::of(c.op());
  p.input = c.dims(0);
  p.element = c.type(0);
  p.axis = call::axis(c.integer("axis", 0), p.input.size);
  p.last = c.integer("select_last_index", 0) != 0;
  p.validate();
  shape out;
  for (int i = 0; i < p.input.size; ++i)
    if (i != p.axis || c.integer("keepdims", 1) != 0) out.push(p.output()[i]);
  answer a;
  a.outputs.push_back({proto::INT64, out});
  a.layer = p;
  return a;
}

namespace detail {
inline op::top_k top_of(const call& c, std::int64_t k) {
  op::top_k p{.input = c.dims(0), .k = k, .element = c.type(0)};
  p.axis = call::axis(c.integer("axis", -1), p.input.size);
  p.smallest = c.integer("largest", 1) == 0;
  p.unsorted = c.integer("sorted", 1) == 0;
  return p;
}
} // namespace detail

/// k is an attribute up to opset 9, then an input.
inline answer handle_top_k(const call& c) {
  const bool input = c.opset() >= 10;
  if (input && c.size() < 2) throw error("it has 1 inputs, which its operator does not");
  if (input && c.whole_numbers(1).size() != 1) throw error("its k is not one number");
  const op::top_k p = detail::top_of(c, input ? c.whole_numbers(1)[0] : c.integer("k", 0));
  p.validate();
  answer a;
  a.outputs.push_back({c.element(0), p.output()});
  if (c.outputs() > 1) a.outputs.push_back({proto::INT64, p.output()});
  a.layer = p;
  return a;
}

inline answer handle_cumulate(const call& c) {
  op::cumulate p = *op::cumulate::of(c.op());
  p.input = c.dims(0);
  p.element = c.type(0);
  if (c.whole_numbers(1).size() != 1) throw error("its axis is not one number");
  p.axis = call::axis(c.whole_numbers(1)[0], p.input.size);
  p.exclusive = c.integer("exclusive", 0) != 0;
  p.reverse = c.integer("reverse", 0) != 0;
  return of_layer(c, p, p.input);
}

namespace detail {
inline op::compress compress_of(const call& c) {
  op::compress p{.input = c.dims(0), .element = c.type(0)};
  if (c.dims(1).size != 1) throw error("its condition " + text(c.dims(1)) + " is not a list");
  p.length = c.dims(1)[0];
  if (c.has_attribute("axis")) p.axis = call::axis(c.integer("axis", 0), p.input.size);
  p.kept = std::min(p.length, p.size());
  return p;
}

inline op::unique unique_of(const call& c) {
  op::unique p{.input = c.dims(0), .element = c.type(0)};
  if (c.has_attribute("axis")) p.axis = call::axis(c.integer("axis", 0), p.input.size);
  p.unsorted = c.integer("sorted", 1) == 0;
  p.wanted = std::clamp(c.outputs(), 1, 4);
  return p;
}
} // namespace detail

/// A condition that is known says how much is kept.
inline answer handle_compress(const call& c) {
  op::compress p = detail::compress_of(c);
  if (!c.constant(1)) throw error("its dims depend on what it reads when it runs");
  const std::vector<std::int64_t>& holds = c.whole_numbers(1);
  p.kept = std::count_if(holds.begin(), holds.end(), [](std::int64_t h) { return h != 0; });
  for (std::size_t i = static_cast<std::size_t>(p.size()); i < holds.size(); ++i)
    if (holds[i] != 0) throw error("its condition is longer than its input");
  p.validate();
  return of_layer(c, p, p.output());
}

inline answer handle_unique(const call& c) {
  const op::unique p = detail::unique_of(c);
  p.validate();
  const elements_of* x = detail::known(c, 0);
  if (x == nullptr || detail::has_nan(*x))
    throw error("its dims depend on what it reads when it runs");
  const detail::distinct d = detail::distinct_of(*x, p);
  const shape found{std::ssize(d.first)};
  answer a;
  a.outputs.push_back({c.element(0), d.values});
  for (int i = 1; i < p.wanted; ++i)
    a.outputs.push_back({proto::INT64, i == 2 ? shape{p.size()} : found});
  a.layer = p;
  return a;
}

} // namespace benanza::onnx
