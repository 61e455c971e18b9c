// SPDX-License-Identifier: Apache-2.0
// One output of a convolution or a transposed convolution (ONNX Conv-11, ConvTranspose-11), summed
// in double over all channels of its group and all taps inside the input; or one element of the
// gradient by the weights, over all outputs whose tap is inside.
//
//   value(conv{...}, operands, 17)
#pragma once

#include "position.hpp"

namespace benanza::backend::reference {

/// The sum of products at an output, of inputs `source(i)` and weights `weight(i)`.
template <class Source, class Weight>
double products(const op::conv& p, std::int64_t flat, const Source& source, const Weight& weight) {
  const shape out = p.output();
  const window w(p, p.kernel, out);
  const std::int64_t spatial = elements(out, 2, out.size),
                     inside = elements(p.input, 2, p.input.size);
  const std::int64_t at = flat % spatial, m = flat / spatial % p.outputs;
  const std::int64_t n = flat / spatial / p.outputs, channels = p.input[1] / p.groups;
  const std::int64_t first = m / (p.outputs / p.groups) * channels;
  const std::int64_t o0 = at / (w.output[1] * w.output[2]), o1 = at / w.output[2] % w.output[1];
  const std::int64_t o2 = at % w.output[2];
  double sum = 0;
  for (std::int64_t tap = 0; tap < w.taps(); ++tap) {
    const std::int64_t k0 = tap / (w.kernel[1] * w.kernel[2]), k1 = tap / w.kernel[2] % w.kernel[1];
    const std::int64_t i0 = o0 * w.stride[0] - w.begin[0] + k0 * w.dilation[0];
    const std::int64_t i1 = o1 * w.stride[1] - w.begin[1] + k1 * w.dilation[1];
    const std::int64_t i2 = o2 * w.stride[2] - w.begin[2] + tap % w.kernel[2] * w.dilation[2];
    if (i0 < 0 || i0 >= w.input[0] || i1 < 0 || i1 >= w.input[1] || i2 < 0 || i2 >= w.input[2])
      continue;
    const std::int64_t x = (i0 * w.input[1] + i1) * w.input[2] + i2;
    for (std::int64_t c = 0; c < channels; ++c)
      sum += source((n * p.input[1] + first + c) * inside + x) *
             weight((m * channels + c) * w.taps() + tap);
  }
  return sum;
}

/// The channel that an output is in.
inline std::int64_t channel_of(const op::conv& p, std::int64_t flat) {
  const shape out = p.output();
  return flat / elements(out, 2, out.size) % p.outputs;
}

inline double value(const op::conv& p, const operands& o, std::int64_t flat) {
  const double sum = products(
      p, flat, [&](std::int64_t i) { return element(o, 0, i); },
      [&](std::int64_t i) { return element(o, 1, i); });
  return p.bias ? sum + element(o, 2, channel_of(p, flat)) : sum;
}

inline double value(const op::conv_transpose& p, const operands& o, std::int64_t flat) {
  const shape out = p.output();
  const window w(p, p.kernel, out);
  const std::int64_t spatial = elements(out, 2, out.size),
                     inside = elements(p.input, 2, p.input.size);
  const std::int64_t at = flat % spatial, m = flat / spatial % p.outputs;
  const std::int64_t n = flat / spatial / p.outputs, channels = p.input[1] / p.groups;
  const std::int64_t outputs = p.outputs / p.groups, first = m / outputs * channels;
  const std::int64_t place[3] = {at / (w.output[1] * w.output[2]), at / w.output[2] % w.output[1],
                                 at % w.output[2]};
  double sum = p.bias ? element(o, 2, m) : 0;
  for (std::int64_t tap = 0; tap < w.taps(); ++tap) {
    const std::int64_t k[3] = {tap / (w.kernel[1] * w.kernel[2]), tap / w.kernel[2] % w.kernel[1],
                               tap % w.kernel[2]};
    std::int64_t x = 0;
    bool reached = true;
    for (int d = 0; d < 3 && reached; ++d) {
      const std::int64_t from = place[d] + w.begin[d] - k[d] * w.dilation[d];
      reached = from >= 0 && from % w.stride[d] == 0 && from / w.stride[d] < w.input[d];
      x = x * w.input[d] + from / w.stride[d];
    }
    if (!reached) continue;
    for (std::int64_t c = first; c < first + channels; ++c)
      sum += element(o, 0, (n * p.input[1] + c) * inside + x) *
             element(o, 1, (c * outputs + m % outputs) * w.taps() + tap);
  }
  return sum;
}

inline double value(const op::conv_weight_gradient& p, const operands& o, std::int64_t flat) {
  const shape out = p.gradient();
  const window w(p, p.kernel, out);
  const std::int64_t spatial = elements(out, 2, out.size),
                     inside = elements(p.input, 2, p.input.size);
  const std::int64_t tap = flat % w.taps(), channels = p.input[1] / p.groups;
  const std::int64_t m = flat / w.taps() / channels;
  const std::int64_t c = m / (p.outputs / p.groups) * channels + flat / w.taps() % channels;
  const std::int64_t k[3] = {tap / (w.kernel[1] * w.kernel[2]), tap / w.kernel[2] % w.kernel[1],
                             tap % w.kernel[2]};
  double sum = 0;
  for (std::int64_t at = 0; at < spatial; ++at) {
    const std::int64_t place[3] = {at / (w.output[1] * w.output[2]), at / w.output[2] % w.output[1],
                                   at % w.output[2]};
    std::int64_t x = 0;
    bool reached = true;
    for (int d = 0; d < 3 && reached; ++d) {
      const std::int64_t from = place[d] * w.stride[d] - w.begin[d] + k[d] * w.dilation[d];
      reached = from >= 0 && from < w.input[d];
      x = x * w.input[d] + from;
    }
    if (!reached) continue;
    for (std::int64_t n = 0; n < p.input[0]; ++n)
      sum += element(o, 0, (n * p.input[1] + c) * inside + x) *
             element(o, 1, (n * p.outputs + m) * spatial + at);
  }
  return sum;
}

} // namespace benanza::backend::reference
