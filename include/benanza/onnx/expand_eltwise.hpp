// SPDX-License-Identifier: Apache-2.0
// Elementwise operators that are several layers: Sum, Max, Min and Mean of more than two different
// dims (two operands at a time), a Pow whose exponent is of another type than its base, and
// LpNormalization-1..22 (a norm, and a division by it; what is all zero stays zero), SwiGLU-28; the
// experimental Affine, Crop, ImageScaler, ParametricSoftplus and ScaledTanh of old files.
//
//   expand_variadic(p)   // Max of 3x4, 4 and 1: Max, Max
#pragma once

#include "handle_eltwise.hpp"
#include "pieces.hpp"

namespace benanza::onnx {

/// Nothing where it is one layer.
inline void expand_variadic(pieces& p) {
  const call& c = p.of;
  if (c.size() <= 2 || detail::variadic_of(c)) return;
  shape out = c.dims(0);
  for (int i = 1; i < c.size(); ++i)
    out = detail::broadcast_of(out, c.dims(i));
  const bool mean = c.op() == "Mean";
  const std::string_view step = mean || c.op() == "Sum" ? std::string_view("Add") : c.op();
  pieces::name sum = p.in(0);
  for (int i = 1; i < c.size(); ++i)
    sum = p(step, {sum, p.in(i)});
  if (mean) sum = p("Mul", {sum, p.number(1.0 / c.size())});
  p.give(0, sum);
}

/// Nothing where both operands are of one type. A whole base of a real exponent is raised as a
/// real number.
inline void expand_pow(pieces& p) {
  const call& c = p.of;
  if (c.opset() < 12 || c.type(0) == c.type(1)) return;
  const auto cast = [&p](const pieces::name& x, int to) {
    return p("Cast", {x}, {{"to", std::int64_t{to}}});
  };
  const bool by_real = is_floating(c.element(1));
  if (!by_real || is_floating(c.element(0)))
    return p.give(0, p("Pow", {p.in(0), cast(p.in(1), c.element(0))}));
  p.give(0, cast(p("Pow", {cast(p.in(0), c.element(1)), p.in(1)}), c.element(0)));
}

/// The second operand, gated by the first one's Swish.
inline void expand_swiglu(pieces& p) {
  const call& c = p.of;
  if (!(c.dims(0) == c.dims(1)))
    throw error("its operands " + text(c.dims(0)) + " and " + text(c.dims(1)) + " differ in dims");
  const pieces::name gate = p("Swish", {p.in(0)}, {{"alpha", c.real("alpha", 1)}});
  p.give(0, p("Mul", {gate, p.in(1)}));
}

/// alpha * x + beta
inline void expand_affine(pieces& p) {
  const pieces::name x = p("Mul", {p.in(0), p.number(p.of.real("alpha", 1))});
  p.give(0, p("Add", {x, p.number(p.of.real("beta", 0))}));
}
/// A factor, then a number for each channel.
inline void expand_image_scaler(pieces& p) {
  const shape& dims = p.of.dims(0);
  const pieces::reals bias = p.of.reals("bias");
  if (dims.size != 4 || std::ssize(bias) != dims[1])
    throw error("its bias has not one number for each channel of " + text(dims));
  const pieces::name x = p("Mul", {p.in(0), p.number(p.of.real("scale", 1))});
  p.give(0, p("Add", {x, p.reshaped(p.numbers(bias), {dims[1], 1, 1})}));
}
/// The border is left, top, right, bottom; a scale is height and width of what stays.
inline void expand_crop(pieces& p) {
  const shape& dims = p.of.dims(0);
  const pieces::whole_numbers border = p.of.integers("border"), scale = p.of.integers("scale");
  if (dims.size != 4 || border.size() != 4 || (!scale.empty() && scale.size() != 2))
    throw error("its border and scale do not fit " + text(dims));
  const std::int64_t bottom = scale.empty() ? dims[2] - border[3] : border[1] + scale[0];
  const std::int64_t right = scale.empty() ? dims[3] - border[2] : border[0] + scale[1];
  p.give(0, p.part(p.part(p.in(0), 2, border[1], bottom), 3, border[0], right));
}
/// alpha * tanh(beta * x), alpha * softplus(beta * x)
inline void expand_scaled_function(pieces& p) {
  const std::string_view function = p.of.op() == "ScaledTanh" ? "Tanh" : "Softplus";
  const pieces::name x = p("Mul", {p.in(0), p.number(p.of.real("beta", 1))});
  p.give(0, p("Mul", {p(function, {x}), p.number(p.of.real("alpha", 1))}));
}

inline void expand_lp_normalization(pieces& p) {
  const call& c = p.of;
  const int axis = call::axis(c.integer("axis", -1), c.dims(0).size);
  const std::int64_t order = c.integer("p", 2);
  if (order != 1 && order != 2)
    throw error("its norm is of order " + std::to_string(order) + ", neither 1 nor 2");
  const pieces::name norm = p(order == 1 ? "ReduceL1" : "ReduceL2", {p.in(0), p.whole({axis})});
  p.give(0, p("Div", {p.in(0), p("Max", {norm, p.number(1e-37)})}));
}

} // namespace benanza::onnx
