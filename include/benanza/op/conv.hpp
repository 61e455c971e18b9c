// SPDX-License-Identifier: Apache-2.0
// Convolution and transposed convolution (ONNX Conv-11, ConvTranspose-11), one to three spatial
// dims, with groups, dilation and asymmetric pads. Weights are constant: they are prepared before
// timing. In: N x C x spatial. Multiply-accumulates are counted on every tap, pads included.
//
//   conv{.input = {1, 64, 56, 56}, .outputs = 64, .kernel = {3, 3}, .pads = {1, 1, 1, 1}}
//   key: 1x64x56x56-64x3x3-s1-p1
#pragma once

#include "key.hpp"
#include "window.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

namespace detail {
constexpr void check_channels(std::int64_t inputs, std::int64_t outputs, std::int64_t groups) {
  if (inputs < 1 || outputs < 1 || outputs > dim_limit)
    throw error("a convolution takes 1 to 2^40 input and output channels");
  if (groups < 1 || inputs % groups != 0 || outputs % groups != 0)
    throw error("a convolution's channels do not divide into its groups");
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

  /// Floating-point operations on real input: taps that lie in the padding are left out, as direct
  /// algorithms leave them out. `cost()` counts them, as papers do.
  constexpr std::int64_t direct_flops() const {
    const work w = cost();
    std::int64_t taps = 1, all = 1; // summed over the outputs, along each dim
    const shape out = output();
    for (int i = 0; i < kernel.size; ++i) {
      std::int64_t inside = 0;
      for (std::int64_t k = 0; k < kernel[i]; ++k) {
        // Outputs o with 0 <= o * stride - pad + k * dilation < input.
        const std::int64_t stride = entry(strides, i, 1);
        const std::int64_t at = k * entry(dilations, i, 1) - entry(pads, i, 0);
        const std::int64_t first = at >= 0 ? 0 : (-at + stride - 1) / stride;
        const std::int64_t room = input[i + 2] - 1 - at;
        const std::int64_t last = room < 0 ? -1 : room / stride;
        const std::int64_t end = last + 1 < out[i + 2] ? last + 1 : out[i + 2];
        inside += end > first ? end - first : 0;
      }
      taps = checked_multiply(taps, inside);
      all = checked_multiply(all, checked_multiply(out[i + 2], kernel[i]));
    }
    return all == 0 ? 0 : 2 * checked_multiply(w.macs / all, taps) + w.other;
  }

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

} // namespace benanza::op
