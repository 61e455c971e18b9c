// SPDX-License-Identifier: Apache-2.0
// One output of a fused layer: that of its base, scaled if the type is quantised, and then the
// steps in their order. Joined operands come after the base's own.
//
//   value(fused<conv>{.base = ..., .steps = {unary_function::relu}}, operands, 17)
#pragma once

#include "../../op/kinds.hpp"
#include "conv.hpp"
#include "eltwise.hpp"
#include "gemm.hpp"
#include "norm.hpp"

namespace benanza::backend::reference {

template <class Base>
double value(const op::fused<Base>& p, const operands& o, std::int64_t flat) {
  double v = o.output_scale * value(p.base, o, flat);
  std::size_t joined = o.inputs.size();
  for (const op::step& s : p.steps)
    joined -= s.joins;
  const shape place = place_of(p.output(), flat);
  for (const op::step& s : p.steps)
    v = s.joins ? function_value(s.join, v,
                                 element(o, joined++, broadcast_index(p.operand_of(s), place)))
                : function_value(s.function, v, o.attributes);
  return v;
}

/// A change of layout changes no value.
inline double value(const op::reorder&, const operands& o, std::int64_t flat) {
  return element(o, 0, flat);
}

/// True for layers that apply the output scale themselves.
inline bool scales_itself(const op::layer& l) {
  return op::visit([](const auto& p) { return op::is_fused<std::decay_t<decltype(p)>>; }, l);
}

} // namespace benanza::backend::reference
