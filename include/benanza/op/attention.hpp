// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention: softmax(Q K^T / sqrt(head_size) + mask) V, the core of ONNX
// Attention-23. Heads of queries share heads of keys and values in runs of heads / kv_heads
// (grouped queries). `causal`: query i sees keys 0 to i. The scale's value does not change the
// cost. Operands are batch x heads x sequence x size, or with `sequence_major` batch x sequence x
// (heads x size), ONNX's three-dim form: the same arithmetic and traffic, but other places in
// memory and so another layer.
//
//   attention{.batch = 1, .heads = 32, .queries = 128, .head_size = 64, .kv_heads = 8, .keys = 512,
//             .value_size = 64, .causal = true}          key: 1x32x128x64-kv8-k512-causal
#pragma once

#include "key.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

struct attention {
  std::int64_t batch = 0, heads = 0, queries = 0, head_size = 0;
  std::int64_t kv_heads = 0;   ///< heads of keys and values; divides `heads`
  std::int64_t keys = 0;       ///< length of the sequence that is attended to
  std::int64_t value_size = 0; ///< of a head of the values and of the result
  bool causal = false;
  bool sequence_major = false; ///< the sequence stands before the heads
  shape mask{};                ///< added to the scores; broadcasts to them; empty: none

  static constexpr std::optional<attention> of(std::string_view family) {
    return family == "Attention" ? std::optional(attention{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "Attention"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    list<4> sizes{batch, heads, queries, head_size};
    a.dims("", sizes);
    if (sizes.size == 4)
      batch = sizes[0], heads = sizes[1], queries = sizes[2], head_size = sizes[3];
    a.number("", "kv", kv_heads, heads);
    a.number("", "k", keys, queries);
    a.number("", "v", value_size, head_size);
    a.flag("causal", "causal", causal);
    a.flag("sequence_major", "bshd", sequence_major);
    a.tagged_list("mask", "mask", mask);
  }

  constexpr void validate() const {
    for (std::int64_t n : {batch, heads, queries, head_size, kv_heads, keys, value_size})
      if (n < 1 || n > dim_limit)
        throw error("an attention takes batch, heads, queries and sizes of 1 to 2^40");
    if (heads % kv_heads != 0)
      throw error("an attention's heads are no multiple of those of its keys");
    for (const shape& s : {query_shape(), key_shape(), value_shape(), output()})
      check_dims(s);
    if (mask.size > 4) throw error("an attention's mask has more than four dims");
    const shape all = scores();
    for (int i = 0; i < mask.size; ++i)
      if (mask[i] != 1 && mask[i] != all[i + 4 - mask.size])
        throw error("an attention's mask does not broadcast to its scores");
    (void)cost();
  }

  constexpr shape query_shape() const { return packed(heads, queries, head_size); }
  constexpr shape key_shape() const { return packed(kv_heads, keys, head_size); }
  constexpr shape value_shape() const { return packed(kv_heads, keys, value_size); }
  constexpr shape output() const { return packed(heads, queries, value_size); }
  /// Dims of what the softmax runs over, along the last one.
  constexpr shape scores() const { return {batch, heads, queries, keys}; }

  /// Keys that some query sees.
  constexpr std::int64_t seen_keys() const { return causal && queries < keys ? queries : keys; }
  /// Pairs of a query and a key that it sees, in one head.
  constexpr std::int64_t seen_pairs() const {
    if (!causal) return checked_multiply(queries, keys);
    const std::int64_t n = seen_keys();
    return checked_multiply(n, 2 * queries - n + 1) / 2;
  }

  /// Of what is seen: both products, and for each score its scaling, its mask's addition and the
  /// softmax's five operations.
  constexpr work cost() const {
    const std::int64_t images = checked_multiply(batch, heads);
    const std::int64_t pairs = checked_multiply(images, seen_pairs());
    const std::int64_t kv_rows = checked_multiply(checked_multiply(batch, kv_heads), seen_keys());
    work w;
    w.results = elements(output());
    w.macs = checked_multiply(pairs, head_size + value_size);
    w.other = checked_multiply(pairs, mask.empty() ? 6 : 7);
    w.sources = elements(query_shape()) + checked_multiply(kv_rows, head_size + value_size);
    if (!mask.empty()) w.sources += seen_mask();
    return w;
  }

  /// A mask has four dims; what makes no difference is left out.
  constexpr attention canonical_form() const {
    attention p = *this;
    if (!mask.empty()) p.mask = expanded(mask, 4);
    if (keys == 1) p.causal = false;
    if (heads == 1) p.sequence_major = false;
    return p;
  }
  constexpr bool operator==(const attention&) const = default;

private:
  constexpr shape packed(std::int64_t of_heads, std::int64_t length, std::int64_t size) const {
    return sequence_major ? shape{batch, length, checked_multiply(of_heads, size)}
                          : shape{batch, of_heads, length, size};
  }
  /// Elements of the mask that stand for something seen.
  constexpr std::int64_t seen_mask() const {
    const shape m = expanded(mask, 4);
    const std::int64_t images = checked_multiply(m[0], m[1]);
    if (m[3] == 1) return checked_multiply(images, m[2]);
    return checked_multiply(images, m[2] == 1 ? seen_keys() : seen_pairs());
  }
};

} // namespace benanza::op
