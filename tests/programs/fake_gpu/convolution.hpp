// SPDX-License-Identifier: Apache-2.0
// What does a convolution of cuDNN compute, and what are its gradients? In f64, by the definition.
//
//   dense y = convolve(x, w, dense(y_dims), window_of(convolution_bag));
#pragma once

#include "product.hpp"

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

enum class direction { forward, data, filter };

/// The settings of a convolution and the dims of its operands and its result.
inline std::vector<std::int64_t> settings_of(direction d, const dense& a, const dense& b,
                                             const dense& y, const window& over) {
  std::vector<std::int64_t> out{static_cast<std::int64_t>(d)};
  for (const dims* part : {&a.size, &b.size, &y.size, &over.pre, &over.strides, &over.dilations})
    out.insert(out.end(), part->begin(), part->end());
  return out;
}

/// As products of matrices: the filter, and what each place of the result sees, a part of them at a
/// time.
inline dense convolved(const dense& x, const dense& w, dense y, const window& over) {
  constexpr std::int64_t part = 1024; // places at a time
  const dims in = spatial(x.size), out = spatial(y.size), kernel = spatial(w.size);
  const std::int64_t ins = product(in), outs = product(out), elements = product(kernel);
  const std::int64_t inputs = w.size[1], groups = x.size[1] / inputs;
  const std::int64_t outputs = w.size[0] / groups, terms = inputs * elements;
  std::vector<std::vector<tap>> taps;
  each_window(in, out, kernel, over,
              [&](std::int64_t, const auto& its) { taps.emplace_back(its); });
  for (std::int64_t image = 0; image < y.size[0]; ++image)
    for (std::int64_t g = 0; g < groups; ++g)
      for (std::int64_t from = 0; from < outs; from += part) {
        const std::int64_t places = std::min(part, outs - from);
        dense seen({terms, places}), sums({outputs, places});
        const double* const source = x.at.data() + (image * x.size[1] + g * inputs) * ins;
        for (std::int64_t c = 0; c < inputs; ++c)
          for (std::int64_t o = 0; o < places; ++o)
            for (const tap& t : taps[static_cast<std::size_t>(from + o)])
              seen[(c * elements + t.element) * places + o] = source[c * ins + t.place];
        multiply(w.at.data() + g * outputs * terms, seen.at.data(), sums.at.data(), outputs, places,
                 terms);
        for (std::int64_t k = 0; k < outputs; ++k)
          std::copy_n(sums.at.data() + k * places, places,
                      y.at.data() + (image * y.size[1] + g * outputs + k) * outs + from);
      }
  return y;
}

inline dense scattered(const dense& dy, const dense& w, dense dx, const window& over) {
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

inline dense gathered(const dense& x, const dense& dy, dense dw, const window& over) {
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

/// A convolution of `x`; `y` gives the dims and holds zeros.
inline dense convolve(const dense& x, const dense& w, dense y, const window& over) {
  return cached().result({bytes(x.at), bytes(w.at)}, settings_of(direction::forward, x, w, y, over),
                         [&] { return convolved(x, w, std::move(y), over); });
}
/// The gradient of a convolution by its source; `dx` gives the dims and holds zeros.
inline dense scatter(const dense& dy, const dense& w, dense dx, const window& over) {
  return cached().result({bytes(dy.at), bytes(w.at)}, settings_of(direction::data, dy, w, dx, over),
                         [&] { return scattered(dy, w, std::move(dx), over); });
}
/// The gradient of a convolution by its weights; `dw` gives the dims and holds zeros.
inline dense gradient(const dense& x, const dense& dy, dense dw, const window& over) {
  return cached().result({bytes(x.at), bytes(dy.at)},
                         settings_of(direction::filter, x, dy, dw, over),
                         [&] { return gathered(x, dy, std::move(dw), over); });
}

} // namespace fake::detail
