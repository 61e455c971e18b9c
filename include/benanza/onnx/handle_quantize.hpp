// SPDX-License-Identifier: Apache-2.0
// Codes in place of numbers: ONNX QuantizeLinear-10..24, DequantizeLinear-10..24,
// DynamicQuantizeLinear-11, QLinearConv-10, ConvInteger-10, QLinearMatMul-10..21, MatMulInteger-10;
// QGemm, QLinearAdd and QLinearMul of ONNX Runtime. A zero point that is a constant zero is as good
// as none.
//
//   handle_qlinear_conv(call)   // QLinearConv/1x3x224x224-64x7x7-s2-p3-b-u8s8u8-pc
#pragma once

#include "handle_eltwise.hpp"
#include "handle_matrix.hpp"
#include "handle_window.hpp"

namespace benanza::onnx {

namespace detail {
/// Storage of codes of that element type; refuses those that no layer holds.
inline dtype code_type(int element) {
  const element_type* t = find_element_type(element);
  if (t == nullptr || t->storage == dtype::real)
    throw error("its codes are " + type_name(element) + ", which no layer holds");
  return t->storage;
}

/// True if a zero point is there and may be another number than zero.
inline bool shifts(const call& c, int i) {
  if (i < 0 || !c.has(i)) return false;
  const value& v = c.operand(i);
  const elements_of* e = v.constant ? v.elements() : nullptr;
  if (e == nullptr) return true;
  const auto some = [](double n) { return n != 0; };
  return std::any_of(e->integers.begin(), e->integers.end(), some) ||
         std::any_of(e->reals.begin(), e->reals.end(), some);
}

/// True where an operand is one number, or is not there.
inline bool single(const call& c, int i) {
  return i < 0 || !c.has(i) || benanza::elements(c.dims(i)) == 1;
}
} // namespace detail

/// QuantizeLinear and DequantizeLinear. Before opset 13 there is one scale; with block_size each
/// has as many dims as the input.
inline answer handle_quantize(const call& c) {
  op::quantize p = *op::quantize::of(c.op());
  p.input = c.dims(0);
  p.zero_point = detail::shifts(c, 2);
  int code = p.inverse ? c.element(0) : proto::UINT8;
  if (!p.inverse) {
    if (const std::int64_t asked = c.integer("output_dtype", 0); asked > 0 && asked < 1000)
      code = static_cast<int>(asked);
    if (c.has(2)) code = c.element(2);
  }
  const shape& scale = c.dims(1);
  if (!detail::single(c, 1)) {
    p.axis = call::axis(c.integer("axis", 1), p.input.size);
    p.block = c.integer("block_size", 0);
    if (p.block == 0 && scale.size != 1) throw error("its scale is " + text(scale));
  }
  const int real = p.inverse ? c.element(1) : code;
  answer a;
  a.outputs.push_back({real, p.input});
  if (const std::int64_t asked = c.integer("output_dtype", 0);
      p.inverse && asked > 0 && asked < 1000)
    a.outputs[0].element = static_cast<int>(asked);
  p.code = detail::code_type(code);
  if (!p.inverse && !is_floating(c.element(0)))
    throw error("its input is " + type_name(c.element(0)) + ", not a real number");
  p.validate();
  if (!detail::single(c, 1) && !(p.scales() == scale))
    throw error("its scale is " + text(scale) + ", not " + text(p.scales()));
  a.layer = p;
  return a;
}

inline answer handle_dynamic_quantize(const call& c) {
  answer a = of_layer(c, op::dynamic_quantize{.input = c.dims(0)}, c.dims(0));
  a.outputs[0].element = proto::UINT8;
  a.outputs.push_back({proto::FLOAT, shape{}});
  a.outputs.push_back({proto::UINT8, shape{}});
  return a;
}

namespace detail {
/// Types, scales and zero points of a layer on codes whose base is known.
template <class Base>
answer code_layer(const call& c, op::on_codes<Base> p, const shape& dims, int result) {
  const op::code_places at = p.places();
  const auto types = op::code_types_of(c.type(at.a), c.type(at.b), to_dtype(result));
  if (!types) throw error("its operands are not codes of 8 bits");
  p.types = *types;
  p.zero_a = shifts(c, at.a_zero);
  p.zero_b = shifts(c, at.b_zero);
  p.zero_result = shifts(c, at.zero);
  p.per_channel = !single(c, at.b_scale) || !single(c, at.b_zero);
  answer a;
  a.outputs.push_back({result, dims});
  for (const int i : {at.a_scale, at.a_zero, at.scale, at.zero})
    if (!single(c, i)) a.problem = "its input " + std::to_string(i) + " is not one number";
  for (const int i : {at.b_scale, at.b_zero})
    if (!single(c, i) && benanza::elements(c.dims(i)) != p.scales_of_b())
      a.problem = "its input " + std::to_string(i) + " is " + text(c.dims(i)) +
                  ", not one number for each channel";
  if (a.problem.empty()) a.layer = p;
  return a;
}
} // namespace detail

inline answer handle_qlinear_conv(const call& c) {
  const op::conv p = detail::conv_of(c, 3, 8);
  return detail::code_layer(c, op::on_codes<op::conv>{.base = p}, p.output(), c.element(7));
}

inline answer handle_conv_integer(const call& c) {
  const op::conv p = detail::conv_of(c, 1, 4);
  return detail::code_layer(c, op::on_codes<op::conv>{.base = p, .integer = true}, p.output(),
                            proto::INT32);
}

inline answer handle_qlinear_matmul(const call& c) {
  shape out;
  const op::matmul p = detail::matmul_of(c, 3, out);
  return detail::code_layer(c, op::on_codes<op::matmul>{.base = p}, out, c.element(7));
}

inline answer handle_matmul_integer(const call& c) {
  shape out;
  const op::matmul p = detail::matmul_of(c, 1, out);
  return detail::code_layer(c, op::on_codes<op::matmul>{.base = p, .integer = true}, out,
                            proto::INT32);
}

/// ONNX Runtime's Gemm on codes; without a scale of the result that is a real number.
inline answer handle_q_gemm(const call& c) {
  const op::gemm p = detail::gemm_of(c, 3, 6);
  return detail::code_layer(c, op::on_codes<op::gemm>{.base = p}, p.output(),
                            c.has(8) ? c.element(8) : proto::FLOAT);
}

/// ONNX Runtime's QLinearAdd and QLinearMul.
inline answer handle_qlinear_binary(const call& c) {
  auto p = *op::on_codes<op::binary>::of(c.op());
  p.base.a = c.dims(0);
  p.base.b = c.dims(3);
  return detail::code_layer(c, p, detail::broadcast_of(p.base.a, p.base.b),
                            c.has(7) ? c.element(7) : c.element(0));
}

} // namespace benanza::onnx
