// SPDX-License-Identifier: Apache-2.0
// Attentions that do something more: ONNX Attention-23..25 that keeps keys and values from step to
// step or gives its scores, and ONNX Runtime's Attention (products with packed weights first),
// MultiHeadAttention and GroupQueryAttention (rotary embeddings, a cache). A cache costs a Concat:
// a framework that writes in place saves it.
//
//   expand_attention(p)   // past_key: Concat, Concat, Attention/1x32x1x128-kv8-k513
#pragma once

#include "handle_attention.hpp"
#include "pieces.hpp"

#include <limits>

namespace benanza::onnx {

namespace detail {
/// batch x sequence x (heads x size) as batch x heads x sequence x size.
inline pieces::name heads_first(pieces& p, const pieces::name& x, std::int64_t batch,
                                std::int64_t length, std::int64_t heads, std::int64_t size) {
  if (length == 1 || heads == 1) return p.reshaped(x, {batch, heads, length, size});
  return p.transposed(p.reshaped(x, {batch, length, heads, size}), {0, 2, 1, 3});
}

/// What an attention is put together from. Keys and values are batch x heads x sequence x size
/// where they come from a cache.
struct attention_parts {
  pieces::name query{}, key{}, value{}, mask{}, lengths{};
  std::int64_t heads = 1, kv_heads = 1, past = 0, window = 0;
  double softcap = 0;
  bool causal = false;
};

inline pieces::name attended(pieces& p, const attention_parts& a) {
  return p("Attention", {a.query, a.key, a.value, a.mask, "", "", a.lengths},
           {{"q_num_heads", a.heads},
            {"kv_num_heads", a.kv_heads},
            {"is_causal", std::int64_t{a.causal}},
            {"softcap", a.softcap},
            {"left_window_size", a.causal ? a.window - 1 : -1},
            {past_length, a.past}});
}

/// Puts what a cache holds before new keys and values, which are heads first already.
inline void prepend(pieces& p, attention_parts& a, const pieces::name& keys,
                    const pieces::name& values) {
  a.key = p("Concat", {keys, a.key}, {{"axis", 2}});
  a.value = p("Concat", {values, a.value}, {{"axis", 2}});
}

inline bool asked(const call& c, int output) {
  return output < c.outputs() && !c.node().output(output).empty();
}

/// Refuses a cache that does not fit; gives how many keys it holds.
inline std::int64_t cached_keys(const call& c, int keys, int values, const op::attention& p) {
  if (!c.has(keys) && !c.has(values)) return 0;
  const shape &k = c.dims(keys), &v = c.dims(values);
  const bool fits = k.size == 4 && v.size == 4 && k[0] == p.batch && k[1] == p.kv_heads &&
                    v[0] == p.batch && v[1] == p.kv_heads && v[2] == k[2] && k[3] == p.head_size &&
                    v[3] == p.value_size;
  if (!fits) throw error("its past " + text(k) + " and " + text(v) + " do not fit");
  return k[2];
}

/// The attention of ONNX's node with all that it may do besides.
class onnx_attention {
public:
  explicit onnx_attention(pieces& p)
      : p_(p)
      , c_(p.of)
      , sizes_(attention_of(p.of)) {}

