// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention: ONNX Attention-23..25 as one layer. What it keeps from step to
// step, and scores that are asked for too, are pieces of their own (expand_attention.hpp). With
// three dims an operand is batch x sequence x (heads x size), and attributes say how many heads.
//
//   handle_attention(call)   // Attention/1x32x128x64-kv8-causal
#pragma once

#include "call.hpp"
#include "handle_cast.hpp"

namespace benanza::onnx {

namespace detail {
/// Keys before the first query, which a piece says that has keys and values from a cache. Those may
/// then have four dims where queries have three.
inline constexpr std::string_view past_length = "past_length";
/// Says of one in our own domain that its keys and values are a cache to which the new ones were
/// written: the last ones are those of the queries.
inline constexpr std::string_view in_place = "in_place";

/// The sizes that three operands say; refuses those that do not fit each other.
inline op::attention attention_of(const call& c) {
  const shape &q = c.dims(0), &k = c.dims(1), &v = c.dims(2);
  const auto refuse = [&] {
    throw error("its operands " + text(q) + ", " + text(k) + " and " + text(v) + " do not fit");
  };
  const bool cached =
      q.size == 3 && k.size == 4 && (c.has_attribute(past_length) || c.has_attribute(in_place));
  if ((q.size != 3 && q.size != 4) || (k.size != q.size && !cached) || v.size != k.size) refuse();
  op::attention p{.batch = q[0], .sequence_major = q.size == 3, .cached = cached};
  const bool packed = k.size == 3;
  p.queries = q[p.sequence_major ? 1 : 2];
  p.keys = k[packed ? 1 : 2];
  p.heads = p.sequence_major ? c.integer("q_num_heads", 0) : q[1];
  p.kv_heads = packed ? c.integer("kv_num_heads", 0) : k[1];
  if (p.heads < 1 || p.kv_heads < 1) throw error("it has no heads (q_num_heads, kv_num_heads)");
  // Of all heads together where they are in one dim.
  const std::int64_t query_parts = p.sequence_major ? p.heads : 1;
  const std::int64_t key_parts = packed ? p.kv_heads : 1;
  p.head_size = q.back() / query_parts;
  p.value_size = v.back() / key_parts;
  const bool divides = q.back() % query_parts == 0 && v.back() % key_parts == 0;
  const bool sizes = k.back() % key_parts == 0 && k.back() / key_parts == p.head_size;
  const bool same = k[0] == p.batch && v[0] == p.batch && v[packed ? 1 : 2] == p.keys;
  if (!divides || !sizes || !same || (!packed && v[1] != p.kv_heads)) refuse();
  const auto kept = cast_storage(c.element(1));
  if (c.element(1) != c.element(0) && c.element(1) == c.element(2) &&
      (kept == dtype::f16 || kept == dtype::bf16))
    p.stored = *kept;
  return p;
}

/// Which keys a query sees: up to its own, or some behind it, and of them the last ones. Where only
/// the left side ends, all new keys are behind the first query, or with lengths all queries.
inline void see(const call& c, op::attention& p) {
  const std::int64_t left = c.integer("left_window_size", -1);
  const std::int64_t right = c.integer("right_window_size", -1);
  if (left < -1 || left >= dim_limit / 2 || right < -1 || right >= dim_limit / 2)
    throw error("its left_window_size or its right_window_size is out of range");
  const bool causal = c.integer("is_causal", 0) != 0;
  p.causal = causal || left >= 0 || right >= 0;
  if (!p.causal) return;
  const std::int64_t all = (p.lengths ? p.queries : p.keys) - 1;
  const std::int64_t behind = causal ? 0 : right >= 0 ? std::min(right, all) : all;
  const std::int64_t before =
      c.has_attribute(in_place) ? p.keys - p.queries : c.integer(past_length, 0);
  if (before < -dim_limit || before > dim_limit) throw error("its past_length is out of range");
  p.past = before + behind;
  p.window = left >= 0 ? left + behind + 1 : 0;
}
} // namespace detail

inline answer handle_attention(const call& c) {
  op::attention p = detail::attention_of(c);
  answer a = of_layer(c, {}, p.output());
  const std::int64_t past = c.has(4) && c.dims(4).size == 4 ? c.dims(4)[2] : 0;
  a.outputs.push_back({c.element(1), shape{p.batch, p.kv_heads, p.keys + past, p.head_size}});
  a.outputs.push_back({c.element(2), shape{p.batch, p.kv_heads, p.keys + past, p.value_size}});
  a.outputs.push_back({c.element(0), shape{p.batch, p.heads, p.queries, p.keys + past}});
  try {
    p.lengths = c.has(6);
    detail::see(c, p);
    p.softcap = c.real("softcap", 0) != 0;
    if (c.has(3)) {
      if (c.dims(3).size > 4) throw error("its mask has more than four dims");
      p.mask = expanded(c.dims(3), 4);
      p.truth_mask = c.element(3) == proto::BOOL;
    }
    if (p.lengths && (!(c.dims(6) == shape{p.batch}) || c.type(6) != dtype::s64))
      throw error("its lengths are " + text(c.dims(6)) + ", not one of each batch");
    a.layer = p;
  } catch (const error& e) {
    a.problem = e.what();
  }
  return a;
}

} // namespace benanza::onnx
