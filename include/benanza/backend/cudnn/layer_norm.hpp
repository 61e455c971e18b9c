// SPDX-License-Identifier: Apache-2.0
// Normalizations of rows for cuDNN (LayerNormalization, RMSNormalization): one operation at
// inference, behind that of a sum where rows are those of one. All dims before a row are merged to
// images, those of the row to channels: the same numbers in the same memory, as the library's
// engines want them.
//
//   recipes out;   describe(op::layer_norm{{1, 197, 768}, 2, true}, {}, {numeric::f16}, out);
#pragma once

#include "../../op/residual.hpp"
#include "../operands.hpp"
#include "frame.hpp"

namespace benanza::backend::cudnn {

namespace detail {
/// A normalization by the statistics of its own source: parameters have the dims `parameters`.
struct own_statistics {
  cudnnBackendNormMode_t mode = CUDNN_LAYER_NORM;
  shape parameters{};
  bool bias = false;
  int addend = 0;        ///< the operand that is added to the source; 0: none
  bool sum_read = false; ///< by others: it is the second result
};

/// Its operation, from operand 0 to `y`, whose dims are the source's.
inline void add_normalization(writer& to, const own_statistics& n, layout l, int y) {
  const tensor_facts f = to.graph.facts(y);
  norm_tensors t{.y = y};
  t.x = to.operand(0, f.dims, f.strides, to.source_type());
  if (n.addend > 0) {
    const int other = to.operand(n.addend, f.dims, f.strides, to.source_type());
    const int sum = n.sum_read ? to.operand(placed::second, f.dims, f.strides, to.result_type())
                               : to.between(y);
    to.graph.pointwise(CUDNN_POINTWISE_ADD, std::exchange(t.x, sum), other, sum);
  }
  const shape strides = strides_in(l, n.parameters);
  t.scale = to.operand(1, n.parameters, strides, to.vector_type());
  if (n.bias) t.bias = to.operand(2, n.parameters, strides, to.vector_type());
  t.epsilon = to.number(f.dims.size, static_cast<float>(attribute::epsilon));
  to.graph.normalization(n.mode, t);
}

/// Rows one after the other, each of `row` elements; of a sum, where there is one.
inline void describe_rows(const shape& input, std::int64_t row, cudnnBackendNormMode_t mode,
                          bool bias, const request& r, recipes& out, bool adds = false,
                          bool sum_read = false) {
  if (quantised(r.type)) return;
  const int own = bias ? 3 : 2;
  frame f{.output = input,
          .dims = {elements(input) / row, row, 1, 1},
          .in = layout::channels_last,
          .operands = own + adds,
          .layouts = "ab,ab"};
  f.core = [=](writer& to, int y) {
    add_normalization(to, {mode, {1, row, 1, 1}, bias, adds ? own : 0, sum_read},
                      layout::channels_last, y);
  };
  f.operand_layouts = f.result_layout = name(layout::plain);
  write(f, {}, r, out);
}
} // namespace detail

inline void describe(const op::layer_norm& p, const op::step_list&, const request& r,
                     recipes& out) {
  detail::describe_rows(p.input, p.row(), CUDNN_LAYER_NORM, p.bias, r, out);
}

inline void describe(const op::rms_norm& p, const op::step_list&, const request& r, recipes& out) {
  detail::describe_rows(p.input, p.row(), CUDNN_RMS_NORM, false, r, out);
}

/// The sum is an operation before the normalization, and written where others read it.
template <class Norm>
void describe(const op::residual<Norm>& p, const op::step_list&, const request& r, recipes& out) {
  constexpr bool centred = std::is_same_v<Norm, op::layer_norm>;
  bool bias = false;
  if constexpr (centred) bias = p.base.bias;
  detail::describe_rows(p.base.input, p.row(), centred ? CUDNN_LAYER_NORM : CUDNN_RMS_NORM, bias, r,
                        out, true, p.sum);
}

} // namespace benanza::backend::cudnn