  void run() {
    const std::int64_t past = cached_keys(c_, 4, 5, sizes_);
    const bool keeps = c_.has(4) || asked(c_, 1) || asked(c_, 2), scores = asked(c_, 3);
    if (c_.has(4) && c_.has(6)) throw error("it has both a past and lengths (nonpad_kv_seqlen)");
    const std::int64_t keys = sizes_.keys + past;
    const bool fits =
        !c_.has(3) || c_.dims(3).empty() || c_.dims(3).back() >= keys || c_.dims(3).back() == 1;
    if (!keeps && !scores && fits) return; // a layer
    op::attention seen = sizes_;
    seen.lengths = c_.has(6);
    see(c_, seen);
    attention_parts a{.query = p_.in(0), .key = p_.in(1), .value = p_.in(2)};
    a.mask = fits ? p_.in(3) : padded_mask(keys);
    a.lengths = p_.in(6);
    a.heads = sizes_.heads, a.kv_heads = sizes_.kv_heads;
    a.past = past + seen.past, a.causal = seen.causal, a.window = seen.window;
    a.softcap = c_.real("softcap", 0);
    attention_parts kept = a;
    if (sizes_.sequence_major && (keeps || scores)) {
      kept.key = first(a.key, sizes_.keys, sizes_.kv_heads, sizes_.head_size);
      kept.value = first(a.value, sizes_.keys, sizes_.kv_heads, sizes_.value_size);
    }
    if (past > 0) prepend(p_, kept, p_.in(4), p_.in(5));
    if (asked(c_, 1)) p_.give(1, kept.key);
    if (asked(c_, 2)) p_.give(2, kept.value);
    sizes_.keys = keys;
    p_.give(0, scores ? written_out(kept) : attended(p_, past > 0 ? kept : a));
  }

private:
  pieces::name first(const pieces::name& x, std::int64_t length, std::int64_t heads,
                     std::int64_t size) {
    return heads_first(p_, x, sizes_.batch, length, heads, size);
  }

  bool truth() const { return c_.has(3) && c_.element(3) == proto::BOOL; }

  /// Keys that a shorter mask does not name are not seen.
  pieces::name padded_mask(std::int64_t keys) {
    const shape& m = c_.dims(3);
    pieces::whole_numbers pads(static_cast<std::size_t>(2 * m.size));
    pads.back() = keys - m.back();
    if (truth()) return p_("Pad", {p_.in(3), p_.whole(pads)});
    return p_("Pad", {p_.in(3), p_.whole(pads), p_.number(-infinite)});
  }

  pieces::name count(std::int64_t n, const shape& dims) {
    return p_.reshaped(p_("Range", {p_.scalar(0), p_.scalar(n), p_.scalar(1)}), dims);
  }
  pieces::name where(const pieces::name& seen, const pieces::name& x) {
    return p_("Where", {seen, x, p_.number(-infinite)});
  }

  /// Products, mask, softmax: each as a layer, because the scores are a result too.
  pieces::name written_out(const attention_parts& a) {
    const op::attention& s = sizes_;
    const std::int64_t shared = s.heads / s.kv_heads;
    if (s.heads % s.kv_heads != 0) throw error("its heads are no multiple of those of its keys");
    const shape together{s.batch, s.kv_heads, checked_multiply(shared, s.queries), s.head_size};
    const shape all{s.batch, s.heads, s.queries, s.keys};
    pieces::name q = a.query;
    if (s.sequence_major) q = first(q, s.queries, s.heads, s.head_size);
    q = p_("Mul",
           {q, p_.number(c_.real("scale", 1 / std::sqrt(static_cast<double>(s.head_size))))});
    if (shared > 1) q = p_.reshaped(q, together);
    pieces::name scores = p_("MatMul", {q, p_.transposed(a.key, {0, 1, 3, 2})});
    if (shared > 1) scores = p_.reshaped(scores, all);
    const std::int64_t mode = c_.integer("qk_matmul_output_mode", 0);
    if (mode == 0) p_.give(3, scores);
    if (a.softcap != 0) {
      const pieces::name most = p_.number(a.softcap);
      scores = p_("Mul", {p_("Tanh", {p_("Div", {scores, most})}), most});
    }
    if (mode == 1) p_.give(3, scores);
    scores = masked(a, scores);
    if (mode == 2) p_.give(3, scores);
    const std::int64_t precision = c_.integer("softmax_precision", c_.element(0));
    if (precision != c_.element(0)) scores = p_("Cast", {scores}, {{"to", precision}});
    pieces::name weights = p_("Softmax", {scores});
    const bool past_all = a.window > 0 && a.past + s.queries - a.window >= s.keys;
    if (!a.mask.empty() || !a.lengths.empty() || past_all)
      weights = without_empty_rows(scores, weights);
    if (precision != c_.element(0))
      weights = p_("Cast", {weights}, {{"to", std::int64_t{c_.element(0)}}});
    if (mode == 3) p_.give(3, weights);
    if (shared > 1) weights = p_.reshaped(weights, {together[0], together[1], together[2], s.keys});
    pieces::name y = p_("MatMul", {weights, a.value});
    if (shared > 1) y = p_.reshaped(y, {s.batch, s.heads, s.queries, s.value_size});
    if (!s.sequence_major) return y;
    return p_.reshaped(p_.transposed(y, {0, 2, 1, 3}),
                       {s.batch, s.queries, checked_multiply(s.heads, s.value_size)});
  }

