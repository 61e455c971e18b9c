// SPDX-License-Identifier: Apache-2.0
// Which layer is a node whose result's dims only a run of the model decides, once somebody says
// them: the caller, or the file? Of a Slice, a Pad or a Resize its dims are all that its cost
// depends on.
//
//   as_said(call, {1, 40, 64})   // Slice/1x128x64-1x40x64
#pragma once

#include "handle_expand.hpp"
#include "handle_move.hpp"
#include "handle_resize.hpp"

#include <optional>

namespace benanza::onnx {

namespace detail {
/// Numbers that follow from few, written out: as cheap as one that is repeated.
inline answer written_out(int element, const shape& dims) {
  answer a;
  a.outputs.push_back({element, dims});
  a.layer = op::expand{.input = {1}, .sizes = dims, .element = to_dtype(element)};
  return a;
}
} // namespace detail

/// What a node is whose first result has those dims. Refuses dims that its operands do not allow;
/// nothing for an operator of which more than its result's dims decide.
inline std::optional<answer> as_said(const call& c, const shape& dims) {
  const std::string& op = c.op();
  if (op == "Range") {
    if (dims.size != 1) throw error("it gives one dim, not " + text(dims));
    return detail::written_out(c.element(0), dims);
  }
  if (op == "ConstantOfShape") {
    const auto* value = c.attribute("value");
    return detail::written_out(value ? value->t().data_type() : int{proto::FLOAT}, dims);
  }
  if (op == "Reshape") {
    if (benanza::elements(dims) != benanza::elements(c.dims(0)))
      throw error("it makes " + text(dims) + " of " + text(c.dims(0)) +
                  ", another number of elements");
    return detail::of_view(c, op::view_function::reshape, dims);
  }
  if (op == "Expand" || op == "Tile") {
    const op::expand p{.input = c.dims(0), .sizes = dims, .tile = op == "Tile"};
    p.validate();
    return detail::repeated(c, p);
  }
  if (op == "Slice") {
    const op::slice p{.input = c.dims(0), .sizes = dims, .element = c.type(0)};
    p.validate();
    return of_layer(c, p, dims);
  }
  if (op == "Pad") {
    op::pad p{.input = c.dims(0), .element = c.type(0)};
    if (dims.size != p.input.size) throw error("it gives as many dims as it gets");
    p.begins = p.ends = shape::filled(dims.size, 0);
    for (int i = 0; i < dims.size; ++i)
      p.ends[i] = dims[i] - p.input[i];
    p.mode = detail::pad_mode_of(c);
    p.validate();
    return of_layer(c, p, dims);
  }
  if (op == "Resize" || op == "Upsample") {
    op::resize p = detail::resize_of(c);
    p.sizes = dims;
    p.validate();
    return of_layer(c, p, dims);
  }
  return std::nullopt;
}

} // namespace benanza::onnx
