// SPDX-License-Identifier: Apache-2.0
// Normalizations of each image by itself for cuDNN. InstanceNormalization is one operation, in
// ONNX's order and with channels last. GroupNormalization has a mode of its own in the library's
// headers, and no engine for it on any GPU (9.19, asked for A100, H200 and B200); nor is there one
// for a normalization over groups with each channel's scale behind it. It is offered only where
// each channel is a group: that is the other.
//
//   recipes out;   describe(op::instance_norm{{1, 32, 224, 224}}, {}, {numeric::f16}, out);
#pragma once

#include "../../op/group_norm.hpp"
#include "layer_norm.hpp"

namespace benanza::backend::cudnn {

inline void describe(const op::instance_norm& p, const op::step_list&, const request& r,
                     recipes& out) {
  if (quantised(r.type) || p.input.size > 5) return;
  const int rank = p.input.size < 4 ? 4 : p.input.size;
  shape channels = shape::filled(rank, 1);
  channels[1] = p.input[1];
  for (const layout l : cudnn_layouts) {
    frame f{.output = p.input, .dims = widened(p.input, rank), .in = l, .operands = 3};
    f.core = [=](writer& to, int y) {
      detail::add_normalization(to, {CUDNN_INSTANCE_NORM, channels, true}, l, y);
    };
    f.before = prefix_of(l);
    const std::string letters = activation_letters(l, p.input.size);
    f.layouts = letters + ',' + letters;
    f.operand_layouts = f.result_layout = name(l);
    write(f, {}, r, out);
  }
}

inline void describe(const op::group_norm& p, const op::step_list& steps, const request& r,
                     recipes& out) {
  if (p.groups == p.input[1] && p.input.size > 2)
    describe(op::instance_norm{.input = p.input}, steps, r, out);
}

} // namespace benanza::backend::cudnn
