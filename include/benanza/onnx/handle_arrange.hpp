// SPDX-License-Identifier: Apache-2.0
// Operators that fill a tensor by place: Trilu-14, ReverseSequence-10, OneHot-9..11, and Hardmax
// as an ArgMax and a OneHot.
//
//   handle_trilu(call)   // Trilu/1x128x128-k1
#pragma once

#include "pieces.hpp"

namespace benanza::onnx {

inline answer handle_trilu(const call& c) {
  op::trilu p{.input = c.dims(0), .lower = c.integer("upper", 1) == 0, .element = c.type(0)};
  if (c.has(1)) {
    if (c.whole_numbers(1).size() != 1) throw error("its diagonal is not one number");
    p.k = c.whole_numbers(1)[0];
  }
  return of_layer(c, p, p.input);
}

inline answer handle_reverse_sequence(const call& c) {
  op::reverse_sequence p{.input = c.dims(0), .element = c.type(0)};
  const std::int64_t time = c.integer("time_axis", 0), batch = c.integer("batch_axis", 1);
  if (!(time == 0 && batch == 1) && !(time == 1 && batch == 0))
    throw error("its time_axis and batch_axis are not the first two");
  p.batch_first = batch == 0;
  p.validate();
  if (!(c.dims(1) == shape{p.batch()}))
    throw error("its lengths are " + text(c.dims(1)) + ", not one for each batch");
  return of_layer(c, p, p.input);
}

inline answer handle_one_hot(const call& c) {
  op::one_hot p{.indices = c.dims(0), .element = c.type(2)};
  const std::vector<double> depth = c.numbers(1);
  if (depth.size() != 1 || !(depth[0] >= 0) || !(depth[0] < static_cast<double>(dim_limit)))
    throw error("its depth is out of range");
  p.depth = static_cast<std::int64_t>(depth[0]);
  p.axis = call::axis(c.integer("axis", -1), p.indices.size + 1);
  if (benanza::elements(c.dims(2)) != 2) throw error("its values are not two");
  answer a;
  a.outputs.push_back({c.element(2), p.output()});
  const dtype index = c.element(0) == 0 ? dtype::s64 : c.type(0);
  if (index != dtype::s64 && index != dtype::s32 && index != dtype::real) return a;
  p.index = index == dtype::s64   ? op::one_hot_index::whole
            : index == dtype::s32 ? op::one_hot_index::narrow
                                  : op::one_hot_index::number;
  a.layer = p;
  return a;
}

/// Before opset 13 all dims from the axis on are one.
inline void expand_hardmax(pieces& p) {
  const shape x = p.of.dims(0);
  const bool flat = p.of.opset() < 13;
  int axis = call::axis(p.of.integer("axis", flat ? 1 : -1), x.size, flat);
  shape seen = x;
  pieces::name from = p.in(0);
  if (flat) {
    seen = {benanza::elements(x, 0, axis), benanza::elements(x, axis, x.size)};
    axis = 1;
    from = p.reshaped(from, seen);
  }
  const pieces::name place = p("ArgMax", {from}, {{"axis", axis}, {"keepdims", 0}});
  const pieces::name values = p("Cast", {p.whole({0, 1})}, {{"to", std::int64_t{p.of.element(0)}}});
  const pieces::name made = p("OneHot", {place, p.scalar(seen[axis]), values}, {{"axis", axis}});
  p.give(0, flat ? p.reshaped(made, x) : made);
}

} // namespace benanza::onnx
