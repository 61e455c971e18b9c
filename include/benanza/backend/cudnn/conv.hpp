// SPDX-License-Identifier: Apache-2.0
// Convolutions for cuDNN: one to three spatial dims (one is two of which the first is one), groups,
// dilation, any pads, bias and steps behind them; transposed ones are the gradient by the source;
// and the gradient by the weights. In ONNX order and with channels last; channels that tensor cores
// do not take are padded too.
//
//   recipes out;   describe(op::conv{...}, {numeric::f16}, out);   // "", "nhwc:", "nhwc-c8:"
#pragma once

#include "frame.hpp"

namespace benanza::backend::cudnn {

namespace detail {
template <class Layer>
window window_of(const Layer& c) {
  window w;
  const int n = c.kernel.size;
  if (n == 1) {
    w.kernel.push(1), w.pre.push(0), w.post.push(0), w.strides.push(1), w.dilations.push(1);
  }
  for (int i = 0; i < n; ++i) {
    w.kernel.push(c.kernel[i]);
    w.pre.push(op::entry(c.pads, i, 0));
    w.post.push(op::entry(c.pads, i + n, 0));
    w.strides.push(op::entry(c.strides, i, 1));
    w.dilations.push(op::entry(c.dilations, i, 1));
  }
  return w;
}

inline int graph_rank(const shape& dims) {
  return dims.size < 4 ? 4 : dims.size;
}

/// Channels in whole blocks.
inline std::int64_t whole_blocks(std::int64_t channels, std::int64_t block) {
  return (channels + block - 1) / block * block;
}

/// How many channels a tensor core takes at once.
inline std::int64_t channel_block(numeric t) {
  switch (t) {
  case numeric::s8s8s8:
  case numeric::e4m3: return 16;
  case numeric::f16:
  case numeric::bf16: return 8;
  default: return 4;
  }
}

/// A convolution in a layout, channels padded to whole blocks of `block` (1: not padded).
inline frame conv_frame(const op::conv& c, const request& r, layout l, std::int64_t block) {
  const int rank = graph_rank(c.input);
  const shape x = widened(c.input, rank), w = widened(c.weights(), rank);
  frame f{.output = c.output(), .dims = widened(c.output(), rank), .in = l};
  shape px = x, pw = w;
  if (block > 1) {
    px[1] = pw[1] = whole_blocks(x[1], block);
    pw[0] = whole_blocks(w[0], block);
    if (pw[0] != f.dims[1]) {
      f.padded = f.dims;
      f.padded[1] = pw[0];
    }
  }
  const window over = window_of(c);
  f.core = [=](writer& to, int y) {
    const int source = to.padded_operand(0, x, px, strides_in(l, px), to.source_type());
    const int weights =
        to.padded_operand(1, w, pw, strides_in(l, pw), weights_of(to.asked().type), true);
    to.graph.convolution(source, weights, y, over, to.asked().accumulator());
  };
  f.operands = c.bias ? 3 : 2;
  if (c.bias) f.after.push_back(biased(2, c.outputs, pw[0]));
  f.adds_last = c.bias && !quantised(r.type);
  if (quantised(r.type)) {
    f.after.push_back(scaled());
    f.core_type = CUDNN_DATA_INT32;
  }
  f.before = block > 1 ? "nhwc-c" + std::to_string(block) + ':' : prefix_of(l);
  const std::string letters = activation_letters(l, c.input.size);
  f.layouts = letters + ',' + weight_letters(l, c.input.size) + ',' + letters;
  f.operand_layouts = px == x ? std::string(name(l)) : "";
  f.result_layout = f.padded.empty() ? std::string(name(l)) : "";
  return f;
}

inline frame transposed_frame(const op::conv_transpose& c, const request& r, layout l) {
  const int rank = graph_rank(c.input);
  const shape x = widened(c.input, rank), w = widened(c.weights(), rank);
  frame f{.output = c.output(), .dims = widened(c.output(), rank), .in = l};
  window over = window_of(c);
  // Output padding at the end shortens the end padding of the window.
  for (int i = 0; i < c.kernel.size; ++i)
    over.post[over.post.size - c.kernel.size + i] -= op::entry(c.output_pads, i, 0);
  f.core = [=](writer& to, int y) {
    const int source = to.operand(0, x, strides_in(l, x), to.source_type());
    const int weights = to.operand(1, w, strides_in(l, w), weights_of(to.asked().type), true);
    to.graph.transposed_convolution(source, weights, y, over, to.asked().accumulator());
  };
  f.operands = c.bias ? 3 : 2;
  if (c.bias) f.after.push_back(biased(2, c.outputs, c.outputs));
  f.adds_last = c.bias && !quantised(r.type);
  if (quantised(r.type)) {
    f.after.push_back(scaled());
    f.core_type = CUDNN_DATA_INT32;
  }
  f.before = prefix_of(l);
  const std::string letters = activation_letters(l, c.input.size);
  f.layouts = letters + ',' + weight_letters(l, c.input.size) + ',' + letters;
  f.operand_layouts = f.result_layout = name(l);
  return f;
}

inline frame gradient_frame(const op::conv_weight_gradient& c, layout l) {
  const int rank = graph_rank(c.input);
  const shape x = widened(c.input, rank), dy = widened(c.gradient(), rank);
  frame f{.output = c.output(), .dims = widened(c.output(), rank), .in = l, .operands = 2};
  f.core = [=, over = window_of(c)](writer& to, int dw) {
    const int source = to.operand(0, x, strides_in(l, x), to.source_type());
    const int gradient = to.operand(1, dy, strides_in(l, dy), weights_of(to.asked().type));
    to.graph.weight_gradient(source, gradient, dw, over, to.asked().accumulator());
  };
  f.before = prefix_of(l);
  const std::string letters = activation_letters(l, c.input.size);
  f.layouts = letters + ',' + letters + ',' + weight_letters(l, c.input.size);
  f.operand_layouts = f.result_layout = name(l);
  return f;
}
} // namespace detail

inline void describe(const op::conv& c, const op::step_list& steps, const request& r,
                     recipes& out) {
  for (const layout l : cudnn_layouts)
    write(detail::conv_frame(c, r, l, 1), steps, r, out);
  const std::int64_t block = detail::channel_block(r.type);
  if (c.groups == 1 && (c.input[1] % block != 0 || c.outputs % block != 0))
    write(detail::conv_frame(c, r, layout::channels_last, block), steps, r, out);
}

inline void describe(const op::conv_transpose& c, const op::step_list& steps, const request& r,
                     recipes& out) {
  for (const std::int64_t pad : detail::window_of(c).post)
    if (pad < 0) return;
  for (const layout l : cudnn_layouts)
    write(detail::transposed_frame(c, r, l), steps, r, out);
}

inline void describe(const op::conv_weight_gradient& c, const op::step_list& steps,
                     const request& r, recipes& out) {
  if (quantised(r.type)) return;
  for (const layout l : cudnn_layouts)
    write(detail::gradient_frame(c, l), steps, r, out);
}

} // namespace benanza::backend::cudnn
