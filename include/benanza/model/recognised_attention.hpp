// SPDX-License-Identifier: Apache-2.0
// When are two products of matrices and a softmax between them an attention? Operands are followed
// back through Transposes, Reshapes and Expands to see how they are stored: batch x heads x
// sequence x size, or with the sequence before the heads, all alike. An Expand over heads makes
// groups that share keys.
//
//   as_attention(found)   // Attention/1x12x197x64-bshd
#pragma once

#include "axes.hpp"
#include "match.hpp"

namespace benanza::model::detail {

/// A layer, and what it reads.
struct recognised {
  op::layer layer;
  std::vector<operand> operands;
};

/// Follows operand `from` of the pieces back to where it comes from; false where dims are lost.
inline bool follow(const found& f, operand from, const operand& to, axes& a) {
  while (!(from == to)) {
    if (from.node < 0 || !f.holds(from.node)) return false;
    const pieces::place& p = f.in[from.node];
    std::size_t next = 0;
    if (p.family == "Mul" || p.family == "Div") { // by a number
      next = p.operands[0].node == constant;
    } else if (p.family == "Expand") {
      const auto dims = operand_dims(*p.layer, 0);
      if (!dims || !a.repeated_from(*dims)) return false;
    } else if (p.family != "Cast" && !a.before(*p.layer)) {
      return false;
    }
    from = p.operands[next];
  }
  return true;
}

/// The axes of one operand of a product: what the last two dims are called, and heads and batch
/// before them.
inline axes axes_of_product(const shape& dims, const shape& result, char rows, char columns) {
  std::vector<std::pair<char, std::int64_t>> out;
  const shape all = expanded(dims, result.size);
  for (int i = 0; i < all.size; ++i)
    out.emplace_back(i == all.size - 1   ? columns
                     : i == all.size - 2 ? rows
                     : i == all.size - 3 ? 'h'
                                         : 'b',
                     all[i]);
  return axes(out);
}

/// The mask of an attention from all that is done to its scores: one mask keeps its dims, several
/// are one of the scores' dims if they are constant. False if that cannot be.
inline bool add_masks(const found& f, op::attention& p, const shape& scores,
                      std::vector<operand>& operands) {
  std::vector<const bound_value*> masks;
  for (const char* name : {"a", "b", "m"})
    if (const bound_value* v = f.value(name)) masks.push_back(v);
  if (masks.empty()) return true;
  const bool constants = std::all_of(masks.begin(), masks.end(),
                                     [](const bound_value* v) { return v->from.node == constant; });
  const bound_value& one = *masks[0];
  // Without a dim for the batch, heads come first.
  if (masks.size() == 1 && one.dims && one.dims->size <= 4 && scores.size <= 4 &&
      op::output(f.layer(one.reader)) == scores) {
    p.mask = *one.dims;
    p.truth_mask = f.value("m") != nullptr;
  } else if (constants) {
    p.mask = p.scores();
  } else {
    return false;
  }
  operands.push_back(masks.size() == 1 ? one.from : operand{constant});
  return true;
}

inline std::optional<recognised> as_attention(const found& f) {
  const auto product = [&](std::string_view name) -> const op::matmul* {
    const bound_value* v = f.value(name);
    return v == nullptr ? nullptr : std::get_if<op::matmul>(&f.layer(v->from.node));
  };
  const op::matmul *s = product("s"), *o = product("p");
  if (s == nullptr || o == nullptr) return std::nullopt;
  const shape scores = s->output(), result = o->output();
  if (scores.size != result.size || scores.size > 6 || elements(o->a) != elements(scores) ||
      o->m() != s->m() || o->k() != s->n())
    return std::nullopt;
  op::attention p{.batch = 1, .heads = 1, .queries = s->m(), .head_size = s->k()};
  p.keys = s->n();
  p.value_size = o->n();
  for (int i = 0; i < result.size - 2; ++i) {
    if (result[i] != scores[i]) return std::nullopt;
    (i == result.size - 3 ? p.heads : p.batch) *= result[i];
  }
  for (int n : f.nodes)
    if (const auto* along = std::get_if<op::softmax>(&f.layer(n)))
      if (along->log || along->axis != along->input.size - 1 || along->input.back() != p.keys)
        return std::nullopt;

  const bound_value *q = f.value("q"), *k = f.value("k"), *v = f.value("v");
  axes queries = axes_of_product(s->a, scores, 'q', 'd');
  axes keys = axes_of_product(s->b, scores, 'd', 'k');
  axes values = axes_of_product(o->b, result, 'k', 'e');
  const auto& first = f.in[f.value("s")->from.node].operands;
  const auto& second = f.in[f.value("p")->from.node].operands;
  if (!follow(f, first[0], q->from, queries) || !follow(f, first[1], k->from, keys) ||
      !follow(f, second[1], v->from, values))
    return std::nullopt;
  axes given = axes_of_product(result, result, 'q', 'e');
  if (f.root != f.value("p")->from.node) {
    std::vector<int> behind; // from the last one back
    for (int n = f.root; n != f.value("p")->from.node; n = f.in[n].operands[0].node)
      behind.push_back(n);
    for (std::size_t i = behind.size(); i-- > 0;)
      if (f.in[behind[i]].family != "Cast" && !given.behind(f.layer(behind[i])))
        return std::nullopt;
  }

  p.kv_heads = keys.steps('h', p.heads);
  const bool whole = queries.steps('h', p.heads) == p.heads && p.kv_heads > 0 &&
                     values.steps('h', p.heads) == p.kv_heads &&
                     queries.steps('b', p.batch) == p.batch &&
                     keys.steps('b', p.batch) == p.batch && values.steps('b', p.batch) == p.batch;
  if (!whole) return std::nullopt;
  const bool q_heads_first = queries.lies_as("bhqd") && given.lies_as("bhqe");
  const bool k_heads_first = keys.lies_as("bhkd") && values.lies_as("bhke");
  if (!q_heads_first || !k_heads_first) {
    if (!queries.lies_as("bqhd") || !given.lies_as("bqhe")) return std::nullopt;
    p.sequence_major = true;
    p.cached = !keys.lies_as("bkhd") || !values.lies_as("bkhe");
    if (p.cached && !k_heads_first) return std::nullopt;
  }
  recognised out{{}, {q->from, k->from, v->from}};
  if (!add_masks(f, p, scores, out.operands)) return std::nullopt;
  out.layer = p;
  return out;
}

} // namespace benanza::model::detail
