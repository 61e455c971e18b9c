// SPDX-License-Identifier: Apache-2.0
// Convolution and transposed convolution (ONNX Conv-11, ConvTranspose-11), one to three spatial
// dims, with groups, dilation and asymmetric pads. Weights are constant: they are prepared before
// timing. In: N x C x spatial. Multiply-accumulates are counted on every tap, pads included. A
// training step also has the gradient by the weights; that by the source is ConvTranspose.
//
//   conv{.input = {1, 64, 56, 56}, .outputs = 64, .kernel = {3, 3}, .pads = {1, 1, 1, 1}}
//   key: 1x64x56x56-64x3x3-s1-p1
#pragma once

#include "key.hpp"
#include "window.hpp"
#include "work.hpp"

#include <cstdint>
#include <optional>

namespace benanza::op {

namespace detail {
constexpr void check_channels(std::int64_t inputs, std::int64_t outputs, std::int64_t groups) {
  if (inputs < 1 || outputs < 1 || outputs > dim_limit)
    throw error("a convolution takes 1 to 2^40 input and output channels");
  if (groups < 1 || inputs % groups != 0 || outputs % groups != 0)
    throw error("a convolution's channels do not divide into its groups");
}

/// The sum of floor((a * i + b) / m) over i from 0 to n - 1, by the steps of Euclid's algorithm.
constexpr std::int64_t floor_sum(std::int64_t n, std::int64_t m, std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  while (n > 0) {
    if (a >= m) sum += n * (n - 1) / 2 * (a / m);
    if (b >= m) sum += n * (b / m);
    const std::int64_t last = a % m * n + b % m;
    n = last / m;
    b = last % m;
    const std::int64_t rest = a % m;
    a = m;
    m = rest;
  }
  return sum;
}

/// How many pairs of an output o < outs and a tap k < taps have o * stride + k * dilation <= most.
constexpr std::int64_t pairs_up_to(std::int64_t most, std::int64_t outs, std::int64_t stride,
                                   std::int64_t taps, std::int64_t dilation) {
  if (most < 0) return 0;
  const auto smaller = [](std::int64_t a, std::int64_t b) { return a < b ? a : b; };
  const std::int64_t with_any = smaller(taps, most / dilation + 1);
  const std::int64_t beyond = most - (outs - 1) * stride; // the last output has taps up to there
  const std::int64_t with_all = beyond < 0 ? 0 : smaller(with_any, beyond / dilation + 1);
  const std::int64_t others = with_any - with_all;
  return with_all * outs + others +
         floor_sum(others, stride, dilation, most - (with_any - 1) * dilation);
}
} // namespace detail

/// ONNX Conv with every attribute resolved.
struct conv {
  shape input{};            ///< N, C, then one to three spatial dims
  std::int64_t outputs = 0; ///< output channels
  extents kernel{};         ///< taps along each spatial dim
  extents strides{};        ///< empty: 1
  paddings pads{};          ///< ONNX order, begins then ends; empty: 0
  extents dilations{};      ///< empty: 1
  std::int64_t groups = 1;
  bool bias = false;