  /// A query that sees nothing has no weights.
  pieces::name without_empty_rows(const pieces::name& scores, const pieces::name& weights) {
    const pieces::name most = p_("ReduceMax", {scores, p_.whole({-1})});
    return p_("Where", {p_("IsInf", {most}, {{"detect_positive", 0}}), p_.number(0), weights});
  }

  pieces::name masked(const attention_parts& a, pieces::name scores) {
    const op::attention& s = sizes_;
    if (!a.mask.empty()) scores = truth() ? where(a.mask, scores) : p_("Add", {scores, a.mask});
    const pieces::name length = a.lengths.empty() ? "" : p_.reshaped(a.lengths, {s.batch, 1, 1, 1});
    if (!length.empty()) scores = where(p_("Less", {count(s.keys, {s.keys}), length}), scores);
    if (!a.causal) return scores;
    // A key's place less its query's; with lengths, the last query comes last of the keys.
    const pieces::name apart =
        p_("Sub", {count(s.keys, {1, s.keys}), count(s.queries, {s.queries, 1})});
    const pieces::name before =
        length.empty() ? p_.scalar(a.past) : p_("Sub", {length, p_.scalar(s.queries - a.past)});
    scores = where(p_("LessOrEqual", {apart, before}), scores);
    if (a.window == 0) return scores;
    return where(p_("Greater", {apart, p_("Sub", {before, p_.scalar(a.window)})}), scores);
  }

  static constexpr double infinite = std::numeric_limits<double>::infinity();

  pieces& p_;
  const call& c_;
  op::attention sizes_;
};

/// Queries, keys and values of ONNX Runtime's operators, batch x sequence x (heads x size), and
/// the masks that they have.
class runtime_attention {
public:
  explicit runtime_attention(pieces& p)
      : p_(p)
      , c_(p.of) {
    made_.heads = s_.heads = c_.integer("num_heads", 0);
    made_.kv_heads = s_.kv_heads = c_.integer("kv_num_heads", s_.heads);
    for (std::int64_t n : {s_.heads, s_.kv_heads})
      if (n < 1 || n > dim_limit) throw error("it has no heads (num_heads)");
    made_.causal = c_.integer("unidirectional", 0) != 0;
  }

  /// Attention: one product for queries, keys and values, where the weights are constant.
  void packed() {
    const pieces::whole_numbers sizes = packed_sizes();
    if (c_.constant(1)) {
      std::int64_t from = 0;
      for (const auto& [to, size] : parts(sizes)) {
        *to = p_("MatMul", {p_.in(0), p_.part(p_.in(1), 1, from, from + size)});
        from += size;
      }
    } else {
      split(p_("MatMul", {p_.in(0), p_.in(1)}), sizes, 2);
    }
    finish_packed(sizes, 4, 3, 5);
  }

  /// QAttention: the same product of codes, of which sums are brought to real numbers. Inputs:
  /// codes, weights, bias, two scales, mask, two zero points, past.
  void packed_codes() {
    const pieces::whole_numbers sizes = packed_sizes();
    const pieces::name sums = p_("MatMulInteger", {p_.in(0), p_.in(1), p_.in(6), p_.in(7)});
    const pieces::name reals = p_("Cast", {sums}, {{"to", std::int64_t{c_.element(3)}}});
    split(p_("Mul", {reals, p_("Mul", {p_.in(3), p_.in(4)})}), sizes, 2);
    finish_packed(sizes, 8, 5, none);
  }

