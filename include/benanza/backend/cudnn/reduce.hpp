// SPDX-License-Identifier: Apache-2.0
// Reductions and softmax for cuDNN. A softmax is its textbook form, five operations that an engine
// compiled at run time fuses.
//
//   recipes out;   describe(op::softmax{.input = {1, 1000}, .axis = 1}, {}, {numeric::f32}, out);
#pragma once

#include "../../op/reduce.hpp"
#include "../../op/softmax.hpp"
#include "eltwise.hpp"

namespace benanza::backend::cudnn {

namespace detail {
/// The reduction, with what is done before and behind it; nothing where cuDNN has none.
struct reduction_parts {
  cudnnReduceTensorOp_t reduce;
  std::optional<op::unary_function> before{}, after{};
  bool squared = false;
};
inline std::optional<reduction_parts> parts_of(op::reduction f) {
  using enum op::reduction;
  using u = op::unary_function;
  switch (f) {
  case mean: return reduction_parts{CUDNN_REDUCE_TENSOR_AVG};
  case sum: return reduction_parts{CUDNN_REDUCE_TENSOR_ADD};
  case max: return reduction_parts{CUDNN_REDUCE_TENSOR_MAX};
  case min: return reduction_parts{CUDNN_REDUCE_TENSOR_MIN};
  case product: return reduction_parts{CUDNN_REDUCE_TENSOR_MUL};
  case l1: return reduction_parts{CUDNN_REDUCE_TENSOR_NORM1};
  case l2: return reduction_parts{CUDNN_REDUCE_TENSOR_NORM2};
  case sum_square: return reduction_parts{.reduce = CUDNN_REDUCE_TENSOR_ADD, .squared = true};
  case log_sum: return reduction_parts{.reduce = CUDNN_REDUCE_TENSOR_ADD, .after = u::log};
  case log_sum_exp:
    return reduction_parts{.reduce = CUDNN_REDUCE_TENSOR_ADD, .before = u::exp, .after = u::log};
  }
  return std::nullopt;
}
} // namespace detail

inline void describe(const op::reduce& p, const op::step_list& steps, const request& r,
                     recipes& out) {
  const dtype type = storage_of(p.element, r.type);
  const auto parts = detail::parts_of(p.function);
  if (!parts || p.element != dtype::real || quantised(r.type) || p.input.size > 5) return;
  const int rank = p.input.size < 4 ? 4 : p.input.size;
  const shape x = expanded(p.input, rank);
  frame f{.output = p.output(), .dims = expanded(p.output(), rank), .result = type};
  f.core = [=](writer& to, int y) {
    int at = to.operand(0, x, packed(x), type);
    if (parts->squared || parts->before) {
      const int next = to.graph.between(x, packed(x));
      if (parts->squared)
        to.graph.pointwise(CUDNN_POINTWISE_MUL, at, at, next);
      else
        add_function(to, *parts->before, at, next);
      at = next;
    }
    const int sum = parts->after ? to.between(y) : y;
    to.graph.reduction(parts->reduce, at, sum);
    if (parts->after) add_function(to, *parts->after, sum, y);
  };
  f.operand_layouts = f.result_layout = name(layout::plain);
  write(f, steps, r, out);
}

inline void describe(const op::softmax& p, const op::step_list& steps, const request& r,
                     recipes& out) {
  if (quantised(r.type)) return;
  const shape dims{1, elements(p.input, 0, p.axis), p.input[p.axis],
                   elements(p.input, p.axis + 1, p.input.size)};
  shape rows = dims;
  rows[2] = 1;
  frame f{.output = p.input, .dims = dims};
  f.core = [=](writer& to, int y) {
    const auto whole = [&] { return to.graph.between(dims, packed(dims)); };
    const auto row = [&] { return to.graph.between(rows, packed(rows)); };
    const int x = to.operand(0, dims, packed(dims), to.source_type());
    const int most = row(), less = whole(), raised = whole(), sum = row();
    to.graph.reduction(CUDNN_REDUCE_TENSOR_MAX, x, most);
    to.graph.pointwise(CUDNN_POINTWISE_SUB, x, most, less);
    to.graph.pointwise(CUDNN_POINTWISE_EXP, less, std::nullopt, raised);
    to.graph.reduction(CUDNN_REDUCE_TENSOR_ADD, raised, sum);
    if (!p.log) {
      to.graph.pointwise(CUDNN_POINTWISE_DIV, raised, sum, y);
      return;
    }
    const int log = row();
    to.graph.pointwise(CUDNN_POINTWISE_LOG, sum, std::nullopt, log);
    to.graph.pointwise(CUDNN_POINTWISE_SUB, less, log, y);
  };
  f.operand_layouts = f.result_layout = name(layout::plain);
  write(f, steps, r, out);
}

} // namespace benanza::backend::cudnn
