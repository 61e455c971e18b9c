// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention: softmax(Q K^T / sqrt(head_size) + mask) V, the core of ONNX
// Attention-23..25. Heads of queries share heads of keys and values in runs of heads / kv_heads
// (grouped queries). `causal`: query i sees keys 0 to past + i, of them the last `window`; a window
// that reaches r keys behind a query's own place is one of r more keys in the past. The scale's
// value does not change the cost, nor does the cap's. Operands are batch x heads x sequence
// x size, or with `sequence_major` batch x sequence x (heads x size), ONNX's three-dim form: the
// same arithmetic and traffic, but other places in memory and so another layer. Keys and values of
// a cache may be `stored` in a narrower type.
//
//   attention{.batch = 1, .heads = 32, .queries = 128, .head_size = 64, .kv_heads = 8, .keys = 512,
//             .value_size = 64, .causal = true}          key: 1x32x128x64-kv8-k512-causal
#pragma once

#include "key.hpp"
#include "work.hpp"

#include <algorithm>
#include <optional>

namespace benanza::op {

struct attention {
  std::int64_t batch = 0, heads = 0, queries = 0, head_size = 0;
  std::int64_t kv_heads = 0;   ///< heads of keys and values; divides `heads`
  std::int64_t keys = 0;       ///< length of the sequence that is attended to
  std::int64_t value_size = 0; ///< of a head of the values and of the result
  bool causal = false;
  std::int64_t past = 0;       ///< of causal ones: keys that the first query sees besides its own
  std::int64_t window = 0;     ///< of causal ones: keys that a query sees at most; 0: all
  bool softcap = false;        ///< scores are kept in a range by a hyperbolic tangent
  bool lengths = false;        ///< an operand says how many keys each batch has, here all of them
  bool sequence_major = false; ///< the sequence comes before the heads
  bool cached = false;         ///< not in keys and values, though in the others
  dtype stored = dtype::real;  ///< of keys and values; `real`: the case's type, as all else
  shape mask{};                ///< added to the scores; broadcasts to them; empty: none
  bool truth_mask = false;     ///< the mask holds truth values: which keys are seen

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
    a.number("past", "p", past, 0);
    a.number("window", "w", window, 0);
    a.flag("softcap", "cap", softcap);
    a.flag("lengths", "lengths", lengths);
    a.flag("sequence_major", "bshd", sequence_major);
    a.flag("cached", "cached", cached);
    a.element("stored", stored);
    a.tagged_list("mask", "mask", mask);
    a.flag("truth_mask", "bool", truth_mask);
  }

  constexpr void validate() const {
    for (std::int64_t n : {batch, heads, queries, head_size, kv_heads, keys, value_size})
      if (n < 1 || n > dim_limit)
        throw error("an attention takes batch, heads, queries and sizes of 1 to 2^40");
    if (heads % kv_heads != 0)
      throw error("an attention's heads are no multiple of those of its keys");
    for (const shape& s : {query_shape(), key_shape(), value_shape(), output()})
      check_dims(s);
    if (past < 0 || past > dim_limit || window < 0 || window > dim_limit)
      throw error("an attention's past or its window is negative or over 2^40");
    if (!causal && (past != 0 || window != 0))
      throw error("an attention that is not causal has no past and no window");
    if (cached && !sequence_major) throw error("an attention is cached, but not bshd");
    if (stored != dtype::real && stored != dtype::f16 && stored != dtype::bf16)
      throw error("an attention's keys and values are of a type in which none are stored");
    if (truth_mask && mask.empty()) throw error("an attention lacks its mask of truth values");
    if (mask.size > 4) throw error("an attention's mask has more than four dims");
    const shape all = scores();
    for (int i = 0; i < mask.size; ++i)
      if (mask[i] != 1 && mask[i] != all[i + 4 - mask.size])
        throw error("an attention's mask does not broadcast to its scores");
    (void)cost();
  }

  constexpr shape query_shape() const { return packed(heads, queries, head_size, false); }
  constexpr shape key_shape() const { return packed(kv_heads, keys, head_size, cached); }
  constexpr shape value_shape() const { return packed(kv_heads, keys, value_size, cached); }
  constexpr shape output() const { return packed(heads, queries, value_size, false); }
  /// Dims of what the softmax runs over, along the last one.
  constexpr shape scores() const { return {batch, heads, queries, keys}; }

