// SPDX-License-Identifier: Apache-2.0
// Reductions for cuDNN's graph API: one operation whose result is f32, with no other behind it. For
// other reductions there is a call (calls.hpp).
//
//   recipes out;   describe(op::reduce{.function = op::reduction::sum, ...}, {}, {}, out);
#pragma once

#include "../../op/reduce.hpp"
#include "eltwise.hpp"

namespace benanza::backend::cudnn {

namespace detail {
/// The reduction, with a function before it; nothing where cuDNN has none.
struct reduction_parts {
  cudnnReduceTensorOp_t reduce = CUDNN_REDUCE_TENSOR_ADD;
  std::optional<op::unary_function> before{};
  bool squared = false; ///< before
};
inline std::optional<reduction_parts> parts_of(op::reduction f) {
  using enum op::reduction;
  switch (f) {
  case sum: return reduction_parts{};
  case max: return reduction_parts{.reduce = CUDNN_REDUCE_TENSOR_MAX};
  case min: return reduction_parts{.reduce = CUDNN_REDUCE_TENSOR_MIN};
  case product: return reduction_parts{.reduce = CUDNN_REDUCE_TENSOR_MUL};
  case l1: return reduction_parts{.before = op::unary_function::abs};
  case sum_square: return reduction_parts{.squared = true};
  default: return std::nullopt;
  }
}
} // namespace detail

inline void describe(const op::reduce& p, const op::step_list& steps, const request& r,
                     recipes& out) {
  const dtype type = storage_of(p.element, r.type);
  const auto parts = detail::parts_of(p.function);
  if (!parts || type != dtype::f32 || p.input.size > 5) return;
  const int rank = p.input.size < 4 ? 4 : p.input.size;
  const shape x = expanded(p.input, rank);
  frame f{.output = p.output(), .dims = expanded(p.output(), rank), .turned = true, .result = type};
  f.core = [=](writer& to, int y) {
    int at = to.turned_operand(0, x, type);
    if (parts->squared || parts->before) {
      const int next = to.between(at);
      if (parts->squared)
        to.graph.pointwise(CUDNN_POINTWISE_MUL, at, at, next);
      else
        add_function(to, *parts->before, at, next);
      at = next;
    }
    to.graph.reduction(parts->reduce, at, y);
  };
  f.operand_layouts = f.result_layout = name(layout::plain);
  write(f, steps, r, out);
}

} // namespace benanza::backend::cudnn
