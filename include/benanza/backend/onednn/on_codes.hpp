// SPDX-License-Identifier: Apache-2.0
// Layers on 8-bit codes for oneDNN: the same convolutions and products as of the quantised classes,
// with the scales and zero points of their operands. Where sums are the result, the zero point of
// what is read comes from the layer before, and each execution reads it. The library takes no zero
// points of weights, and weights of s8 only.
//
//   describe(op::on_codes<op::conv>{.base = ..., .types = op::code_types::u8s8u8}, request, out);
#pragma once

#include "conv.hpp"
#include "gemm.hpp"

#include "../../op/on_codes.hpp"
#include "../number.hpp"

namespace benanza::backend::onednn {

namespace detail {
/// What the operands say of scales and zero points; without operands, any that cost as much.
template <class Base>
code_scales scales_of(const op::on_codes<Base>& p, const operands* values) {
  code_scales s;
  const op::code_places at = p.places();
  const auto number = [&](int place, std::int64_t i, double fallback) {
    const auto k = static_cast<std::size_t>(place);
    if (place < 0 || values == nullptr || values->inputs.size() <= k) return fallback;
    const tensor& x = values->inputs[k];
    if (x.bytes.empty()) return fallback;
    return load(x.type, x.bytes.data(), x.count() == 1 ? 0 : i);
  };
  const double result = p.result_type() == dtype::real ? 1 : number(at.scale, 0, 1);
  for (std::int64_t i = 0; i < p.scales_of_b(); ++i)
    s.factors.push_back(static_cast<float>(number(at.a_scale, 0, p.integer ? 1 : 0.5) *
                                           number(at.b_scale, i, p.integer ? 1 : 0.5) / result));
  if (p.integer) s.factors = {1};
  if (p.zero_a && p.integer) s.zero_input = at.a_zero;
  if (p.zero_a) s.zero_a = static_cast<std::int32_t>(number(at.a_zero, 0, 1));
  if (p.zero_result) s.zero_result = static_cast<std::int32_t>(number(at.zero, 0, 1));
  return s;
}
} // namespace detail

template <class Base>
requires(!op::on_codes<Base>::adds) void describe(const op::on_codes<Base>& p, const request& r,
                                                  recipes& out) {
  if (p.b_type() != dtype::s8 || p.zero_b || !r.floating()) return;
  request mine = r;
  mine.type = p.computes_in();
  mine.types = {*storage(p.a_type()), data_type::s8, *storage(p.result_type(), r.type)};
  mine.bias_type = version::bias_after_scale ? data_type::f32 : data_type::s32;
  mine.codes = detail::scales_of(p, r.values);
  if (p.rectified) version::append_eltwise(mine.after, dnnl::algorithm::eltwise_relu, 0, 0);
  recipes made;
  describe(p.base, mine, made);
  const op::code_places at = p.places();
  const int places[] = {at.a, at.b, at.bias};
  for (recipe& m : made) {
    for (argument& a : m.arguments)
      a.input = places[a.input];
    m.scales = false;
    out.push_back(std::move(m));
  }
}

} // namespace benanza::backend::onednn