  void multi_head() {
    const shape& q = c_.dims(0);
    if (q.size == 5) {
      packed_in(0, 3);
    } else if (c_.has(1) && c_.dims(1).size == 5 && q.size == 3) {
      s_.batch = q[0], s_.queries = q[1];
      packed_in(1, 2);
      made_.query = p_.in(0);
      divide(q[2], checked_multiply(s_.heads, s_.value_size));
    } else {
      read_three(c_.has(1) && c_.dims(1).size == 4);
    }
    const std::int64_t hidden = checked_multiply(s_.heads, s_.head_size);
    const std::int64_t values = checked_multiply(s_.kv_heads, s_.value_size);
    add_bias(3, {hidden, hidden, values});
    const bool past = c_.has(6) || c_.has(7);
    if (!cached_ && (past || asked(c_, 1) || asked(c_, 2))) turn();
    if (past) {
      made_.past = cached_keys(c_, 6, 7, s_);
      prepend(p_, made_, p_.in(6), p_.in(7));
      s_.keys += made_.past;
    }
    if (asked(c_, 1)) p_.give(1, made_.key);
    if (asked(c_, 2)) p_.give(2, made_.value);
    mask(4, 5);
    p_.give(0, attended(p_, made_));
  }

  void grouped() {
    const shape& q = c_.dims(0);
    if (s_.heads % s_.kv_heads != 0) throw error("its heads are no multiple of kv_num_heads");
    made_.causal = true;
    if (c_.has(1)) {
      read_three(false);
    } else {
      const std::int64_t all = s_.heads + 2 * s_.kv_heads;
      if (q.size != 3 || q[2] % all != 0)
        throw error("its operand " + text(q) + " does not fit its heads");
      s_.batch = q[0], s_.queries = s_.keys = q[1];
      s_.head_size = s_.value_size = q[2] / all;
      split(p_.in(0),
            {s_.heads * s_.head_size, s_.kv_heads * s_.head_size, s_.kv_heads * s_.head_size}, 2);
    }
    made_.past = cached_keys(c_, 3, 4, s_);
    const std::int64_t total = made_.past + s_.keys;
    if (const elements_of* e = c_.has(6) && c_.constant(6) ? c_.operand(6).elements() : nullptr;
        e != nullptr && !e->real && e->size() == 1 && e->integers[0] != total)
      throw error("its past of " + std::to_string(made_.past) + " and " + std::to_string(s_.keys) +
                  " new keys are not total_sequence_length, " + std::to_string(e->integers[0]));
    if (c_.integer("do_rotary", 0) != 0) rotate();
    turn();
    if (c_.has(3)) prepend(p_, made_, p_.in(3), p_.in(4));
    s_.keys = total;
    if (asked(c_, 1)) p_.give(1, made_.key);
    if (asked(c_, 2)) p_.give(2, made_.value);
    made_.softcap = c_.real("softcap", 0);
    made_.window = std::max<std::int64_t>(c_.integer("local_window_size", -1), 0);
    made_.mask = p_.in(10);
    p_.give(0, attended(p_, made_));
  }

private:
  static constexpr int none = 100; ///< place of an operand that there is not

  /// Sizes of queries, keys and values in a packed product.
  pieces::whole_numbers packed_sizes() {
    const shape &x = c_.dims(0), &w = c_.dims(1);
    if (x.size != 3 || w.size != 2 || x[2] != w[0])
      throw error("its operands " + text(x) + " and " + text(w) + " do not fit");
    if (c_.integer("do_rotary", 0) != 0) throw error("it turns its queries (do_rotary)");
    pieces::whole_numbers sizes = c_.integers("qkv_hidden_sizes");
    if (sizes.empty()) sizes = {w[1] / 3, w[1] / 3, w[1] / 3};
    if (sizes.size() != 3 || sizes[0] < 1 || sizes[1] != sizes[0] || sizes[2] < 1 ||
        sizes[2] > w[1] || sizes[0] != (w[1] - sizes[2]) / 2 || (w[1] - sizes[2]) % 2 != 0)
      throw error("its qkv_hidden_sizes do not fit its weights " + text(w));
    s_.batch = x[0], s_.queries = s_.keys = x[1];
    divide(sizes[0], sizes[2]);
    return sizes;
  }

