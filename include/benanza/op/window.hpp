// SPDX-License-Identifier: Apache-2.0
// Where are a sliding window's outputs? The spatial arithmetic that convolution and pooling share:
// output dims (ONNX Conv-11, MaxPool-12, AveragePool-19), auto_pad resolved to plain pads. Empty
// lists mean the default everywhere: stride 1, dilation 1, pad 0.
//
//   window_output(224, 7, 2, 1, 3, 3, false) == 112
#pragma once

#include "../core/shape.hpp"

#include <cstdint>

namespace benanza::op {

/// ONNX `auto_pad`.
enum class auto_pad : std::uint8_t { notset, valid, same_upper, same_lower };

/// Entry `i` of a list in which empty means `fallback` everywhere.
template <int N>
constexpr std::int64_t entry(const list<N>& values, int i, std::int64_t fallback) {
  return values.empty() ? fallback : values[i];
}

/// `values`, or the empty list if it says `fallback` everywhere: the one way to write it.
template <int N>
constexpr list<N> canonical(const list<N>& values, std::int64_t fallback) {
  return values.all(fallback) ? list<N>{} : values;
}

/// Refuses a list that has neither `count` entries nor none, and entries outside [least, 2^40].
template <int N>
constexpr void check_entries(const list<N>& values, int count, std::int64_t least) {
  if (!values.empty() && values.size != count)
    throw error("strides, dilations or pads do not match the spatial dims");
  for (std::int64_t v : values)
    if (v < least || v > dim_limit)
      throw error("a kernel, stride, dilation or pad is too small or over 2^40");
}

/// Refuses what no window over the spatial dims of `input` can be. ONNX has no negative pads here.
constexpr void check_window(const shape& input, const extents& kernel, const extents& strides,
                            const paddings& pads, const extents& dilations) {
  const int n = kernel.size;
  if (n < 1 || input.size != n + 2) throw error("a window takes one to three spatial dims");
  check_dims(input);
  check_entries(kernel, n, 1);
  check_entries(strides, n, 1);
  check_entries(pads, 2 * n, 0);
  check_entries(dilations, n, 1);
}

/// Dilations, with those of one-tap kernels, which mean nothing, set to 1.
constexpr extents used_dilations(const extents& kernel, const extents& dilations) {
  extents out = dilations;
  for (int i = 0; i < out.size && i < kernel.size; ++i)
    if (kernel[i] == 1) out[i] = 1;
  return canonical(out, 1);
}

/// Input elements that a dilated kernel of `kernel` taps spans.
constexpr std::int64_t window_span(std::int64_t kernel, std::int64_t dilation) {
  if (kernel < 1) throw error("a window's kernel must be 1 or more");
  return checked_multiply(kernel - 1, dilation) + 1;
}

/// Outputs of a window along one dim. With `ceil` a last partial window counts, unless it would
/// start in the end padding (the rule of ONNX opset 22, and of the frameworks before it).
constexpr std::int64_t window_output(std::int64_t input, std::int64_t kernel, std::int64_t stride,
                                     std::int64_t dilation, std::int64_t pad_begin,
                                     std::int64_t pad_end, bool ceil) {
  if (kernel < 1 || stride < 1 || dilation < 1)
    throw error("a window's kernel, stride and dilation must be 1 or more");
  if (input < 0 || pad_begin < 0 || pad_end < 0 || input > dim_limit || stride > dim_limit ||
      pad_begin > dim_limit || pad_end > dim_limit)
    throw error("a window's input, stride or pad is negative or over 2^40");
  const std::int64_t room = input + pad_begin + pad_end - window_span(kernel, dilation);
  if (room < 0) throw error("a window is larger than its padded input");
  std::int64_t out = (ceil ? room + stride - 1 : room) / stride + 1;
  if (ceil && (out - 1) * stride >= input + pad_begin) --out;
  return out;
}

/// How many of `input` places along one dim a window's `outputs` read at least: all that they span,
/// but for a stride that steps over some. Of a dilated window whose outputs overlap not more is
/// said than what one of its taps reads.
constexpr std::int64_t window_reads(std::int64_t input, std::int64_t kernel, std::int64_t stride,
                                    std::int64_t dilation, std::int64_t pad_begin,
                                    std::int64_t outputs) {
  // Places that a tap at `at` of the first output reads with all outputs.
  const auto by_tap = [&](std::int64_t at) {
    const std::int64_t before = at < 0 ? (-at + stride - 1) / stride : 0; // outputs left of it
    const std::int64_t last = input - 1 - at;                             // as far as it may step
    const std::int64_t inside = last < 0 ? 0 : last / stride + 1;
    const std::int64_t up_to = inside < outputs ? inside : outputs;
    return up_to > before ? up_to - before : 0;
  };
  if (outputs < 1 || input < 1) return 0;
  const std::int64_t span = window_span(kernel, dilation);
  if (stride >= span) { // no two outputs read the same
    constexpr std::int64_t most_taps = 4096;
    if (kernel > most_taps) return by_tap(0 - pad_begin);
    std::int64_t places = 0;
    for (std::int64_t k = 0; k < kernel; ++k)
      places += by_tap(k * dilation - pad_begin);
    return places;
  }
  if (dilation == 1 || (stride == 1 && outputs >= dilation)) { // without a gap
    const std::int64_t end = (outputs - 1) * stride + span - pad_begin;
    return end < 0 ? 0 : end < input ? end : input;
  }
  return by_tap(0 - pad_begin);
}

/// Elements of `input` (N x C x spatial) that no output of a window over it reads.
template <class Window>
constexpr std::int64_t unread_by(const Window& w) {
  std::int64_t read = checked_multiply(w.input[0], w.input[1]);
  const shape out = w.output();
  for (int i = 0; i < w.kernel.size; ++i)
    read = checked_multiply(read, window_reads(w.input[i + 2], w.kernel[i], entry(w.strides, i, 1),
                                               entry(w.dilations, i, 1), entry(w.pads, i, 0),
                                               out[i + 2]));
  return elements(w.input) - read;
}

/// Pads in ONNX order (begins, then ends) that `mode` means. `notset` gives back `pads`.
constexpr paddings resolve_auto_pad(auto_pad mode, const shape& input, const extents& kernel,
                                    const extents& strides, const extents& dilations,
                                    const paddings& pads) {
  if (mode == auto_pad::notset) return pads;
  paddings out = paddings::filled(2 * kernel.size, 0);
  if (mode == auto_pad::valid) return out;
  check_window(input, kernel, strides, {}, dilations);
  for (int i = 0; i < kernel.size; ++i) {
    const std::int64_t stride = entry(strides, i, 1), in = input[i + 2];
    const std::int64_t outputs = (in + stride - 1) / stride;
    std::int64_t total =
        (outputs - 1) * stride + window_span(kernel[i], entry(dilations, i, 1)) - in;
    if (total < 0) total = 0;
    const std::int64_t less = total / 2, more = total - less;
    out[i] = mode == auto_pad::same_upper ? less : more;
    out[i + kernel.size] = mode == auto_pad::same_upper ? more : less;
  }
  return out;
}

} // namespace benanza::op
