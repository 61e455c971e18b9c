// SPDX-License-Identifier: Apache-2.0
// Attention by a state that every token changes: ONNX LinearAttention-27.
//
//   handle_linear_attention(call)   // LinearAttention/1x32x512x128-kv16-gated_delta-per_head
#pragma once

#include "call.hpp"

namespace benanza::onnx {

namespace detail {
inline op::update_rule update_rule_of(const call& c) {
  const std::string_view word = c.word("update_rule", "gated_delta");
  for (std::size_t i = 0; i < std::size(op::update_names); ++i)
    if (op::update_names[i] == word) return static_cast<op::update_rule>(i);
  throw error("its update_rule is " + in_quotes(word) + ", which no layer has");
}
} // namespace detail

inline answer handle_linear_attention(const call& c) {
  const shape &q = c.dims(0), &k = c.dims(1), &v = c.dims(2);
  op::linear_attention p{.heads = c.integer("q_num_heads", 0),
                         .kv_heads = c.integer("kv_num_heads", 0),
                         .rule = detail::update_rule_of(c),
                         .past = c.has(3)};
  if (p.heads < 1 || p.kv_heads < 1) throw error("it has no heads (q_num_heads, kv_num_heads)");
  const bool divides = q.size == 3 && k.size == 3 && v.size == 3 && q[2] % p.heads == 0 &&
                       k[2] % p.kv_heads == 0 && v[2] % p.kv_heads == 0;
  if (divides) {
    p.batch = q[0], p.steps = q[1];
    p.key_size = q[2] / p.heads, p.value_size = v[2] / p.kv_heads;
  }
  if (!divides || !(k == p.key()) || !(v == p.value()))
    throw error("its operands " + text(q) + ", " + text(k) + " and " + text(v) +
                " do not fit its heads");
  if (p.past && !(c.dims(3) == p.state_dims()))
    throw error("its past " + text(c.dims(3)) + " is not " + text(p.state_dims()));
  if (p.decays()) {
    p.head_decay = p.key_size > 1 && c.dims(4) == shape{p.batch, p.steps, p.kv_heads};
    if (!(c.dims(4) == p.decay()))
      throw error("its decay " + text(c.dims(4)) + " does not fit its keys " + text(k));
  }
  if (p.corrects()) {
    p.one_rate = p.kv_heads > 1 && c.dims(5) == shape{p.batch, p.steps, 1};
    if (!(c.dims(5) == p.rates()))
      throw error("its rates " + text(c.dims(5)) + " do not fit its keys " + text(k));
  }
  const int kept = p.past ? c.element(3) : c.element(0);
  if (kept != c.element(0)) {
    if (kept != proto::FLOAT) throw error("its states are of a type that no layer keeps them in");
    p.state = dtype::f32;
  }
  answer a = of_layer(c, p, p.output());
  a.outputs.push_back({kept, p.state_dims()});
  return a;
}

} // namespace benanza::onnx