  static constexpr std::optional<conv> of(std::string_view family) {
    return family == "Conv" ? std::optional(conv{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "Conv"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.count_and_dims("outputs", outputs, "kernel", kernel);
    const int n = kernel.size;
    a.tagged("strides", "s", strides, n, 1, true);
    a.tagged("pads", "p", pads, 2 * n, 0);
    a.tagged("dilations", "d", dilations, n, 1);
    a.number("groups", "g", groups, 1);
    a.flag("bias", "b", bias);
  }

  /// Refuses what no convolution can be.
  constexpr void validate() const {
    check_window(input, kernel, strides, pads, dilations);
    detail::check_channels(input[1], outputs, groups);
    check_dims(output());
    (void)cost();
  }

  constexpr shape output() const {
    shape out{input[0], outputs};
    for (int i = 0; i < kernel.size; ++i)
      out.push(window_output(input[i + 2], kernel[i], entry(strides, i, 1), entry(dilations, i, 1),
                             entry(pads, i, 0), entry(pads, i + kernel.size, 0), false));
    return out;
  }

  /// Weights as ONNX stores them: M x C/groups x kernel.
  constexpr shape weights() const {
    shape w{outputs, input[1] / groups};
    for (std::int64_t k : kernel)
      w.push(k);
    return w;
  }

  /// Floating-point operations on real input: taps that are in the padding are left out, as direct
  /// algorithms leave them out. `cost()` counts them, as papers do.
  constexpr std::int64_t direct_flops() const {
    const work w = cost();
    std::int64_t taps = 1, all = 1; // summed over the outputs, along each dim
    const shape out = output();
    for (int i = 0; i < kernel.size; ++i) {
      all = checked_multiply(all, checked_multiply(out[i + 2], kernel[i]));
      // A tap reads input where pad <= o * stride + k * dilation < pad + input.
      const auto up_to = [&](std::int64_t most) {
        return detail::pairs_up_to(most, out[i + 2], entry(strides, i, 1), kernel[i],
                                   entry(dilations, i, 1));
      };
      const std::int64_t before = entry(pads, i, 0);
      taps = checked_multiply(taps, up_to(before + input[i + 2] - 1) - up_to(before - 1));
    }
    return all == 0 ? 0 : 2 * checked_multiply(w.macs / all, taps) + w.other;
  }

  /// Elements of the source that are never read: a stride larger than the kernel steps over them.
  constexpr std::int64_t unread() const { return unread_by(*this); }

  constexpr work cost() const {
    work w;
    w.sources = elements(input);
    w.weights = elements(weights());
    w.vectors = bias ? outputs : 0;
    w.results = elements(output());
    w.macs = checked_multiply(w.results, w.weights / outputs);
    w.other = bias ? w.results : 0;
    return w;
  }

  /// One way to write each convolution: lists that say the default everywhere become empty.
  constexpr conv canonical_form() const {
    conv c = *this;
    c.strides = canonical(strides, 1);
    c.pads = canonical(pads, 0);
    c.dilations = used_dilations(kernel, dilations);
    return c;
  }
  constexpr bool operator==(const conv&) const = default;
};

/// ONNX ConvTranspose with every attribute resolved.
struct conv_transpose {
  shape input{};
  std::int64_t outputs = 0;
  extents kernel{};
  extents strides{};
  paddings pads{};
  extents dilations{};
  extents output_pads{}; ///< added to the end of each output dim; empty: 0
  std::int64_t groups = 1;
  bool bias = false;

  static constexpr std::optional<conv_transpose> of(std::string_view family) {
    return family == "ConvTranspose" ? std::optional(conv_transpose{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "ConvTranspose"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.count_and_dims("outputs", outputs, "kernel", kernel);
    const int n = kernel.size;
    a.tagged("strides", "s", strides, n, 1, true);
    a.tagged("pads", "p", pads, 2 * n, 0);
    a.tagged("dilations", "d", dilations, n, 1);
    a.tagged("output_pads", "op", output_pads, n, 0);
    a.number("groups", "g", groups, 1);
    a.flag("bias", "b", bias);
  }

  constexpr void validate() const {
    check_window(input, kernel, strides, pads, dilations);
    check_entries(output_pads, kernel.size, 0);
    detail::check_channels(input[1], outputs, groups);
    for (std::int64_t d : output())
      if (d < 1) throw error("a transposed convolution's output is empty");
    check_dims(output());
    (void)cost();
  }

  constexpr shape output() const {
    shape out{input[0], outputs};
    const int n = kernel.size;
    for (int i = 0; i < n; ++i) {
      const std::int64_t more = entry(output_pads, i, 0), begin = entry(pads, i, 0),
                         end = entry(pads, i + n, 0);
      check_dims({input[i + 2], more, begin, end});
      out.push(checked_multiply(input[i + 2] - 1, entry(strides, i, 1)) +
               window_span(kernel[i], entry(dilations, i, 1)) + more - begin - end);
    }
    return out;
  }

  /// Weights as ONNX stores them: C x M/groups x kernel.
  constexpr shape weights() const {
    shape w{input[1], outputs / groups};
    for (std::int64_t k : kernel)
      w.push(k);
    return w;
  }

  constexpr work cost() const {
    work w;
    w.sources = elements(input);
    w.weights = elements(weights());
    w.vectors = bias ? outputs : 0;
    w.results = elements(output());
    w.macs = checked_multiply(w.sources, w.weights / input[1]);
    w.other = bias ? w.results : 0;
    return w;
  }

  constexpr conv_transpose canonical_form() const {
    conv_transpose c = *this;
    c.strides = canonical(strides, 1);
    c.pads = canonical(pads, 0);
    c.dilations = used_dilations(kernel, dilations);
    c.output_pads = canonical(output_pads, 0);
    return c;
  }
  constexpr bool operator==(const conv_transpose&) const = default;
};

/// The gradient of a convolution by its weights, from its source and the gradient by its output
/// (the operands, in this order). No ONNX operator: it is measured where a list names it.
struct conv_weight_gradient {
  shape input{}; ///< of the convolution, as its other parameters
  std::int64_t outputs = 0;
  extents kernel{};
  extents strides{};
  paddings pads{};
  extents dilations{};
  std::int64_t groups = 1;

  static constexpr std::optional<conv_weight_gradient> of(std::string_view family) {
    return family == "ConvWeightGradient" ? std::optional(conv_weight_gradient{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "ConvWeightGradient"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.count_and_dims("outputs", outputs, "kernel", kernel);
    const int n = kernel.size;
    a.tagged("strides", "s", strides, n, 1, true);
    a.tagged("pads", "p", pads, 2 * n, 0);
    a.tagged("dilations", "d", dilations, n, 1);
    a.number("groups", "g", groups, 1);
  }

  /// The convolution whose weights these are the gradient of.
  constexpr conv forward() const {
    return {.input = input,
            .outputs = outputs,
            .kernel = kernel,
            .strides = strides,
            .pads = pads,
            .dilations = dilations,
            .groups = groups};
  }
  constexpr void validate() const {
    forward().validate();
    if (elements(gradient()) == 0) throw error("a convolution without output has no gradient");
  }
  constexpr shape output() const { return forward().weights(); }
  /// Dims of the gradient by the convolution's output.
  constexpr shape gradient() const { return forward().output(); }
  constexpr std::int64_t direct_flops() const { return forward().direct_flops(); }

  constexpr work cost() const {
    const work of = forward().cost();
    work w;
    w.sources = of.sources + of.results;
    w.results = of.weights;
    w.macs = of.macs;
    return w;
  }

  constexpr conv_weight_gradient canonical_form() const {
    conv_weight_gradient c = *this;
    c.strides = canonical(strides, 1);
    c.pads = canonical(pads, 0);
    c.dilations = used_dilations(kernel, dilations);
    return c;
  }
  constexpr bool operator==(const conv_weight_gradient&) const = default;
};

} // namespace benanza::op
