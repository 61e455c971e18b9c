// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention: ONNX Attention-23..24 without what it keeps from step to step. With
// three dims an operand is batch x sequence x (heads x size), and attributes say how many heads.
//
//   handle_attention(call)   // Attention/1x32x128x64-kv8-causal
#pragma once

#include "call.hpp"

namespace benanza::onnx {

namespace detail {
/// The sizes that three operands of one rank say; refuses those that do not fit each other.
inline op::attention attention_of(const call& c) {
  const shape &q = c.dims(0), &k = c.dims(1), &v = c.dims(2);
  const auto refuse = [&] {
    throw error("its operands " + text(q) + ", " + text(k) + " and " + text(v) + " do not fit");
  };
  if ((q.size != 3 && q.size != 4) || k.size != q.size || v.size != q.size) refuse();
  op::attention p{.batch = q[0], .sequence_major = q.size == 3};
  const int sequence = p.sequence_major ? 1 : 2;
  p.queries = q[sequence];
  p.keys = k[sequence];
  p.heads = p.sequence_major ? c.integer("q_num_heads", 0) : q[1];
  p.kv_heads = p.sequence_major ? c.integer("kv_num_heads", 0) : k[1];
  if (p.heads < 1 || p.kv_heads < 1) throw error("it has no heads (q_num_heads, kv_num_heads)");
  // Of all heads together where they stand in one dim.
  const std::int64_t query_parts = p.sequence_major ? p.heads : 1;
  const std::int64_t key_parts = p.sequence_major ? p.kv_heads : 1;
  p.head_size = q.back() / query_parts;
  p.value_size = v.back() / key_parts;
  const bool divides = q.back() % query_parts == 0 && v.back() % key_parts == 0;
  const bool sizes = k.back() % key_parts == 0 && k.back() / key_parts == p.head_size;
  const bool same = k[0] == p.batch && v[0] == p.batch && v[sequence] == p.keys;
  if (!divides || !sizes || !same || (!p.sequence_major && v[1] != p.kv_heads)) refuse();
  return p;
}

/// What of a node's attention no layer says; empty if nothing.
inline std::string beyond_layers(const call& c) {
  if (c.has(4) || c.has(5)) return "it takes keys and values of earlier steps (past_key)";
  if (c.has(6)) return "its sequences have lengths of their own (nonpad_kv_seqlen)";
  if (c.real("softcap", 0) != 0) return "it caps its scores (softcap)";
  if (c.has(3) && c.element(3) == proto::BOOL)
    return "its mask holds truth values, layers add theirs to the scores";
  if (c.gives_more()) return "it gives more than its result (present_key), layers do not";
  return {};
}
} // namespace detail

inline answer handle_attention(const call& c) {
  op::attention p = detail::attention_of(c);
  p.causal = c.integer("is_causal", 0) != 0;
  if (c.has(3) && c.dims(3).size <= 4) p.mask = expanded(c.dims(3), 4);
  answer a = of_layer(c, p, p.output());
  const std::int64_t past = c.has(4) && c.dims(4).size == 4 ? c.dims(4)[2] : 0;
  const std::int64_t all = p.keys + past;
  a.outputs.push_back({c.element(1), shape{p.batch, p.kv_heads, all, p.head_size}});
  a.outputs.push_back({c.element(2), shape{p.batch, p.kv_heads, all, p.value_size}});
  a.outputs.push_back({c.element(0), shape{p.batch, p.heads, p.queries, all}});
  a.problem = detail::beyond_layers(c);
  if (c.has(3) && c.dims(3).size > 4) a.problem = "its mask has more than four dims";
  if (!a.problem.empty()) a.layer.reset();
  return a;
}

} // namespace benanza::onnx
