// SPDX-License-Identifier: Apache-2.0
// Windows that are taken apart and put together: columns summed into an image (ONNX Col2Im-18),
// convolution whose taps are moved by offsets (DeformConv-19..22), maxima put back where they were
// (MaxUnpool-9..22).
//
//   col2im{.image = {1, 3, 8, 8}, .kernel = {2, 2}, .strides = {2, 2}}     key: 1x3x8x8-2x2-s2
//   deform_conv{.input = {1, 8, 9, 9}, .outputs = 4, .kernel = {3, 3}, .mask = true}
//   key: 1x8x9x9-4x3x3-s1-mask
//   max_unpool{.input = {1, 1, 2, 2}, .unpooled = {1, 1, 4, 4}}            key: 1x1x2x2-1x1x4x4
#pragma once

#include "conv.hpp"

namespace benanza::op {

struct col2im {
  shape image{}; ///< the output: N, C, then one to three spatial dims
  extents kernel{};
  extents strides{};
  paddings pads{};
  extents dilations{};

  static constexpr std::optional<col2im> of(std::string_view family) {
    return family == "Col2Im" ? std::optional(col2im{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "Col2Im"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("image", image);
    a.dims("kernel", kernel);
    const int n = kernel.size;
    a.tagged("strides", "s", strides, n, 1, true);
    a.tagged("pads", "p", pads, 2 * n, 0);
    a.tagged("dilations", "d", dilations, n, 1);
  }
  constexpr void validate() const {
    check_window(image, kernel, strides, pads, dilations);
    check_dims(input());
    (void)cost();
  }
  constexpr std::int64_t taps() const {
    std::int64_t n = 1;
    for (std::int64_t k : kernel)
      n = checked_multiply(n, k);
    return n;
  }
  /// Windows along each dim.
  constexpr extents blocks() const {
    extents out;
    for (int i = 0; i < kernel.size; ++i)
      out.push(window_output(image[i + 2], kernel[i], entry(strides, i, 1), entry(dilations, i, 1),
                             entry(pads, i, 0), entry(pads, i + kernel.size, 0), false));
    return out;
  }
  constexpr shape input() const {
    std::int64_t windows = 1;
    for (std::int64_t n : blocks())
      windows = checked_multiply(windows, n);
    return {image[0], checked_multiply(image[1], taps()), windows};
  }
  constexpr shape output() const { return image; }
  constexpr work cost() const {
    work w = moved(dtype::real, elements(input()), elements(image));
    w.other = w.sources;
    return w;
  }
  constexpr col2im canonical_form() const {
    col2im c = *this;
    c.strides = canonical(strides, 1);
    c.pads = canonical(pads, 0);
    c.dilations = used_dilations(kernel, dilations);
    return c;
  }
  constexpr bool operator==(const col2im&) const = default;
};

struct deform_conv {
  shape input{};
  std::int64_t outputs = 0;
  extents kernel{};
  extents strides{};
  paddings pads{};
  extents dilations{};
  std::int64_t groups = 1;
  std::int64_t offset_groups = 1; ///< parts of the channels, each with offsets of its own
  bool bias = false;
  bool mask = false; ///< taps are weighed too

  static constexpr std::optional<deform_conv> of(std::string_view family) {
    return family == "DeformConv" ? std::optional(deform_conv{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "DeformConv"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.count_and_dims("outputs", outputs, "kernel", kernel);
    const int n = kernel.size;
    a.tagged("strides", "s", strides, n, 1, true);
    a.tagged("pads", "p", pads, 2 * n, 0);
    a.tagged("dilations", "d", dilations, n, 1);
    a.number("groups", "g", groups, 1);
    a.number("offset_groups", "og", offset_groups, 1);
    a.flag("bias", "b", bias);
    a.flag("mask", "mask", mask);
  }
  constexpr void validate() const {
    check_window(input, kernel, strides, pads, dilations);
    if (kernel.size != 2) throw error("a DeformConv takes two spatial dims");
    detail::check_channels(input[1], outputs, groups);
    if (offset_groups < 1 || input[1] % offset_groups != 0)
      throw error("a DeformConv's channels do not divide into its groups of offsets");
    if (input[2] < 1 || input[3] < 1) throw error("a DeformConv takes images of 1 or more");
    check_dims(output());
    check_dims(offsets());
    (void)cost();
  }
  /// The same without offsets.
  constexpr conv plain() const {
    return {.input = input,
            .outputs = outputs,
            .kernel = kernel,
            .strides = strides,
            .pads = pads,
            .dilations = dilations,
            .groups = groups,
            .bias = bias};
  }
  constexpr shape output() const { return plain().output(); }
  constexpr shape weights() const { return plain().weights(); }
  constexpr std::int64_t taps() const { return checked_multiply(kernel[0], kernel[1]); }
  constexpr shape masks() const {
    const shape out = output();
    return {input[0], checked_multiply(offset_groups, taps()), out[2], out[3]};
  }
  /// Two for each tap: down, then right.
  constexpr shape offsets() const {
    shape s = masks();
    s[1] = checked_multiply(2, s[1]);
    return s;
  }
  /// A convolution's, and each tap of each channel is interpolated of four elements.
  constexpr work cost() const {
    work w = plain().cost();
    w.sources += elements(offsets()) + (mask ? elements(masks()) : 0);
    const shape out = output();
    const std::int64_t places = checked_multiply(checked_multiply(out[0], out[2]), out[3]);
    const std::int64_t sampled = checked_multiply(checked_multiply(places, input[1]), taps());
    w.other += checked_multiply(sampled, mask ? 8 : 7);
    return w;
  }
  constexpr deform_conv canonical_form() const {
    deform_conv c = *this;
    c.strides = canonical(strides, 1);
    c.pads = canonical(pads, 0);
    c.dilations = used_dilations(kernel, dilations);
    return c;
  }
  constexpr bool operator==(const deform_conv&) const = default;
};

struct max_unpool {
  shape input{};
  shape unpooled{}; ///< what places count in
  shape result{};   ///< the output, of which `unpooled` is the begin along each dim

  static constexpr std::optional<max_unpool> of(std::string_view family) {
    return family == "MaxUnpool" ? std::optional(max_unpool{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "MaxUnpool"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.dims("unpooled", unpooled);
    a.dims_or("result", result, unpooled);
  }
  constexpr void validate() const {
    if (input.size < 3 || unpooled.size != input.size || result.size != input.size)
      throw error("a MaxUnpool names other numbers of dims than it has");
    check_dims(input);
    check_dims(unpooled);
    check_dims(result);
    for (int i = 0; i < input.size; ++i)
      if (unpooled[i] > result[i]) throw error("a MaxUnpool gives less than it puts back");
    if (elements(input) > elements(unpooled))
      throw error("a MaxUnpool puts back more than there are places");
    (void)cost();
  }
  constexpr shape output() const { return result; }
  constexpr shape index_bounds() const { return {elements(unpooled)}; }
  constexpr work cost() const {
    work w = moved(dtype::real, elements(input), elements(result));
    w.fixed_bytes = checked_multiply(8, w.sources);
    return w;
  }
  constexpr max_unpool canonical_form() const { return *this; }
  constexpr bool operator==(const max_unpool&) const = default;
};

} // namespace benanza::op
