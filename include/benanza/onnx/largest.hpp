// SPDX-License-Identifier: Apache-2.0
// How large can a result be whose size depends on what the model reads? NonZero finds every element
// at most, Compress and Unique keep all, NonMaxSuppression keeps as many boxes of each class as it
// may, TopK takes all of an axis. With such sizes everything behind them can be resolved.
//
//   std::optional<std::vector<result>> most = largest_results(call);   // NonZero of 1x8: 2x8
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
} // namespace detail

/// The largest results that a node can have; nothing where its operator is none of these.
inline std::optional<std::vector<result>> largest_results(const call& c) {
  const std::string& op = c.op();
  if (!detail::sized_by_values(op)) return std::nullopt;
  const shape& x = c.dims(0);
  const bool flat = !c.has_attribute("axis");
  const shape all{benanza::elements(x)};
  if (op == "NonZero") return {{{proto::INT64, shape{x.size, all[0]}}}};
  if (op == "NonMaxSuppression") {
    const std::int64_t classes = checked_multiply(x[0], c.dims(1)[1]);
    return {{{proto::INT64, shape{checked_multiply(classes, detail::most_boxes(c)), 3}}}};
  }
  if (op == "Compress") {
    if (flat) return {{{c.element(0), shape{std::min(all[0], benanza::elements(c.dims(1)))}}}};
    shape out = x;
    const int axis = call::axis(c.integer("axis", 0), x.size);
    out[axis] = std::min(out[axis], benanza::elements(c.dims(1)));
    return {{{c.element(0), out}}};
  }
  if (op == "TopK") {
    const shape out = x;
    return {{{c.element(0), out}, {proto::INT64, out}}};
  }
  const std::int64_t n = flat ? all[0] : x[call::axis(c.integer("axis", 0), x.size)];
  return {{{c.element(0), flat ? all : x},
           {proto::INT64, shape{n}},
           {proto::INT64, shape{n}},
           {proto::INT64, shape{n}}}};
}

/// The layer that gives as much.
inline std::optional<op::layer> largest_layer(const call& c) {
  const std::string& op = c.op();
  if (op == "NonZero") return op::non_zero{.input = c.dims(0), .element = c.type(0)};
  if (op == "Compress") return detail::compress_of(c);
  if (op == "Unique") return detail::unique_of(c);
  if (op == "TopK") {
    op::top_k p = detail::top_of(c, 0);
    p.k = p.input[p.axis];
    return p;
  }
  return std::nullopt;
}

} // namespace benanza::onnx
