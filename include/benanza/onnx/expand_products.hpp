// SPDX-License-Identifier: Apache-2.0
// Products and convolutions of ONNX Runtime with something before or behind: FusedMatMul
// (transposes, a factor), FusedGemm, FusedConv (a residual, an activation), NhwcConv, the Conv of
// blocked channels with ReorderInput and ReorderOutput, GemmFastGelu; and what it adds to
// activations: BiasGelu, FastGelu, QuickGelu, BiasSplitGelu.
//
//   expand_fused_conv(p)   // Conv, Add, Relu
#pragma once

#include "pieces.hpp"

namespace benanza::onnx {

namespace detail {
/// The activation that an attribute names, if any.
inline pieces::name activated(pieces& p, const pieces::name& x) {
  const std::string_view f = p.of.word("activation", "");
  if (f.empty() || f == "Linear" || f == "Identity") return x;
  if (!op::unary::of(f)) throw error("its activation is " + in_quotes(f));
  const std::vector<double> bounds = p.of.reals("activation_params");
  if (f == "Clip" && bounds.size() == 2) return p(f, {x, p.number(bounds[0]), p.number(bounds[1])});
  return p(f, {x});
}
/// The order of dims in which the last two have changed places; `batch_too`: before that, the first
/// moves to the last place but one.
inline pieces::whole_numbers transposing(int rank, bool last, bool batch_too) {
  pieces::whole_numbers order(static_cast<std::size_t>(rank));
  for (int i = 0; i < rank; ++i)
    order[static_cast<std::size_t>(i)] = i;
  const auto second = order.end() - 2;
  if (batch_too) std::rotate(order.begin(), order.begin() + 1, second + 1);
  if (last) std::swap(*second, *(second + 1));
  return order;
}
} // namespace detail

inline void expand_fused_matmul(pieces& p) {
  const call& c = p.of;
  const auto operand = [&](int i, const char* last, const char* batch) {
    const bool swapped = c.integer(last, 0) != 0, moved = c.integer(batch, 0) != 0;
    const int rank = c.dims(i).size;
    if (!swapped && !moved) return p.in(i);
    if (rank < (moved ? 3 : 2)) throw error("its operand " + text(c.dims(i)) + " is no matrix");
    return p.transposed(p.in(i), detail::transposing(rank, swapped, moved));
  };
  const double factor = c.real("alpha", 1);
  pieces::name product;
  if (c.dims(0).size == 2 && c.dims(1).size == 2)
    product = p("Gemm", {p.in(0), p.in(1)},
                {{"transA", c.integer("transA", 0)}, {"transB", c.integer("transB", 0)}});
  else
    product =
        p("MatMul", {operand(0, "transA", "transBatchA"), operand(1, "transB", "transBatchB")});
  if (factor != 1 && c.dims(0).size + c.dims(1).size != 4)
    product = p("Mul", {product, p.number(factor)});
  p.give(0, detail::activated(p, product));
}

inline void expand_fused_gemm(pieces& p) {
  std::vector<pieces::name> operands{p.in(0), p.in(1)};
  if (p.of.has(2)) operands.push_back(p.in(2));
  p.give(0, detail::activated(p, p("Gemm", operands,
                                   {{"transA", p.of.integer("transA", 0)},
                                    {"transB", p.of.integer("transB", 0)}})));
}

namespace detail {
/// A Conv with the attributes of the operator.
inline pieces::name convolved(pieces& p, const pieces::name& x, const pieces::name& w) {
  return p("Conv", {x, w, p.in(2)},
           {{"auto_pad", p.of.word("auto_pad", "NOTSET")},
            {"group", p.of.integer("group", 1)},
            {"kernel_shape", p.of.integers("kernel_shape")},
            {"strides", p.of.integers("strides")},
            {"pads", p.of.integers("pads")},
            {"dilations", p.of.integers("dilations")}});
}
} // namespace detail

/// Input, weights, bias, and what is added to the result.
inline void expand_fused_conv(pieces& p) {
  p.give(0, detail::activated(p, p.plus(detail::convolved(p, p.in(0), p.in(1)), p.in(3))));
}

/// A FusedConv whose weights have channels of zeros, up to whole blocks.
inline void expand_blocked_conv(pieces& p) {
  const shape &x = p.of.dims(0), &w = p.of.dims(1);
  if (x.size < 3 || w.size != x.size)
    throw error("its operands " + text(x) + " and " + text(w) + " do not fit");
  const bool more = p.of.integer("group", 1) == 1 && w[1] > x[1];
  const pieces::name weights = more ? p.part(p.in(1), 1, 0, x[1]) : p.in(1);
  p.give(0, detail::activated(p, p.plus(detail::convolved(p, p.in(0), weights), p.in(3))));
}
/// The same numbers in blocks of channels, which is not another layer here.
inline void expand_reorder_input(pieces& p) {
  const bool last = p.of.integer("channels_last", 0) != 0;
  if (last && p.of.dims(0).size != 4) throw error("its operand is no image");
  p.give(0, last ? p.transposed(p.in(0), {0, 3, 1, 2}) : p("Identity", {p.in(0)}));
}
/// And back, without channels that only fill blocks.
inline void expand_reorder_output(pieces& p) {
  const shape& x = p.of.dims(0);
  if (x.size < 2) throw error("its operand is no image");
  const std::int64_t channels = p.of.integer("channels", x[1]);
  const bool last = p.of.integer("channels_last", 0) != 0;
  if (last && x.size != 4) throw error("its operand is no image");
  const pieces::name some = channels < x[1] ? p.part(p.in(0), 1, 0, channels) : p.in(0);
  p.give(0, last ? p.transposed(some, {0, 2, 3, 1}) : p("Identity", {some}));
}

/// Channels come last, in the weights too where they fit there alone.
inline void expand_nhwc_conv(pieces& p) {
  const shape &x = p.of.dims(0), &w = p.of.dims(1);
  if (x.size < 3 || w.size != x.size)
    throw error("its operands " + text(x) + " and " + text(w) + " do not fit");
  pieces::whole_numbers in{0, x.size - 1}, out{0};
  for (int i = 1; i < x.size - 1; ++i)
    in.push_back(i), out.push_back(i + 1);
  out.push_back(1);
  const bool last = w[1] != x.back() && w.back() == x.back();
  const pieces::name y =
      detail::convolved(p, p.transposed(p.in(0), in), last ? p.transposed(p.in(1), in) : p.in(1));
  p.give(0, p.transposed(detail::activated(p, p.plus(y, "")), out));
}

/// x * sigmoid(alpha * x)
inline void expand_swish(pieces& p) {
  const double alpha = p.of.real("alpha", p.of.op() == "QuickGelu" ? 1.702 : 1);
  const pieces::name x = alpha == 1 ? p.in(0) : p("Mul", {p.in(0), p.number(alpha)});
  p.give(0, p("Mul", {p.in(0), p("Sigmoid", {x})}));
}

inline void expand_bias_gelu(pieces& p) {
  p.give(0, p("Gelu", {p("Add", {p.in(0), p.in(1)})}));
}
/// With one operand it is a layer by itself.
inline void expand_fast_gelu(pieces& p) {
  if (p.of.has(1))
    p.give(0,
           p("Gelu", {p("Add", {p.in(0), p.in(1)})}, {{"approximate", std::string_view("tanh")}}));
}
inline void expand_gemm_fast_gelu(pieces& p) {
  const pieces::name x = p.plus(p("MatMul", {p.in(0), p.in(1)}), p.in(2));
  p.give(0, p("Gelu", {x}, {{"approximate", std::string_view("tanh")}}));
}
/// The first half of the channels, times the Gelu of the second.
inline void expand_bias_split_gelu(pieces& p) {
  const pieces::name x = p("Add", {p.in(0), p.in(1)});
  const auto halves = p.several("Split", {x}, 2, {{"axis", -1}, {"num_outputs", 2}});
  p.give(0, p("Mul", {halves[0], p("Gelu", {halves[1]})}));
}
inline void expand_bias_add(pieces& p) {
  p.give(0, p("Add", {p("Add", {p.in(0), p.in(1)}), p.in(2)}));
}

} // namespace benanza::onnx
