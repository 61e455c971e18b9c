// SPDX-License-Identifier: Apache-2.0
// Batch normalization at inference for cuDNN: its four vectors folded to a scale and a shift, a
// multiplication and an addition a channel, which is what a network that is not trained runs.
//
//   recipes out;   describe(op::batch_norm{{1, 64, 56, 56}}, {}, {numeric::f16}, out);
#pragma once

#include "../../op/norm.hpp"
#include "frame.hpp"

namespace benanza::backend::cudnn {

/// Operands that are not the layer's own, but folded from them.
inline constexpr int folded_scale = 100, folded_shift = 101;

inline void describe(const op::batch_norm& p, const op::step_list& steps, const request& r,
                     recipes& out) {
  if (quantised(r.type) || p.input.size > 5) return;
  const int rank = p.input.size < 4 ? 4 : p.input.size;
  const shape x = widened(p.input, rank);
  shape channels = shape::filled(rank, 1);
  channels[1] = x[1];
  for (const layout l : cudnn_layouts) {
    if (l == layout::channels_last && p.input.size < 3) continue;
    frame f{.output = p.input, .dims = x, .in = l};
    f.core = [=](writer& to, int y) {
      const int source = to.operand(0, x, strides_in(l, x), to.source_type());
      const int scale = to.operand(folded_scale, channels, packed(channels), dtype::f32);
      to.graph.pointwise(CUDNN_POINTWISE_MUL, source, scale, y);
    };
    f.after.push_back([=](writer& to, int a, int y) {
      const int shift = to.operand(folded_shift, channels, packed(channels), dtype::f32);
      to.graph.pointwise(CUDNN_POINTWISE_ADD, a, shift, y);
      return true;
    });
    f.operands = 5;
    f.before = prefix_of(l);
    const std::string letters = activation_letters(l, p.input.size);
    f.layouts = letters + ',' + letters;
    f.operand_layouts = f.result_layout = name(l);
    write(f, steps, r, out);
  }
}

} // namespace benanza::backend::cudnn