  /// Keys up to the first query's own; with lengths, where all keys are there.
  constexpr std::int64_t before() const { return past + (lengths ? keys - queries : 0); }
  /// Keys that some query sees.
  constexpr std::int64_t seen_keys() const {
    if (!causal) return keys;
    const std::int64_t end = within(before() + queries);
    return window == 0 ? end : end - std::min(end, within(before() + 1 - window));
  }
  /// Pairs of a query and a key that it sees, in one head.
  constexpr std::int64_t seen_pairs() const {
    if (!causal) return checked_multiply(queries, keys);
    return pairs_before(before()) - (window == 0 ? 0 : pairs_before(before() - window));
  }
  /// True for one that the attentions of libraries are.
  constexpr bool plain() const {
    return past == 0 && window == 0 && !softcap && !lengths && !cached && !truth_mask &&
           stored == dtype::real;
  }

  /// Of what is seen: both products, and for each score its scaling, its cap (three operations),
  /// its mask's addition and the softmax's five operations.
  constexpr work cost() const {
    const std::int64_t images = checked_multiply(batch, heads);
    const std::int64_t pairs = checked_multiply(images, seen_pairs());
    const std::int64_t kv_rows = checked_multiply(checked_multiply(batch, kv_heads), seen_keys());
    work w;
    w.results = elements(output());
    w.macs = checked_multiply(pairs, head_size + value_size);
    w.other = checked_multiply(pairs, 6 + !mask.empty() + 3 * softcap);
    w.sources = elements(query_shape());
    const std::int64_t kv = checked_multiply(kv_rows, head_size + value_size);
    stored == dtype::real ? w.sources += kv : w.fixed_bytes += bytes_of(stored, kv);
    if (!mask.empty()) (truth_mask ? w.fixed_bytes : w.sources) += seen_mask();
    if (lengths) w.fixed_bytes += checked_multiply(batch, size_bytes(dtype::s64));
    return w;
  }

  /// A mask has four dims; what makes no difference is left out.
  constexpr attention canonical_form() const {
    attention p = *this;
    if (!mask.empty()) p.mask = expanded(mask, 4);
    // Also of members that no attention has: no sum goes over the last whole number.
    const std::int64_t span = lengths ? keys : queries, last = lengths ? queries : keys;
    if (causal && past >= 0 && window >= past && window - past >= span) p.window = 0;
    const bool all = last <= 1 || past >= last - 1;
    if (causal && p.window == 0 && all) p.causal = false, p.past = 0;
    if (kv_heads == 1 || keys == 1) p.cached = false;
    if (heads == 1 || (queries == 1 && p.cached)) p.sequence_major = p.cached = false;
    return p;
  }
  constexpr bool operator==(const attention&) const = default;

private:
  constexpr shape packed(std::int64_t of_heads, std::int64_t length, std::int64_t size,
                         bool heads_first) const {
    return sequence_major && !heads_first ? shape{batch, length, checked_multiply(of_heads, size)}
                                          : shape{batch, of_heads, length, size};
  }
  constexpr std::int64_t within(std::int64_t end) const {
    return std::clamp<std::int64_t>(end, 0, keys);
  }
  /// Keys up to place `a + i` of each query i, in sum.
  constexpr std::int64_t pairs_before(std::int64_t a) const {
    const std::int64_t first = std::clamp<std::int64_t>(-a, 0, queries); // sees one
    const std::int64_t full = std::clamp(keys - a - 1, first, queries);  // sees all
    const std::int64_t ends = full == first ? 0 : 2 * a + first + full + 1;
    return checked_multiply(full - first, ends) / 2 + checked_multiply(queries - full, keys);
  }
  /// Elements of the mask that are for something seen.
  constexpr std::int64_t seen_mask() const {
    const shape m = expanded(mask, 4);
    const std::int64_t images = checked_multiply(m[0], m[1]);
    if (m[3] == 1) return checked_multiply(images, m[2]);
    return checked_multiply(images, m[2] == 1 ? seen_keys() : seen_pairs());
  }
};

} // namespace benanza::op
