// SPDX-License-Identifier: Apache-2.0
// Which convolutions can be described to cuDNN's legacy API, and in which forms can their tensors
// be? What cannot has a reason, which needs no GPU; what a GPU does not have, the library says
// (legacy.hpp).
//
//   legacy::as_told(op::parse("Conv/1x8x9x9-16x3x3-s1-p0x0x1x1"), numeric::f16).why_not
#pragma once

#include "../../op/kinds.hpp"
#include "calls.hpp"

namespace benanza::backend::cudnn::legacy {

/// Which of its functions computes a layer.
enum class function { forward, fused, gradient, by_weights };

/// How tensors are stored: in a layout, or in ONNX's order of vectors of so many channels.
struct form {
  layout in = layout::plain;
  int vector = 1;
};

/// A layer as the legacy API knows it.
struct problem {
  function by = function::forward;
  shape x{}, w{}, y{}; ///< of the convolution: a transposed one reads y and writes x;
                       ///< the gradient by weights reads x and y, and writes w
  window over{};
  std::int64_t groups = 1;
  bool bias = false, sum = false, relu = false; ///< behind it
  int spatial = 2;                              ///< dims of the layer's source, for layouts' names
  std::int64_t flops = 0, products = 0;         ///< of all, and of the convolution alone
  numeric type = numeric::f32;                  ///< in which it multiplies
  dtype from = dtype::f32, to = dtype::f32;     ///< elements of the source and of the result
  int weights = 1, vector = 2;                  ///< these operands of the layer; a sum is the last
  /// By what sums are multiplied to be the result; none: the operands' output scale.
  std::function<double(const operands&)> factor{};
};

namespace detail {
/// Why a window cannot be described to the API; empty: it can.
inline std::string why_not(const window& w) {
  for (int i = 0; i < w.pre.size; ++i)
    if (w.pre[i] != w.post[i]) return "it takes no pads that differ on the two sides";
  return {};
}

/// True for the two gradients.
inline bool is_gradient(const problem& p) {
  return p.by == function::gradient || p.by == function::by_weights;
}

inline problem of_convolution(const op::conv& c) {
  op::conv bare = c;
  bare.bias = false;
  const int rank = cudnn::detail::graph_rank(c.input);
  return {.x = widened(c.input, rank),
          .w = widened(c.weights(), rank),
          .y = widened(c.output(), rank),
          .over = cudnn::detail::window_of(c),
          .groups = c.groups,
          .bias = c.bias,
          .spatial = c.input.size,
          .products = bare.direct_flops()};
}

/// Why a convolution on codes is none of the API's; empty: it is.
inline std::string why_not(const op::on_codes<op::conv>& c, numeric t) {
  if (c.integer) return "it gives no sums of 32 bits";
  if (c.zero_a || c.zero_b || c.zero_result) return "it has no zero points";
  if (c.per_channel) return "it has one scale, not one for each channel";
  if (c.b_type() == dtype::u8) return "its weights have a sign";
  if (c.result_type() == dtype::u8) return "its results have a sign";
  if (c.result_type() == dtype::real && t != numeric::f32)
    return "its results that are real are f32";
  return {};
}

/// The same convolution with operands where QLinearConv has them.
inline problem of_codes(const op::on_codes<op::conv>& c) {
  problem p = of_convolution(c.base);
  const op::code_places at = c.places();
  p.by = c.rectified || p.bias ? function::fused : function::forward;
  p.relu = c.rectified;
  p.type = numeric::s8s8s8;
  p.from = c.a_type();
  p.to = c.result_type() == dtype::real ? dtype::f32 : dtype::s8;
  p.weights = at.b;
  p.vector = at.bias;
  p.factor = [c](const operands& values) { return cudnn::detail::factor_of_sums(c, values, true); };
  return p;
}
} // namespace detail

/// What the API computes of a layer, or why it does not: one of the two is empty. Neither is there
/// for layers that are no convolutions.
struct told {
  std::optional<problem> what{};
  std::string why_not{};
};
inline told as_told(const op::layer& l, numeric t) {
  told out;
  const auto refuse = [&out](std::string_view why) {
    if (out.why_not.empty()) out.why_not = why;
  };
  problem p;
  if (const auto* c = op::as<op::conv>(l)) {
    p = detail::of_convolution(*c);
    if (p.bias) p.by = function::fused;
  } else if (const auto* f = op::as<op::fused<op::conv>>(l)) {
    p = detail::of_convolution(f->base);
    p.by = function::fused;
    for (const op::step& s : f->steps) {
      const bool first = !p.sum && !p.relu;
      if (s == op::step(op::binary_function::add) && first)
        p.sum = true;
      else if (s == op::step(op::unary_function::relu) && !p.relu)
        p.relu = true;
      else
        refuse("it fuses a bias, a sum and a ReLU, in this order");
    }
  } else if (const auto* d = op::as<op::conv_transpose>(l)) {
    const int rank = cudnn::detail::graph_rank(d->input);
    p = {.by = function::gradient,
         .x = widened(d->output(), rank),
         .w = widened(d->weights(), rank),
         .y = widened(d->input, rank),
         .over = cudnn::detail::window_of(*d),
         .groups = d->groups,
         .spatial = d->input.size,
         .products = op::direct_flops(l)};
    if (d->bias) refuse("a transposed convolution has no bias there");
  } else if (const auto* g = op::as<op::conv_weight_gradient>(l)) {
    p = detail::of_convolution(g->forward());
    p.by = function::by_weights;
  } else if (const auto* q = op::as<op::on_codes<op::conv>>(l)) {
    if (!cudnn::detail::has_codes(t)) return out;
    p = detail::of_codes(*q);
    refuse(detail::why_not(*q, t));
  } else {
    return out;
  }
  p.flops = op::direct_flops(l);
  if (!p.factor) {
    p.type = t;
    p.from = source_of(t);
    p.to = result_of(t);
  }
  refuse(detail::why_not(p.over));
  if (p.type == numeric::e4m3) refuse("it has no FP8");
  if (p.type == numeric::u8s8u8) refuse("its results have a sign");
  if (quantised(p.type) && detail::is_gradient(p)) refuse("its gradients have no integers");
  for (const shape& dims : {p.x, p.w, p.y})
    if (elements(dims) > 0x7fffffff) refuse("it counts in 32 bits");
  if (out.why_not.empty()) out.what = p;
  return out;
}

/// A form that a problem may have, and why the API has none of it.
struct formed {
  form as{};
  std::string why_not{};
};
inline std::vector<formed> forms_of(const problem& p) {
  std::vector<formed> out{{{.in = layout::plain}}, {{.in = layout::channels_last}}};
  if (!quantised(p.type)) return out;
  out[0].why_not = "integers have their channels last, or in vectors";
  for (const int vector : {4, 32}) {
    const std::string of = "vectors of " + std::to_string(vector);
    std::string why;
    if (p.x.size != 4)
      why = of + " channels have two spatial dims";
    else if (p.w[0] % vector != 0 || p.w[1] % vector != 0)
      why = std::to_string(p.w[p.w[0] % vector == 0 ? 1 : 0]) + " channels do not fill " + of;
    else if (p.to != dtype::s8)
      why = of + " give such vectors, not f32";
    else if (vector == 32 && p.from == dtype::u8)
      why = of + " have a sign";
    out.push_back({{.vector = vector}, why});
  }
  return out;
}

/// The part of ids before the algorithm: "legacy-fused-nhwc".
inline std::string begin_of_id(const problem& p, form f) {
  static constexpr std::string_view of_function[] = {"", "-fused", "-data", "-filter"};
  std::string id = "legacy" + std::string(of_function[static_cast<int>(p.by)]);
  if (f.vector > 1) return id + "-x" + std::to_string(f.vector);
  return f.in == layout::channels_last ? id + "-nhwc" : id;
}

} // namespace benanza::backend::cudnn::legacy
