// SPDX-License-Identifier: Apache-2.0
// Operators that read or write where indices say: GatherElements-11..13, GatherND-11..13,
// ScatterElements-11..18 (Scatter-9 before), ScatterND-11..18, TensorScatter-24.
//
//   handle_indexing(call)   // ScatterND/1x512x64-1x3x2-add
#pragma once

#include "call.hpp"

namespace benanza::onnx {

namespace detail {
inline op::scatter_reduction scatter_reduction_of(const call& c) {
  const std::string_view word = c.word("reduction", "none");
  for (std::size_t i = 0; i < std::size(op::scatter_names); ++i)
    if (op::scatter_names[i] == word) return static_cast<op::scatter_reduction>(i);
  throw error("its reduction is " + in_quotes(word) + ", which no layer has");
}
} // namespace detail

inline answer handle_indexing(const call& c) {
  op::indexing p = *op::indexing::of(c.op() == "Scatter" ? "ScatterElements" : c.op());
  p.data = c.dims(0);
  p.indices = c.dims(1);
  p.element = c.type(0);
  if (c.element(1) != 0) p.index = c.type(1);
  if (p.of_elements()) p.axis = call::axis(c.integer("axis", 0), p.data.size);
  if (p.function == op::indexing_function::gather_nd) {
    const std::int64_t shared = c.integer("batch_dims", 0);
    if (shared < 0 || shared >= p.data.size) throw error("its batch_dims are not there");
    p.batch_dims = static_cast<int>(shared);
  }
  if (p.scatters()) p.reduction = detail::scatter_reduction_of(c);
  p.validate();
  if (p.scatters() && !(c.dims(2) == p.taken()))
    throw error("its updates are " + text(c.dims(2)) + ", not " + text(p.taken()));
  return of_layer(c, p, p.output());
}

inline answer handle_tensor_scatter(const call& c) {
  op::tensor_scatter p{.cache = c.dims(0), .offsets = c.has(2), .element = c.type(0)};
  p.axis = call::axis(c.integer("axis", -2), p.cache.size);
  const shape& update = c.dims(1);
  if (update.size != p.cache.size)
    throw error("its update " + text(update) + " does not fit its cache " + text(p.cache));
  p.length = update[p.axis];
  const std::string_view mode = c.word("mode", "linear");
  if (mode != "linear" && mode != "circular")
    throw error("its mode is " + detail::in_quotes(mode) + ", which no layer has");
  p.circular = mode == "circular";
  p.validate();
  if (!(update == p.updates()))
    throw error("its update " + text(update) + " does not fit its cache " + text(p.cache));
  if (p.offsets && (!(c.dims(2) == shape{p.cache[0]}) || c.type(2) != dtype::s64))
    throw error("its write_indices are not an int64 for each batch");
  return of_layer(c, p, p.cache);
}

} // namespace benanza::onnx
