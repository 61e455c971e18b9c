// SPDX-License-Identifier: Apache-2.0
// Convolutions for oneDNN: one to three spatial dims, groups, dilation, any pads; their gradients.
// Source, weights and result are in whatever layout an implementation prefers. The direct ones come
// first, then Winograd, which the library lists only when asked for it by name.
//
//   describe(op::conv{...}, request, out);   // out[0]: direct, out[1]: Winograd
#pragma once

#include "recipe.hpp"

#include "../../op/conv.hpp"

#include <optional>
#include <utility>

namespace benanza::backend::onednn {

namespace detail {
template <class Layer>
window window_of(const Layer& c) {
  window w;
  const int n = c.kernel.size;
  for (int i = 0; i < n; ++i) {
    w.kernel.push_back(c.kernel[i]);
    w.strides.push_back(op::entry(c.strides, i, 1));
    w.dilations.push_back(op::entry(c.dilations, i, 1) - 1);
    w.pads_begin.push_back(op::entry(c.pads, i, 0));
    w.pads_end.push_back(op::entry(c.pads, i + n, 0));
  }
  return w;
}

/// The dims of the weights that say the channel of the result, as bits.
template <class Layer>
int channel_bits(const Layer& c) {
  return c.groups > 1 ? 3 : 1;
}

inline dims with_kernel(dims d, const extents& kernel) {
  d.insert(d.end(), kernel.begin(), kernel.end());
  return d;
}

/// Arguments of a convolution of either kind; `weights` in the library's dims, as ONNX stores them.
template <class Layer>
recipe convolution_recipe(const Layer& c, const request& r, const description& weights) {
  const dims source = to_dims(c.input), result = to_dims(c.output());
  const auto spatial = static_cast<std::size_t>(c.kernel.size);
  recipe out;
  out.multiplies = out.scales = true;
  out.arguments = {{.id = DNNL_ARG_SRC,
                    .input = 0,
                    .stored = dense(source, r.types.source),
                    .letters = std::string(activation_letters(source.size()))},
                   {.id = DNNL_ARG_WEIGHTS,
                    .input = 1,
                    .stored = weights,
                    .letters = std::string(weights_letters(spatial, c.groups > 1)),
                    .constant = true}};
  if (c.bias) out.arguments.push_back(r.bias(2, dense({c.outputs}, r.bias_type)));
  out.result = dense(result, r.types.result);
  out.letters = activation_letters(result.size());
  return out;
}
} // namespace detail

/// Multiply-accumulates of Winograd F(m x m, 3 x 3): each tile of m x m outputs takes (m + 2)^2
/// multiplications for each pair of channels (Lavin and Gray 2015, section 4.1) in place of 9 m^2,
/// so 2.25 times fewer for m = 2, 4 times for m = 4, less where tiles hang over the edge. The
/// transforms are left out.
template <class Layer>
std::int64_t winograd_macs(const Layer& c, std::int64_t m) {
  const shape out = c.output();
  const std::int64_t tiles = checked_multiply((out[2] + m - 1) / m, (out[3] + m - 1) / m);
  return checked_multiply(checked_multiply(out[0], tiles),
                          checked_multiply((m + 2) * (m + 2), out[1] * (c.input[1] / c.groups)));
}

namespace detail {
/// Marks a recipe as Winograd's: its arithmetic, and in eight bits another class of results.
template <class Layer>
void mark_winograd(recipe& made, const Layer& c, const request& r) {
  made.kind = "winograd";
  if (quantised(r.type)) made.inexact = made.kind;
  made.own_flops = [c](std::string_view its_name) {
    if (its_name.find("wino") == std::string_view::npos) return op::direct_flops(op::layer(c));
    const std::int64_t m = its_name.find("4x3") != std::string_view::npos ? 4 : 2;
    return 2 * winograd_macs(c, m) + c.cost().other;
  };
}
} // namespace detail

namespace detail {
/// A convolution of one column as that of one row, of the same bytes: the library's kernels work on
/// columns side by side. Nothing: it is none.
inline std::optional<op::conv> turned(op::conv c) {
  if (c.kernel.size != 2 || c.input[3] != 1 || c.input[2] == 1 || c.kernel[1] != 1 ||
      op::entry(c.pads, 1, 0) != 0 || op::entry(c.pads, 3, 0) != 0)
    return std::nullopt;
  const auto turn = [](auto& list, int first) {
    if (!list.empty()) std::swap(list[first], list[first + 1]);
  };
  turn(c.input, 2);
  turn(c.kernel, 0);
  turn(c.strides, 0);
  turn(c.dilations, 0);
  turn(c.pads, 0);
  turn(c.pads, 2);
  return c;
}

/// True where an operand of the result's dims follows.
inline bool joins(const dnnl::post_ops& after) {
  for (int i = 0; i < after.len(); ++i)
    if (after.kind(i) == dnnl::primitive::kind::binary) return true;
  return false;
}

inline void describe_conv(const op::conv& c, const request& r, recipes& out) {
  dims w = c.groups > 1 ? dims{c.groups, c.outputs / c.groups} : dims{c.outputs};
  w.push_back(c.input[1] / c.groups);
  w = with_kernel(w, c.kernel);
  const dims source = to_dims(c.input), result = to_dims(c.output());
  const auto offer = [&](dnnl::algorithm how, const description& from,
                         const description& to) -> recipe& {
    recipe made = convolution_recipe(c, r, dense(w, r.types.weights));
    made.what =
        operation::convolution(how, from, any_layout(w, r.types.weights),
                               c.bias ? dense({c.outputs}, r.bias_type) : description(), to,
                               window_of(c), r.product_attributes(made.given, 1, channel_bits(c)));
    return out.emplace_back(std::move(made));
  };
  const description from = any_layout(source, r.types.source),
                    to = any_layout(result, r.types.result);
  offer(dnnl::algorithm::convolution_direct, from, to);
  // Left to choose, depthwise kernels name channels last alone, but know blocks as well.
  if (c.groups == c.input[1] && c.groups == c.outputs && c.groups % channels_in_block() == 0 &&
      c.groups > 1 && r.floating())
    offer(dnnl::algorithm::convolution_direct,
          arranged(source, r.types.source, arrangement::blocked),
          arranged(result, r.types.result, arrangement::blocked))
        .after = '@' + layout_name(arranged(source, r.types.source, arrangement::blocked),
                                   activation_letters(source.size()));
  if (c.kernel.size != 2) return;
  mark_winograd(offer(dnnl::algorithm::convolution_winograd, from, to), c, r);
}
} // namespace detail

inline void describe(const op::conv& c, const request& r, recipes& out) {
  detail::describe_conv(c, r, out);
  const auto row = detail::turned(c);
  if (!row || detail::joins(r.after)) return;
  const std::size_t before = out.size();
  detail::describe_conv(*row, r, out);
  for (std::size_t i = before; i < out.size(); ++i)
    out[i].before = "turned:" + out[i].before;
}

inline void describe(const op::conv_transpose& c, const request& r, recipes& out) {
  // ONNX stores C x M/groups x kernel; the library wants M before C.
  const std::int64_t inputs = c.input[1] / c.groups, outputs = c.outputs / c.groups;
  const dims order{c.groups, outputs, inputs};
  const dims w = detail::with_kernel(c.groups > 1 ? order : dims{outputs, inputs}, c.kernel);
  std::int64_t taps = 1;
  for (const std::int64_t k : c.kernel)
    taps *= k;
  const dims inner = dense_strides(detail::with_kernel({}, c.kernel));
  dims strides = c.groups > 1 ? dims{inputs * outputs * taps, taps, outputs * taps}
                              : dims{taps, outputs * taps};
  strides.insert(strides.end(), inner.begin(), inner.end());

  window where = detail::window_of(c);
  for (int i = 0; i < c.kernel.size; ++i)
    where.pads_end[static_cast<std::size_t>(i)] -= op::entry(c.output_pads, i, 0);
  const auto offer = [&](dnnl::algorithm how) -> recipe& {
    recipe made = detail::convolution_recipe(c, r, description(w, r.types.weights, strides));
    made.what = operation::deconvolution(
        how, any_layout(to_dims(c.input), r.types.source), any_layout(w, r.types.weights),
        c.bias ? dense({c.outputs}, r.bias_type) : description(),
        any_layout(to_dims(c.output()), r.types.result), where,
        r.product_attributes(made.given, 1, detail::channel_bits(c)));
    return out.emplace_back(std::move(made));
  };
  offer(dnnl::algorithm::deconvolution_direct);
  // In eight bits the library answers to Winograd's name with its direct kernels.
  if (c.kernel.size == 2 && r.floating())
    detail::mark_winograd(offer(dnnl::algorithm::deconvolution_winograd), c, r);
}

/// Nothing in eight bits.
inline void describe(const op::conv_weight_gradient& g, const request& r, recipes& out) {
  if (!r.floating()) return;
  const op::conv c = g.forward();
  const dims source = to_dims(c.input), result = to_dims(c.output());
  dims w = c.groups > 1 ? dims{c.groups, c.outputs / c.groups} : dims{c.outputs};
  w.push_back(c.input[1] / c.groups);
  w = detail::with_kernel(w, c.kernel);
  const std::string letters(activation_letters(source.size()));
  recipe made;
  made.multiplies = true;
  made.arguments = {
      {.id = DNNL_ARG_SRC, .input = 0, .stored = dense(source, r.types.source), .letters = letters},
      {.id = DNNL_ARG_DIFF_DST,
       .input = 1,
       .stored = dense(result, r.types.source),
       .letters = letters,
       .flows = true}};
  made.result = dense(w, r.types.result);
  made.result_id = DNNL_ARG_DIFF_WEIGHTS;
  made.letters = weights_letters(static_cast<std::size_t>(c.kernel.size), c.groups > 1);
  made.what = operation::weight_gradient(
      any_layout(source, r.types.source), any_layout(w, r.types.result),
      any_layout(result, r.types.source), detail::window_of(c), r.attributes());
  out.push_back(std::move(made));
}

} // namespace benanza::backend::onednn
