// SPDX-License-Identifier: Apache-2.0
// Which layer is a convolution or a pooling of cuDNN? Its tensors and windows, put together as ONNX
// has them: groups follow from the channels, a transposed convolution is the gradient of one, a
// pooling over everything is a global one, and one that yields more than the rule says rounds up.
//
//   conv_layer(x, w, {.pads = {1, 1, 1, 1}, .strides = {1, 1}, .dilations = {1, 1}}, false)
#pragma once

#include "cudnn_descriptors.hpp"
#include "product.hpp"

#include <cstdint>
#include <optional>

namespace benanza::trace {

/// How a window moves.
struct window {
  paddings pads{};
  extents strides{}, dilations{};
};

namespace detail {
inline extents spatial(const shape& dims) {
  extents out;
  for (int i = 2; i < dims.size && out.size < 3; ++i)
    out.push(dims[i]);
  return out;
}

inline bool windowed(const shape& x, const shape& w) {
  return x.size == w.size && x.size >= 3 && x.size <= 5;
}
} // namespace detail

/// The convolution of `x` with the filter `w`.
inline std::optional<op::conv> conv_of(const shape& x, const shape& w, const window& how,
                                       bool bias) {
  if (!detail::windowed(x, w) || w[1] < 1 || x[1] % w[1] != 0) return std::nullopt;
  return op::conv{.input = x,
                  .outputs = w[0],
                  .kernel = detail::spatial(w),
                  .strides = how.strides,
                  .pads = how.pads,
                  .dilations = how.dilations,
                  .groups = x[1] / w[1],
                  .bias = bias};
}

/// The transposed convolution of `dy` with the filter `w` that yields `dx`.
inline std::optional<op::layer> transposed_layer(const shape& dy, const shape& w, const shape& dx,
                                                 const window& how) {
  if (!detail::windowed(dy, w) || dx.size != dy.size || w[1] < 1 || dx[1] % w[1] != 0)
    return std::nullopt;
  op::conv_transpose c{.input = dy,
                       .outputs = dx[1],
                       .kernel = detail::spatial(w),
                       .strides = how.strides,
                       .pads = how.pads,
                       .dilations = how.dilations,
                       .groups = dx[1] / w[1]};
  const shape least = c.output();
  for (int i = 0; i < c.kernel.size; ++i)
    c.output_pads.push(dx[i + 2] - least[i + 2]);
  return checked_layer(c);
}

/// The pooling of `x` to `y`.
inline std::optional<op::layer> pool_layer(bool maximum, bool include_pad, const shape& x,
                                           const shape& y, const extents& kernel,
                                           const window& how) {
  if (x.size != kernel.size + 2 || y.size != x.size) return std::nullopt;
  bool all = how.pads.all(0);
  for (int i = 0; i < kernel.size; ++i)
    all = all && kernel[i] == x[i + 2] && y[i + 2] == 1;
  using f = op::pooling;
  if (all)
    return checked_layer(
        op::pool{.function = maximum ? f::global_max : f::global_average, .input = x});
  op::pool p{.function = maximum ? f::max : f::average,
             .input = x,
             .kernel = kernel,
             .strides = how.strides,
             .pads = how.pads,
             .include_pad = include_pad};
  p.ceil = p.output() != y;
  if (p.output() != y) return std::nullopt;
  return checked_layer(p);
}

} // namespace benanza::trace
