// SPDX-License-Identifier: Apache-2.0
// Linear attention (ONNX LinearAttention-27): each head of keys has a state, key size x value size,
// which every token changes, and of which each query reads a row: o = scale * S^T q. How a token
// changes it is the rule (`e` is the decay's exponential, `b` the token's rate):
//   linear       S += k v^T
//   gated        S = e S + k v^T
//   delta        S += b k (v - S^T k)^T
//   gated_delta  S = e S, then as delta
// Runs of heads / kv_heads queries share a state. Operands are batch x steps x (heads x size), as
// ONNX packs them; results are the outputs and the last state. The scale's value is not in the key.
//
//   linear_attention{.batch = 1, .heads = 32, .steps = 512, .key_size = 128, .kv_heads = 16,
//                    .value_size = 128, .rule = update_rule::gated_delta, .head_decay = true,
//                    .past = true}               key: 1x32x512x128-kv16-gated_delta-per_head-past
#pragma once

#include "key.hpp"
#include "results.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

/// The order is that of `update_names`.
enum class update_rule : std::uint8_t { linear, gated, delta, gated_delta };
inline constexpr std::string_view update_names[] = {"linear", "gated", "delta", "gated_delta"};

struct linear_attention {
  std::int64_t batch = 0, heads = 0, steps = 0;
  std::int64_t key_size = 0; ///< of a head of the queries, too
  std::int64_t kv_heads = 0; ///< heads of keys and values, each with a state; divides `heads`
  std::int64_t value_size = 0;
  update_rule rule = update_rule::linear;
  bool head_decay = false;   ///< one decay for a whole head, not one for each number of its key
  bool one_rate = false;     ///< all heads have one rate
  bool past = false;         ///< a state to begin with is an operand; else it is zero
  dtype state = dtype::real; ///< storage of the states

  static constexpr std::optional<linear_attention> of(std::string_view family) {
    return family == "LinearAttention" ? std::optional(linear_attention{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "LinearAttention"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    list<4> sizes{batch, heads, steps, key_size};
    a.dims("", sizes);
    if (sizes.size == 4) batch = sizes[0], heads = sizes[1], steps = sizes[2], key_size = sizes[3];
    a.number("", "kv", kv_heads, heads);
    a.number("", "v", value_size, key_size);
    a.choice("rule", "update_rule", rule, update_names);
    a.flag("head_decay", "per_head", head_decay);
    a.flag("one_rate", "one_rate", one_rate);
    a.flag("past", "past", past);
    a.element("state", state);
  }

  constexpr void validate() const {
    for (std::int64_t n : {batch, heads, steps, key_size, kv_heads, value_size})
      if (n < 1 || n > dim_limit)
        throw error("a linear attention takes batch, heads, steps and sizes of 1 to 2^40");
    if (heads % kv_heads != 0)
      throw error("a linear attention's heads are no multiple of those of its keys");
    if ((head_decay && !decays()) || (one_rate && !corrects()))
      throw error("a linear attention's rule has no decay, or no rate");
    if (state != dtype::real && state != dtype::f32)
      throw error("a linear attention's states are of the case's type or f32");
    for (const shape& s : {query(), key(), value(), state_dims(), output()})
      check_dims(s);
    (void)cost();
  }

  /// True where states fade, by an operand.
  constexpr bool decays() const {
    return rule == update_rule::gated || rule == update_rule::gated_delta;
  }
  /// True where a token brings what a state gives for its key nearer to its value, by a rate.
  constexpr bool corrects() const {
    return rule == update_rule::delta || rule == update_rule::gated_delta;
  }
  /// Heads of queries that read one state.
  constexpr std::int64_t shared() const { return heads / kv_heads; }

  constexpr shape query() const { return {batch, steps, checked_multiply(heads, key_size)}; }
  constexpr shape key() const { return {batch, steps, checked_multiply(kv_heads, key_size)}; }
  constexpr shape value() const { return {batch, steps, checked_multiply(kv_heads, value_size)}; }
  constexpr shape state_dims() const { return {batch, kv_heads, key_size, value_size}; }
  constexpr shape decay() const { return head_decay ? shape{batch, steps, kv_heads} : key(); }
  constexpr shape rates() const { return {batch, steps, one_rate ? 1 : kv_heads}; }
  constexpr shape output() const { return {batch, steps, checked_multiply(heads, value_size)}; }
  constexpr result_list results() const { return {{output()}, {state_dims(), state}}; }

  /// For each token a product with the state to change it, one for each query to read it, and one
  /// more to correct it; a decay is one operation for each number of the state, and an exponential.
  constexpr work cost() const {
    const std::int64_t images = checked_multiply(batch, kv_heads);
    const std::int64_t tokens = checked_multiply(images, steps);
    const std::int64_t square = checked_multiply(key_size, value_size);
    work w;
    w.macs = checked_multiply(checked_multiply(tokens, square), 1 + shared() + corrects());
    w.other = elements(output());
    if (decays()) w.other += checked_multiply(tokens, square) + elements(decay());
    if (corrects()) w.other += checked_multiply(2, elements(value()));
    w.sources = elements(query()) + elements(key()) + elements(value());
    if (decays()) w.sources += elements(decay());
    if (corrects()) w.sources += elements(rates());
    w.results = elements(output());
    const std::int64_t read = past ? elements(state_dims()) : 0;
    const work states = moved(state, read, elements(state_dims()));
    w.sources += states.sources;
    w.results += states.results;
    w.fixed_bytes += states.fixed_bytes;
    return w;
  }

  /// What makes no difference is left out.
  constexpr linear_attention canonical_form() const {
    linear_attention p = *this;
    if (key_size == 1) p.head_decay = false;
    if (kv_heads == 1) p.one_rate = false;
    return p;
  }
  constexpr bool operator==(const linear_attention&) const = default;
};

} // namespace benanza::op