  /// What follows the product of packed weights; `..._at` are the places of operands.
  void finish_packed(const pieces::whole_numbers& sizes, int past_at, int mask_at, int bias_at) {
    add_bias(2, sizes);
    const bool past = c_.has(past_at);
    if (past || asked(c_, 1)) {
      turn();
      if (past) {
        const shape& kept = c_.dims(past_at);
        if (kept.size != 5 || kept[0] != 2 || kept[1] != s_.batch || kept[2] != s_.heads ||
            kept[4] != s_.head_size || s_.head_size != s_.value_size)
          throw error("its past " + text(kept) + " does not fit");
        made_.past = kept[3];
        shape one = kept;
        one[0] = 1;
        const auto half = [&](std::int64_t i) {
          return p_.reshaped(p_.part(p_.in(past_at), 0, i, i + 1),
                             {one[1], one[2], one[3], one[4]});
        };
        prepend(p_, made_, half(0), half(1));
        s_.keys += made_.past;
      }
      const shape one{1, s_.batch, s_.heads, s_.keys, s_.head_size};
      if (asked(c_, 1))
        p_.give(1, p_("Concat", {p_.reshaped(made_.key, one), p_.reshaped(made_.value, one)},
                      {{"axis", 0}}));
    }
    mask(mask_at, bias_at);
    p_.give(0, attended(p_, made_));
  }

  std::vector<std::pair<pieces::name*, std::int64_t>> parts(const pieces::whole_numbers& sizes) {
    return {{&made_.query, sizes[0]}, {&made_.key, sizes[1]}, {&made_.value, sizes[2]}};
  }
  void split(const pieces::name& x, const pieces::whole_numbers& sizes, std::int64_t axis) {
    const auto made = p_.several("Split", {x, p_.whole(sizes)}, 3, {{"axis", axis}});
    made_.query = made[0], made_.key = made[1], made_.value = made[2];
  }
  void divide(std::int64_t hidden, std::int64_t values) {
    if (hidden < 1 || values < 1 || hidden % s_.heads != 0 || values % s_.kv_heads != 0)
      throw error("its operands do not fit its heads");
    s_.head_size = hidden / s_.heads;
    s_.value_size = values / s_.kv_heads;
  }

  /// Keys and values of a cross attention may come as a cache.
  void read_three(bool heads_first) {
    const shape &q = c_.dims(0), &k = c_.dims(1), &v = c_.dims(2);
    if (q.size != 3 || k.size != (heads_first ? 4 : 3) || v.size != k.size || k[0] != q[0] ||
        v[0] != q[0])
      throw error("its operands " + text(q) + ", " + text(k) + " and " + text(v) + " do not fit");
    made_.query = p_.in(0), made_.key = p_.in(1), made_.value = p_.in(2);
    s_.batch = q[0], s_.queries = q[1], s_.keys = k[heads_first ? 2 : 1];
    cached_ = heads_first;
    divide(q[2], heads_first ? checked_multiply(v[3], s_.kv_heads) : v[2]);
  }

  /// batch x sequence x heads x `count` x size
  void packed_in(int operand, int count) {
    const shape& x = c_.dims(operand);
    if (x[2] != s_.heads || x[3] != count || x[4] < 1)
      throw error("its operand " + text(x) + " does not fit its heads");
    if (operand == 0) s_.batch = x[0], s_.queries = x[1];
    s_.keys = x[1];
    s_.head_size = s_.value_size = x[4];
    const auto made = p_.several("Split", {p_.in(operand)}, count,
                                 {{"axis", 3}, {"num_outputs", std::int64_t{count}}});
    const shape flat{x[0], x[1], checked_multiply(x[2], x[4])};
    const auto last = made.end();
    made_.key = p_.reshaped(*(last - 2), flat);
    made_.value = p_.reshaped(*(last - 1), flat);
    if (count == 3) made_.query = p_.reshaped(made[0], flat);
  }

