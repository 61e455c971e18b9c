// SPDX-License-Identifier: Apache-2.0
// Convolutions on codes of 8 bits (QLinearConv) for cuDNN: its integer convolution, whose sums are
// scaled, one factor for all or one a channel, rectified, and shifted to the result's zero point.
// Sources and weights have signs and no zero points.
//
//   describe(op::on_codes<op::conv>{.base = ..., .types = op::code_types::s8s8s8}, {}, request,
//   out);
#pragma once

#include "../../op/on_codes.hpp"
#include "../number.hpp"
#include "conv.hpp"

namespace benanza::backend::cudnn {

namespace detail {
/// True for the classes whose models have layers on codes: they are of no class themselves.
inline bool has_codes(numeric t) {
  return t == numeric::f32 || t == numeric::f16 || t == numeric::bf16;
}

/// By what sums of products of codes are multiplied to be the layer's result, with the scale of the
/// weights or without it.
inline double factor_of_sums(const op::on_codes<op::conv>& c, const operands& values,
                             bool with_weights) {
  const op::code_places at = c.places();
  const auto scale = [&values](int place) {
    const tensor& x = values.inputs.at(static_cast<std::size_t>(place));
    return load(x.type, x.bytes.data(), 0);
  };
  return scale(at.a_scale) * (with_weights ? scale(at.b_scale) : 1) /
         (c.result_type() == dtype::real ? 1 : scale(at.scale));
}

/// Why such a layer is not given to the graph API; empty: it is.
inline std::string_view why_not_told(const op::on_codes<op::conv>& c) {
  if (c.integer) return "it gives no sums of 32 bits";
  if (c.a_type() == dtype::u8) return "its sources have a sign";
  if (c.b_type() == dtype::u8) return "its weights have a sign";
  if (c.result_type() == dtype::u8) return "its results have a sign";
  if (c.zero_a || c.zero_b) return "it has no zero points of sources and weights";
  return {};
}

/// What is done on the sums. Operands: 2 the bias, 3 the scales of the weights, 4 the zero point.
inline std::vector<stage> stages_of(const op::on_codes<op::conv>& c, std::int64_t padded) {
  const std::int64_t channels = c.base.outputs;
  std::vector<stage> out;
  if (c.base.bias) out.push_back(biased(2, channels, padded));
  out.push_back(!c.per_channel ? scaled() : [=](writer& w, int x, int y) {
    shape dims = shape::filled(w.graph.facts(y).dims.size, 1), all = dims;
    dims[1] = channels;
    all[1] = padded;
    const int s = w.padded_operand(3, dims, all, packed(all), dtype::f32);
    w.made.tensors.back().scaled = true;
    w.graph.pointwise(CUDNN_POINTWISE_MUL, x, s, y);
    return true;
  });
  if (c.rectified)
    out.push_back(
        [](writer& w, int x, int y) { return add_function(w, op::unary_function::relu, x, y); });
  if (c.zero_result)
    out.push_back([](writer& w, int x, int y) {
      const shape one = shape::filled(w.graph.facts(y).dims.size, 1);
      w.graph.pointwise(CUDNN_POINTWISE_ADD, x, w.operand(4, one, packed(one), dtype::f32), y);
      return true;
    });
  return out;
}
} // namespace detail

inline void describe(const op::on_codes<op::conv>& c, const op::step_list&, const request& r,
                     recipes& out) {
  if (!detail::has_codes(r.type)) return;
  const std::string_view why = detail::why_not_told(c);
  if (!why.empty()) return r.refuse("graph", why);
  request mine = r;
  mine.type = numeric::s8s8s8;
  recipes made;
  const std::int64_t block = detail::channel_block(mine.type);
  const auto add = [&](layout l, std::int64_t of) {
    frame f = detail::conv_frame(c.base, mine, l, of);
    f.after = detail::stages_of(c, f.padded.empty() ? c.base.outputs : f.padded[1]);
    f.result = c.result_type() == dtype::real ? result_of(r.type) : dtype::s8;
    write(f, {}, mine, made);
  };
  for (const layout l : cudnn_layouts)
    add(l, 1);
  if (c.base.groups == 1 && (c.base.input[1] % block != 0 || c.base.outputs % block != 0))
    add(layout::channels_last, block);
  const op::code_places at = c.places();
  const int places[] = {at.a, at.b, at.bias, at.b_scale, at.zero};
  for (recipe& m : made) {
    for (placed& p : m.tensors)
      if (p.input >= 0) p.input = places[p.input];
    m.factor = [c](const operands& values) {
      return detail::factor_of_sums(c, values, !c.per_channel);
    };
    out.push_back(std::move(m));
  }
}

} // namespace benanza::backend::cudnn
