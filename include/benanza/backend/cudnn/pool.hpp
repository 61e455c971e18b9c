// SPDX-License-Identifier: Apache-2.0
// Poolings for cuDNN, which calls them resampling. Global ones have a window as large as their
// input. Windows that ONNX rounds up reach further into the padding.
//
//   recipes out;   describe(op::pool{.function = op::pooling::max, ...}, {}, {}, out);
#pragma once

#include "../../op/pool.hpp"
#include "frame.hpp"

namespace benanza::backend::cudnn {

namespace detail {
using fractions = std::vector<cudnnFraction_t>;

inline fractions whole(const shape& values) {
  fractions out;
  for (std::int64_t v : values)
    out.push_back({v, 1});
  return out;
}

/// What a resampling computes over the spatial dims.
struct resampling {
  cudnnResampleMode_t mode;
  shape kernel{};
  fractions pre{}, post{}, strides{};
  cudnnPaddingMode_t padding = CUDNN_ZERO_PAD;
};

inline frame resample_frame(const shape& input, const shape& output, layout l,
                            const resampling& s) {
  const int rank = input.size < 4 ? 4 : input.size;
  const shape x = widened(input, rank);
  frame f{.output = output, .dims = widened(output, rank), .in = l};
  f.core = [=](writer& to, int y) {
    const int source = to.operand(0, x, strides_in(l, x), to.source_type());
    to.graph.resample(s.mode, source, y, s.kernel, s.pre, s.post, s.strides, s.padding);
  };
  f.before = prefix_of(l);
  const std::string letters = activation_letters(l, input.size);
  f.layouts = letters + ',' + letters;
  f.operand_layouts = f.result_layout = name(l);
  return f;
}

/// The window of a pooling; nothing where cuDNN has no such.
inline std::optional<resampling> pooling_of(const op::pool& p) {
  if (p.norm() || p.element != dtype::real) return std::nullopt;
  const int n = p.input.size - 2;
  shape kernel, pre, post, strides;
  if (n == 1) kernel.push(1), pre.push(0), post.push(0), strides.push(1);
  const shape out = p.output();
  bool grown = false;
  for (int i = 0; i < n; ++i) {
    const std::int64_t in = p.input[i + 2];
    const std::int64_t taps = p.global() ? in : p.kernel[i];
    const std::int64_t stride = p.global() ? 1 : op::entry(p.strides, i, 1);
    const std::int64_t begin = p.global() ? 0 : op::entry(p.pads, i, 0);
    const std::int64_t end = p.global() ? 0 : op::entry(p.pads, i + n, 0);
    if (!p.global() && op::entry(p.dilations, i, 1) != 1) return std::nullopt;
    // As far as the last window reaches.
    const std::int64_t reached = (out[i + 2] - 1) * stride + taps - in - begin;
    grown = grown || reached > end;
    kernel.push(taps), pre.push(begin), strides.push(stride);
    post.push(reached > end ? reached : end);
  }
  if (grown && p.include_pad) return std::nullopt; // ONNX does not count what was rounded up
  resampling s{.mode = p.maximum()     ? CUDNN_RESAMPLE_MAXPOOL
                       : p.include_pad ? CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING
                                       : CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING,
               .kernel = kernel,
               .pre = whole(pre),
               .post = whole(post),
               .strides = whole(strides)};
  const bool padded = !pre.all(0) || !post.all(0);
  if (!p.maximum() && !padded) s.mode = CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING;
  if (p.maximum()) s.padding = CUDNN_NEG_INF_PAD;
  return s;
}
} // namespace detail

inline void describe(const op::pool& p, const op::step_list& steps, const request& r,
                     recipes& out) {
  const auto s = detail::pooling_of(p);
  if (!s) return;
  for (const layout l : cudnn_layouts)
    write(detail::resample_frame(p.input, p.output(), l, *s), steps, r, out);
}

} // namespace benanza::backend::cudnn
