// SPDX-License-Identifier: Apache-2.0
// What does a convolution of cuDNN compute, and what are its gradients? In f64, by the definition.
//
//   dense y = convolve(x, w, dense(y_dims), window_of(convolution_bag));
#pragma once

#include "tensor.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace fake::detail {

inline dims spatial(const dims& d) {
  return {d.begin() + 2, d.end()};
}

/// A window that moves over spatial dims.
struct window {
  dims pre, strides, dilations;
};
inline window window_of(const bag& convolution) {
  if (convolution.one(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CONVOLUTION) !=
      CUDNN_CROSS_CORRELATION)
    throw not_understood("a convolution that flips its filter");
  return {convolution.numbers(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS),
          convolution.numbers(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
          convolution.numbers(CUDNN_ATTR_CONVOLUTION_DILATIONS)};
}
/// A place of the larger side that a window covers, and the filter's element there.
struct tap {
  std::int64_t place, element;
};
/// Calls `f` with each place of the smaller side and the taps of its window.
template <class F>
void each_window(const dims& large, const dims& small, const dims& kernel, const window& w, F&& f) {
  std::vector<tap> taps;
  each_index(small, [&](const dims& o, std::int64_t number) {
    taps.clear();
    each_index(kernel, [&](const dims& k, std::int64_t element) {
      std::int64_t place = 0;
      for (std::size_t d = 0; d < large.size(); ++d) {
        const std::int64_t i = o[d] * w.strides[d] - w.pre[d] + k[d] * w.dilations[d];
        if (i < 0 || i >= large[d]) return;
        place = place * large[d] + i;
      }
      taps.push_back({place, element});
    });
    f(number, std::as_const(taps));
  });
}
/// Calls `f` with the planes of each pair of channels that a filter joins: of the large and the
/// small side, and of the filter.
template <class F>
void each_channel_pair(const dense& large, const dense& small, const dense& filter, F&& f) {
  const std::int64_t inputs = filter.size[1], outputs = filter.size[0];
  const std::int64_t groups = large.size[1] / inputs;
  for (std::int64_t n = 0; n < small.size[0]; ++n)
    for (std::int64_t k = 0; k < outputs; ++k)
      for (std::int64_t c = 0; c < inputs; ++c) {
        const std::int64_t group = k / (outputs / groups);
        f(n * large.size[1] + group * inputs + c, n * outputs + k, k * inputs + c);
      }
}

/// A convolution of `x`; `y` gives the dims and holds zeros.
inline dense convolve(const dense& x, const dense& w, dense y, const window& over) {
  const dims in = spatial(x.size), out = spatial(y.size), kernel = spatial(w.size);
  const std::int64_t ins = product(in), outs = product(out), elements = product(kernel);
  each_window(in, out, kernel, over, [&](std::int64_t o, const auto& taps) {
    each_channel_pair(x, y, w, [&](std::int64_t c, std::int64_t k, std::int64_t f) {
      double sum = 0;
      for (const tap& t : taps)
        sum += x[c * ins + t.place] * w[f * elements + t.element];
      y[k * outs + o] += sum;
    });
  });
  return y;
}

/// The gradient of a convolution by its source; `dx` gives the dims and holds zeros.
inline dense scatter(const dense& dy, const dense& w, dense dx, const window& over) {
  const dims in = spatial(dx.size), out = spatial(dy.size), kernel = spatial(w.size);
  const std::int64_t ins = product(in), outs = product(out), elements = product(kernel);
  each_window(in, out, kernel, over, [&](std::int64_t o, const auto& taps) {
    each_channel_pair(dx, dy, w, [&](std::int64_t c, std::int64_t k, std::int64_t f) {
      for (const tap& t : taps)
        dx[c * ins + t.place] += dy[k * outs + o] * w[f * elements + t.element];
    });
  });
  return dx;
}

/// The gradient of a convolution by its weights; `dw` gives the dims and holds zeros.
inline dense gradient(const dense& x, const dense& dy, dense dw, const window& over) {
  const dims in = spatial(x.size), out = spatial(dy.size), kernel = spatial(dw.size);
  const std::int64_t ins = product(in), outs = product(out), elements = product(kernel);
  each_window(in, out, kernel, over, [&](std::int64_t o, const auto& taps) {
    each_channel_pair(x, dy, dw, [&](std::int64_t c, std::int64_t k, std::int64_t f) {
      for (const tap& t : taps)
        dw[f * elements + t.element] += dy[k * outs + o] * x[c * ins + t.place];
    });
  });
  return dw;
}

} // namespace fake::detail
