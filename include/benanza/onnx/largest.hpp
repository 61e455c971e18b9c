// SPDX-License-Identifier: Apache-2.0
// How large can a result be whose size depends on what the model reads? NonZero finds every element
// at most, Compress and Unique keep all, NonMaxSuppression keeps as many boxes of each class as it
// may, TopK takes all of an axis. With such sizes, or with those that the caller knows, everything
// behind them can be resolved.
//
//   std::optional<std::vector<result>> most = largest_results(call);   // NonZero of 1x8: 2x8
//   largest_results(call, 3)                                           // where 3 are found: 2x3
#pragma once

#include "handle_select.hpp"

#include <algorithm>

namespace benanza::onnx {

namespace detail {
/// True for operators whose results' sizes follow from values.
inline bool sized_by_values(std::string_view op) {
  for (std::string_view o : {"NonZero", "NonMaxSuppression", "Unique", "Compress", "TopK"})
    if (op == o) return true;
  return false;
}

inline std::int64_t most_boxes(const call& c) {
  const shape& boxes = c.dims(0);
  if (boxes.size != 3 || c.dims(1).size != 3) throw error("its boxes are not a list for each item");
  if (!c.has(2)) return 0; // by definition
  const elements_of* e = c.constant(2) ? c.operand(2).elements() : nullptr;
  if (e != nullptr && e->real) throw error("its input 2 must hold whole numbers");
  const std::int64_t told = e == nullptr || e->size() != 1 ? boxes[1] : e->integers.at(0);
  return std::clamp<std::int64_t>(told, 0, boxes[1]);
}

/// The size that the caller knows, else the largest.
inline std::int64_t size_among(std::int64_t most, std::optional<std::int64_t> known) {
  if (known && *known > most)
    throw error("its size is " + std::to_string(most) + " at most, not " + std::to_string(*known));
  return known.value_or(most);
}
} // namespace detail

/// The largest results that a node can have, or those of a `known` size; nothing where its operator
/// is none of these.
inline std::optional<std::vector<result>>
largest_results(const call& c, std::optional<std::int64_t> known = std::nullopt) {
  const std::string& op = c.op();
  if (!detail::sized_by_values(op)) return std::nullopt;
  const shape& x = c.dims(0);
  const bool flat = !c.has_attribute("axis");
  const std::int64_t all = benanza::elements(x);
  const auto size = [&](std::int64_t most) { return detail::size_among(most, known); };
  if (op == "NonZero") return {{{proto::INT64, shape{x.size, size(all)}}}};
  if (op == "NonMaxSuppression") {
    const std::int64_t classes = checked_multiply(x[0], c.dims(1)[1]);
    return {{{proto::INT64, shape{size(checked_multiply(classes, detail::most_boxes(c))), 3}}}};
  }
  if (op == "Compress") {
    if (flat) return {{{c.element(0), shape{size(std::min(all, benanza::elements(c.dims(1))))}}}};
    shape out = x;
    const int axis = call::axis(c.integer("axis", 0), x.size);
    out[axis] = size(std::min(out[axis], benanza::elements(c.dims(1))));
    return {{{c.element(0), out}}};
  }
  shape out = flat && op == "Unique" ? shape{all} : x;
  const int axis = call::axis(c.integer("axis", op == "Unique" ? 0 : -1), out.size);
  const std::int64_t inverse = out[axis];
  out[axis] = size(out[axis]);
  if (op == "TopK") return {{{c.element(0), out}, {proto::INT64, out}}};
  return {{{c.element(0), out},
           {proto::INT64, shape{out[axis]}},
           {proto::INT64, shape{inverse}},
           {proto::INT64, shape{out[axis]}}}};
}

/// The layer that gives as much.
inline std::optional<op::layer> largest_layer(const call& c,
                                              std::optional<std::int64_t> known = std::nullopt) {
  const std::string& op = c.op();
  if (op == "NonZero") return op::non_zero{.input = c.dims(0), .element = c.type(0)};
  if (op == "Compress") {
    op::compress p = detail::compress_of(c);
    if (known) p.kept = *known;
    return p;
  }
  if (op == "Unique") return detail::unique_of(c);
  if (op == "TopK") {
    op::top_k p = detail::top_of(c, 0);
    p.k = detail::size_among(p.input[p.axis], known);
    return p;
  }
  return std::nullopt;
}

} // namespace benanza::onnx
