// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's operators on codes that are no layer of their own: products with real results
// (DynamicQuantizeMatMul quantises its first operand as it comes, MatMulIntegerToFloat has it in
// codes; QAttention is its Attention on codes, expand_attention.hpp), and functions, averages and
// choices, which are those of real numbers between a DequantizeLinear and a QuantizeLinear. QONNX's
// Quant rounds real numbers to steps.
//
//   expand_dynamic_quantize_matmul(p)   // DynamicQuantizeLinear, MatMulInteger, Cast, Mul, Mul
#pragma once

#include "pieces.hpp"

#include <algorithm>
#include <cmath>

namespace benanza::onnx {

namespace detail {
/// Sums of codes, brought to real numbers by the scales of both operands.
inline pieces::name scaled_sums(pieces& p, const pieces::name& sums, const pieces::name& a_scale,
                                const pieces::name& b_scale) {
  const pieces::name reals = p("Cast", {sums}, {{"to", std::int64_t{proto::FLOAT}}});
  return p("Mul", {reals, p("Mul", {a_scale, b_scale})});
}
/// Operand `i`, whose scale and zero point follow it, as real numbers.
inline pieces::name real_of(pieces& p, int i) {
  return p("DequantizeLinear", {p.in(i), p.in(i + 1), p.in(i + 2)});
}
/// Codes of the scale in operand `i` and the zero point behind it.
inline pieces::name coded(pieces& p, const pieces::name& x, int i) {
  return p("QuantizeLinear", {x, p.in(i), p.in(i + 1)});
}
/// The order of dims in which the second one is the last, or back.
inline pieces::whole_numbers channels_last(int rank, bool back) {
  pieces::whole_numbers order(static_cast<std::size_t>(rank));
  for (int i = 0; i < rank; ++i)
    order[static_cast<std::size_t>(i)] = i;
  const auto first = order.begin() + 1;
  std::rotate(first, back ? order.end() - 1 : first + 1, order.end());
  return order;
}
} // namespace detail

/// Inputs: a real matrix, codes, their scale, their zero point, and a bias.
inline void expand_dynamic_quantize_matmul(pieces& p) {
  const auto codes = p.several("DynamicQuantizeLinear", {p.in(0)}, 3);
  const pieces::name sums = p("MatMulInteger", {codes[0], p.in(1), codes[2], p.in(3)});
  p.give(0, p.plus(detail::scaled_sums(p, sums, codes[1], p.in(2)), p.in(4)));
}

/// Inputs: two matrices of codes, their scales, their zero points, and a bias.
inline void expand_matmul_integer_to_float(pieces& p) {
  const pieces::name sums = p("MatMulInteger", {p.in(0), p.in(1), p.in(4), p.in(5)});
  p.give(0, p.plus(detail::scaled_sums(p, sums, p.in(2), p.in(3)), p.in(6)));
}

/// QLinearSigmoid and QLinearLeakyRelu. Inputs: codes, scale and zero point, those of the result.
inline void expand_qlinear_unary(pieces& p) {
  const pieces::name x = detail::real_of(p, 0);
  const bool leaky = p.of.op() == "QLinearLeakyRelu";
  p.give(0, detail::coded(p,
                          leaky ? p("LeakyRelu", {x}, {{"alpha", p.of.real("alpha", 0.01)}})
                                : p("Sigmoid", {x}),
                          3));
}

/// In opsets before 13 it is along all dims from its axis on.
inline void expand_qlinear_softmax(pieces& p) {
  const call& c = p.of;
  const shape& dims = c.dims(0);
  const bool rows = c.integer("opset", 13) < 13;
  const int axis = call::axis(c.integer("axis", rows ? 1 : -1), dims.size, rows);
  pieces::name x = detail::real_of(p, 0);
  if (rows)
    x = p.reshaped(x, {benanza::elements(dims, 0, axis), benanza::elements(dims, axis, dims.size)});
  pieces::name y = p("Softmax", {x}, {{"axis", std::int64_t{rows ? 1 : axis}}});
  p.give(0, detail::coded(p, rows ? p.reshaped(y, dims) : y, 3));
}

/// Codes of each operand in the scale of the result, put together. Inputs: scale and zero point of
/// the result, then codes, scale and zero point of each.
inline void expand_qlinear_concat(pieces& p) {
  std::vector<pieces::name> parts;
  for (int i = 2; i + 2 < p.of.size(); i += 3)
    parts.push_back(detail::coded(p, detail::real_of(p, i), 0));
  if (parts.empty() || p.of.size() % 3 != 2)
    throw error("each of its operands takes codes, a scale and a zero point");
  p.give(0, p("Concat", parts, {{"axis", p.of.integer("axis", 0)}}));
}

/// QLinearAveragePool, QLinearGlobalAveragePool and QLinearReduceMean.
inline void expand_qlinear_average(pieces& p) {
  const call& c = p.of;
  const bool last = c.integer("channels_last", 0) != 0;
  pieces::name x = detail::real_of(p, 0);
  if (c.op() == "QLinearReduceMean") {
    const pieces::whole_numbers axes = c.integers("axes");
    x = p("ReduceMean", {x, axes.empty() ? "" : p.whole(axes)},
          {{"keepdims", c.integer("keepdims", 1)}});
    return p.give(0, detail::coded(p, x, 3));
  }
  if (last) x = p.transposed(x, detail::channels_last(c.dims(0).size, true));
  if (c.op() == "QLinearGlobalAveragePool")
    x = p("GlobalAveragePool", {x});
  else
    x = p("AveragePool", {x},
          {{"auto_pad", c.word("auto_pad", "NOTSET")},
           {"ceil_mode", c.integer("ceil_mode", 0)},
           {"count_include_pad", c.integer("count_include_pad", 0)},
           {"kernel_shape", c.integers("kernel_shape")},
           {"strides", c.integers("strides")},
           {"pads", c.integers("pads")}});
  if (last) x = p.transposed(x, detail::channels_last(c.dims(0).size, false));
  p.give(0, detail::coded(p, x, 3));
}

/// Inputs: truth values, twice codes with scale and zero point, those of the result.
inline void expand_qlinear_where(pieces& p) {
  const auto in_scale = [&](int i) { return detail::coded(p, detail::real_of(p, i), 7); };
  p.give(0, p("Where", {p.in(0), in_scale(1), in_scale(4)}));
}

/// QONNX's Quant. Inputs: real numbers, the size of a step, the zero point, the number of bits.
inline void expand_quant(pieces& p) {
  const call& c = p.of;
  const std::vector<double> bits = c.numbers(3);
  if (bits.size() != 1 || bits[0] < 1 || bits[0] > 32)
    throw error("it has not one number of bits from 1 to 32");
  const bool is_signed = c.integer("signed", 1) != 0, narrow = c.integer("narrow", 0) != 0;
  const std::vector<double> zeros = c.constant(2) ? c.numbers(2) : std::vector<double>{1};
  const bool shifts = std::any_of(zeros.begin(), zeros.end(), [](double z) { return z != 0; });
  const double codes = std::exp2(bits[0]), half = codes / 2;
  const double low = is_signed ? -half + narrow : 0,
               high = is_signed ? half - 1 : codes - 1 - narrow;
  pieces::name x = p("Div", {p.in(0), p.in(1)});
  if (shifts) x = p("Add", {x, p.in(2)});
  x = p("Clip", {p("Round", {x}), p.number(low), p.number(high)});
  if (shifts) x = p("Sub", {x, p.in(2)});
  p.give(0, p("Mul", {x, p.in(1)}));
}

} // namespace benanza::onnx
