// SPDX-License-Identifier: Apache-2.0
// One result of a layer on codes (ONNX QLinearConv-10, QLinearMatMul-10..21, ConvInteger-10,
// MatMulInteger-10; QGemm, QLinearAdd, QLinearMul of ONNX Runtime): the sum of products of codes
// less their zero points, exact in double, then scaled and rounded as its type wants it.
//
//   value(on_codes<conv>{.base = ..., .types = code_types::u8s8u8}, operands, 17)
#pragma once

#include "conv.hpp"
#include "gemm.hpp"
#include "quantize.hpp"

namespace benanza::backend::reference {

namespace detail {
/// Element `i` of an operand that may be one number for all, or not be there.
inline double parameter(const operands& o, int place, std::int64_t i, double fallback) {
  const auto k = static_cast<std::size_t>(place);
  if (place < 0 || k >= o.inputs.size() || o.inputs[k].bytes.empty()) return fallback;
  return element(o, k, o.inputs[k].count() == 1 ? 0 : i);
}
} // namespace detail

template <class Base>
double value(const op::on_codes<Base>& p, const operands& o, std::int64_t flat) {
  const op::code_places at = p.places();
  const auto a = static_cast<std::size_t>(at.a), b = static_cast<std::size_t>(at.b);
  std::int64_t channel = 0;
  if constexpr (std::is_same_v<Base, op::conv>)
    channel = channel_of(p.base, flat);
  else
    channel = flat % std::max<std::int64_t>(1, p.output().empty() ? 1 : p.output().back());
  const double zero_a = detail::parameter(o, at.a_zero, 0, 0);
  const double zero_b = detail::parameter(o, at.b_zero, channel, 0);
  const double scale_a = detail::parameter(o, at.a_scale, 0, 1);
  const double scale_b = detail::parameter(o, at.b_scale, channel, 1);
  double v = 0;
  if constexpr (op::on_codes<Base>::adds) {
    const shape place = place_of(p.output(), flat);
    const double left = (element(o, a, broadcast_index(p.base.a, place)) - zero_a) * scale_a;
    const double right = (element(o, b, broadcast_index(p.base.b, place)) - zero_b) * scale_b;
    v = p.base.function == op::binary_function::mul ? left * right : left + right;
  } else {
    v = products(
        p.base, flat, [&](std::int64_t i) { return element(o, a, i) - zero_a; },
        [&](std::int64_t i) { return element(o, b, i) - zero_b; });
    if (p.biased()) {
      std::int64_t which = channel;
      if constexpr (std::is_same_v<Base, op::gemm>)
        which = broadcast_index(p.base.c, {flat / p.base.n, flat % p.base.n});
      v += detail::parameter(o, at.bias, which, 0);
    }
    v *= scale_a * scale_b;
  }
  if (p.rectified) v = std::max(v, 0.0);
  if (p.integer || p.result_type() == dtype::real) return v;
  const double scale = detail::parameter(o, at.scale, 0, 1);
  return code_of(p.result_type(), std::nearbyint(v / scale) + detail::parameter(o, at.zero, 0, 0));
}

} // namespace benanza::backend::reference
