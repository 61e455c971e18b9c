// SPDX-License-Identifier: Apache-2.0
// Convolutions and poolings: ONNX Conv-1..22, ConvTranspose-1..22, MaxPool-1..22,
// AveragePool-1..22, LpPool-2..22 and the global ones; DeformConv-19..22, Col2Im-18 and
// MaxUnpool-9..22. auto_pad and output_shape become plain pads.
//
//   handle_conv(call)   // Conv/1x64x56x56-64x3x3-s1-p1, output 1x64x56x56
#pragma once

#include "call.hpp"

namespace benanza::onnx {

namespace detail {
/// What all windows have in common, from the attributes.
struct window_attributes {
  extents kernel{}, strides{}, dilations{};
  paddings pads{};
  op::auto_pad mode = op::auto_pad::notset;
};

inline op::auto_pad auto_pad_of(const call& c) {
  const std::string_view mode = c.word("auto_pad", "NOTSET");
  if (mode == "NOTSET" || mode.empty()) return op::auto_pad::notset;
  if (mode == "VALID") return op::auto_pad::valid;
  if (mode == "SAME_UPPER") return op::auto_pad::same_upper;
  if (mode == "SAME_LOWER") return op::auto_pad::same_lower;
  throw error("its auto_pad is " + in_quotes(mode) + ", which ONNX does not know");
}

inline extents extents_of(const call& c, std::string_view name, int count) {
  const std::vector<std::int64_t> values = c.integers(name);
  if (!values.empty() && static_cast<int>(values.size()) != count)
    throw error("its " + std::string(name) + " do not match the spatial dims");
  return to_list<extents>(values);
}

inline window_attributes window_of(const call& c, const shape& input, const extents& kernel) {
  window_attributes w;
  const int n = kernel.size;
  if (n < 1 || input.size != n + 2)
    throw error("its window has " + std::to_string(n) + " dims, its input " + text(input));
  w.kernel = kernel;
  w.strides = extents_of(c, "strides", n);
  w.dilations = extents_of(c, "dilations", n);
  w.mode = auto_pad_of(c);
  const std::vector<std::int64_t> pads = c.integers("pads");
  if (!pads.empty() && static_cast<int>(pads.size()) != 2 * n)
    throw error("its pads do not match the spatial dims");
  if (w.mode == op::auto_pad::notset) w.pads = to_list<paddings>(pads);
  return w;
}

inline void check_spatial(const shape& s) {
  if (s.size < 3 || s.size > 5)
    throw error("its input " + text(s) + " does not have one to three spatial dims");
}

/// Kernel dims from the weights, which the attribute must repeat if it is there.
inline extents kernel_of(const call& c, const shape& weights) {
  extents kernel;
  for (int i = 2; i < weights.size; ++i)
    kernel.push(weights[i]);
  const std::vector<std::int64_t> given = c.integers("kernel_shape");
  if (!given.empty() && !std::equal(given.begin(), given.end(), kernel.begin(), kernel.end()))
    throw error("its kernel_shape differs from its weights, " + text(weights));
  return kernel;
}

inline void check_bias(const call& c, std::int64_t outputs, int bias = 2) {
  if (c.has(bias) && !(c.dims(bias) == shape{outputs}))
    throw error("its bias is " + text(c.dims(bias)) + ", not " + std::to_string(outputs));
}

/// The convolution of the first operand; `weights_at` and `bias_at` are the others' places.
inline op::conv conv_of(const call& c, int weights_at, int bias_at) {
  const shape &x = c.dims(0), &weights = c.dims(weights_at);
  check_spatial(x);
  if (weights.size != x.size)
    throw error("its weights " + text(weights) + " do not fit its input " + text(x));
  const auto w = window_of(c, x, kernel_of(c, weights));
  op::conv p{.input = x, .outputs = weights[0], .kernel = w.kernel};
  p.strides = w.strides;
  p.dilations = w.dilations;
  p.groups = c.integer("group", 1);
  p.bias = c.has(bias_at);
  p.pads = op::resolve_auto_pad(w.mode, x, w.kernel, w.strides, w.dilations, w.pads);
  p.validate();
  if (p.input[1] / p.groups != weights[1])
    throw error("its weights " + text(weights) + " do not fit its input " + text(x));
  check_bias(c, p.outputs, bias_at);
  return p;
}
} // namespace detail

inline answer handle_conv(const call& c) {
  const op::conv p = detail::conv_of(c, 1, 2);
  return of_layer(c, p, p.output());
}

inline answer handle_conv_transpose(const call& c) {
  const shape &x = c.dims(0), &weights = c.dims(1);
  detail::check_spatial(x);
  if (weights.size != x.size || weights[0] != x[1])
    throw error("its weights " + text(weights) + " do not fit its input " + text(x));
  const auto w = detail::window_of(c, x, detail::kernel_of(c, weights));
  const int n = w.kernel.size;
  op::conv_transpose p{.input = x, .kernel = w.kernel};
  p.strides = w.strides;
  p.dilations = w.dilations;
  p.output_pads = detail::extents_of(c, "output_padding", n);
  p.groups = c.integer("group", 1);
  p.bias = c.has(2);
  p.pads = w.mode == op::auto_pad::notset ? w.pads : paddings{};
  if (p.groups < 1 || p.groups > dim_limit) throw error("its group is less than 1 or too large");
  p.outputs = checked_multiply(weights[1], p.groups);

  std::vector<std::int64_t> wanted = c.integers("output_shape");
  if (static_cast<int>(wanted.size()) == n + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  const bool same = w.mode == op::auto_pad::same_upper || w.mode == op::auto_pad::same_lower;
  if (!wanted.empty() || same) {
    p.pads = {};
    p.validate();
    if (wanted.empty())
      for (int i = 0; i < n; ++i)
        wanted.push_back(checked_multiply(x[i + 2], op::entry(p.strides, i, 1)));
    if (static_cast<int>(wanted.size()) != n)
      throw error("its output_shape does not match the spatial dims");
    const shape unpadded = p.output();
    p.pads = paddings::filled(2 * n, 0);
    if (p.output_pads.empty()) p.output_pads = extents::filled(n, 0);
    for (int i = 0; i < n; ++i) {
      const std::int64_t want = wanted[static_cast<std::size_t>(i)];
      if (want < 1 || want > dim_limit) throw error("its output_shape holds a dim out of range");
      const std::int64_t total = unpadded[i + 2] - want;
      if (total < 0) { // more is wanted than there is: it is added at the end
        p.output_pads[i] -= total;
        continue;
      }
      const std::int64_t half = total / 2;
      p.pads[i] = w.mode == op::auto_pad::same_upper ? half : total - half;
      p.pads[i + n] = total - p.pads[i];
    }
  }
  p.validate();
  detail::check_bias(c, p.outputs);
  return of_layer(c, p, p.output());
}

inline answer handle_pool(const call& c) {
  const shape& x = c.dims(0);
  detail::check_spatial(x);
  if (!c.has_attribute("kernel_shape")) throw error("its attribute kernel_shape is missing");
  const auto w = detail::window_of(c, x, detail::extents_of(c, "kernel_shape", x.size - 2));
  op::pool p = *op::pool::of(c.op());
  p.input = x;
  p.kernel = w.kernel;
  p.strides = w.strides;
  p.dilations = w.dilations;
  p.pads = op::resolve_auto_pad(w.mode, x, w.kernel, w.strides, w.dilations, w.pads);
  if (p.norm()) p.power = c.integer("p", 2);
  p.ceil = c.integer("ceil_mode", 0) != 0;
  p.include_pad = c.integer("count_include_pad", 0) != 0;
  op::check_window(p.input, p.kernel, p.strides, p.pads, p.dilations);
  if (p.maximum() && c.gives_more())
    p.indices = c.integer("storage_order", 0) == 0 ? op::pool_index::row_major
                                                   : op::pool_index::column_major;
  if (p.function == op::pooling::max && p.indices == op::pool_index::none &&
      (c.element(0) == proto::UINT8 || c.element(0) == proto::INT8))
    p.element = c.type(0);
  answer a = of_layer(c, p, p.output());
  if (c.outputs() > 1 && !p.maximum()) throw error("it has more than one output");
  if (c.outputs() > 1) a.outputs.push_back({proto::INT64, p.output()});
  return a;
}

inline answer handle_global_pool(const call& c) {
  op::pool p = *op::pool::of(c.op());
  p.input = c.dims(0);
  if (p.norm()) p.power = c.integer("p", 2);
  shape out = p.input;
  if (out.size < 2) throw error("its input " + text(out) + " has no channels");
  for (int i = 2; i < out.size; ++i)
    out[i] = 1;
  return of_layer(c, p, out);
}

/// Operands: input, weights, offsets, bias, mask.
inline answer handle_deform_conv(const call& c) {
  const op::conv plain = detail::conv_of(c, 1, 3);
  op::deform_conv p{.input = plain.input,
                    .outputs = plain.outputs,
                    .kernel = plain.kernel,
                    .strides = plain.strides,
                    .pads = plain.pads,
                    .dilations = plain.dilations,
                    .groups = plain.groups,
                    .offset_groups = c.integer("offset_group", 1),
                    .bias = plain.bias,
                    .mask = c.has(4)};
  p.validate();
  if (!(c.dims(2) == p.offsets()))
    throw error("its offsets are " + text(c.dims(2)) + ", not " + text(p.offsets()));
  if (p.mask && !(c.dims(4) == p.masks()))
    throw error("its mask is " + text(c.dims(4)) + ", not " + text(p.masks()));
  return of_layer(c, p, p.output());
}

/// Operands: columns, dims of the image, dims of a block.
inline answer handle_col2im(const call& c) {
  const shape& x = c.dims(0);
  const std::vector<std::int64_t>&image = c.whole_numbers(1), &block = c.whole_numbers(2);
  if (x.size != 3) throw error("its columns " + text(x) + " do not have three dims");
  if (image.empty() || image.size() > 3 || block.size() != image.size())
    throw error("its image and block do not have one to three dims");
  op::col2im p{.image = {x[0], 1}, .kernel = to_list<extents>(block)};
  for (std::int64_t d : image)
    p.image.push(d);
  check_dims(p.image);
  const auto w = detail::window_of(c, p.image, p.kernel);
  p.strides = w.strides;
  p.dilations = w.dilations;
  p.pads = w.pads;
  p.validate();
  if (x[1] % p.taps() != 0) throw error("its block does not divide the channels of " + text(x));
  p.image[1] = x[1] / p.taps();
  p.validate();
  if (!(p.input() == x)) throw error("its columns are " + text(x) + ", not " + text(p.input()));
  return of_layer(c, p, p.output());
}

/// Operands: values, their places, dims of the result.
inline answer handle_max_unpool(const call& c) {
  const shape& x = c.dims(0);
  detail::check_spatial(x);
  if (!(c.dims(1) == x)) throw error("its places are " + text(c.dims(1)) + ", not " + text(x));
  if (!c.has_attribute("kernel_shape")) throw error("its attribute kernel_shape is missing");
  const auto w = detail::window_of(c, x, detail::extents_of(c, "kernel_shape", x.size - 2));
  op::check_window(x, w.kernel, w.strides, w.pads, {});
  op::max_unpool p{.input = x, .unpooled = x};
  const int n = w.kernel.size;
  for (int i = 0; i < n; ++i)
    p.unpooled[i + 2] =
        checked_multiply(std::max<std::int64_t>(x[i + 2] - 1, 0), op::entry(w.strides, i, 1)) +
        w.kernel[i] - op::entry(w.pads, i, 0) - op::entry(w.pads, i + n, 0);
  check_dims(p.unpooled);
  p.result = p.unpooled;
  if (c.has(2)) p.result = to_list<shape>(c.whole_numbers(2));
  p.validate();
  return of_layer(c, p, p.result);
}

} // namespace benanza::onnx