  void add_bias(int operand, const pieces::whole_numbers& sizes) {
    if (!c_.has(operand)) return;
    std::int64_t from = 0;
    for (const auto& [to, size] : parts(sizes)) {
      const bool its = to == &made_.query || !cached_; // a cache holds sums already
      if (its) *to = p_("Add", {*to, p_.part(p_.in(operand), 0, from, from + size)});
      from += size;
    }
  }

  /// Keys and values with their heads first.
  void turn() {
    made_.key = heads_first(p_, made_.key, s_.batch, s_.keys, s_.kv_heads, s_.head_size);
    made_.value = heads_first(p_, made_.value, s_.batch, s_.keys, s_.kv_heads, s_.value_size);
  }

  /// Queries and keys by their places, which follow those of the cache.
  void rotate() {
    const shape& table = c_.dims(7);
    if (table.size != 2) throw error("its cosines " + text(table) + " are not a matrix");
    pieces::name places = p_.in(9);
    if (places.empty())
      places =
          p_("Expand",
             {p_("Range", {p_.scalar(made_.past), p_.scalar(made_.past + s_.keys), p_.scalar(1)}),
              p_.whole({s_.batch, s_.keys})});
    const auto turned = [&](const pieces::name& x, std::int64_t heads) {
      return p_("RotaryEmbedding", {x, p_.in(7), p_.in(8), places},
                {{"num_heads", heads},
                 {"rotary_embedding_dim", 2 * table[1]},
                 {"interleaved", c_.integer("rotary_interleaved", 0)}});
    };
    made_.query = turned(made_.query, s_.heads);
    made_.key = turned(made_.key, s_.kv_heads);
  }

  /// Operand `padding` says which keys there are, by lengths or by a number for each; `bias` is
  /// added to the scores.
  void mask(int padding, int bias) {
    made_.mask = p_.in(bias);
    if (!c_.has(padding)) return;
    const shape& m = c_.dims(padding);
    pieces::name seen;
    if (m == shape{s_.batch} && !made_.causal && made_.mask.empty()) {
      made_.lengths = p_("Cast", {p_.in(padding)}, {{"to", std::int64_t{proto::INT64}}});
      return;
    }
    if (m == shape{s_.batch}) {
      const pieces::name lengths =
          p_("Cast", {p_.in(padding)}, {{"to", std::int64_t{proto::INT64}}});
      const pieces::name places = p_("Range", {p_.scalar(0), p_.scalar(s_.keys), p_.scalar(1)});
      seen = p_("Less", {places, p_.reshaped(lengths, {s_.batch, 1, 1, 1})});
    } else if (m == shape{s_.batch, s_.keys} || m == shape{s_.batch, s_.queries, s_.keys}) {
      seen = p_.reshaped(p_("Cast", {p_.in(padding)}, {{"to", std::int64_t{proto::BOOL}}}),
                         {s_.batch, 1, m.size == 3 ? s_.queries : 1, s_.keys});
    } else {
      throw error("its mask " + text(m) + " is in a form that no layer has");
    }
    made_.mask =
        made_.mask.empty()
            ? seen
            : p_("Where", {seen, made_.mask, p_.number(-std::numeric_limits<double>::infinity())});
  }

  pieces& p_;
  const call& c_;
  attention_parts made_{};
  op::attention s_{};
  bool cached_ = false;
};
} // namespace detail

inline void expand_attention(pieces& p) {
  detail::onnx_attention(p).run();
}
inline void expand_packed_attention(pieces& p) {
  detail::runtime_attention(p).packed();
}
inline void expand_quantised_attention(pieces& p) {
  detail::runtime_attention(p).packed_codes();
}
inline void expand_multi_head_attention(pieces& p) {
  detail::runtime_attention(p).multi_head();
}
inline void expand_group_query_attention(pieces& p) {
  detail::runtime_attention(p).grouped();
}

} // namespace benanza::onnx
