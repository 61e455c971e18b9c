// SPDX-License-Identifier: Apache-2.0
// When are two products of matrices and a softmax between them an attention? Operands are followed
// back through Transposes, Reshapes and Expands to see how they are stored: batch x heads x
// sequence x size, or with the sequence before the heads, all alike. An Expand over heads makes
// groups that share keys. Several masks become one before it, in the places of what added them.
//
//   as_attention(found)   // Attention/1x12x197x64-bshd
#pragma once

#include "../op/kinds.hpp"
#include "axes.hpp"
#include "match.hpp"

namespace benanza::model::detail {

/// Follows operand `from` of the pieces back to where it comes from; false where dims are lost.
inline bool follow(const found& f, operand from, const operand& to, axes& a) {
  while (!(from == to)) {
    if (from.node < 0 || !f.holds(from.node)) return false;
    const pieces::place& p = f.in[from.node];
    std::size_t next = 0;
    if (p.family == "Mul" || p.family == "Div") { // by a number
      next = p.operands[0].node == constant;
    } else if (p.family == "Expand") {
      const auto dims = op::operand_dims(*p.layer, 0);
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

/// The mask of an attention from all that is done to its scores: one keeps its dims, constant ones
/// are one of the scores' dims, others are added up first. False if that cannot be.
inline bool add_masks(const found& f, op::attention& p, const shape& scores, recognised& out) {
  const bound_value* truth = f.value("m");
  std::vector<const bound_value*> masks;
  for (const char* name : {"a", "b", "e", "m"})
    if (const bound_value* v = f.value(name)) masks.push_back(v);
  if (masks.empty()) return true;
  // Without a dim for the batch, heads come first; a batch of one may be seen in between.
  const bool fit = std::all_of(masks.begin(), masks.end(), [&](const bound_value* v) {
    return v->dims && v->dims->size <= 4 && scores.size <= 4 &&
           expanded(op::output(f.layer(v->reader)), 4) == expanded(scores, 4);
  });
  const bool constants = std::all_of(masks.begin(), masks.end(),
                                     [](const bound_value* v) { return v->from.node == constant; });
  if (constants && (masks.size() > 1 || !fit)) {
    p.mask = p.scores();
    out.operands.push_back({constant});
    return true;
  }
  if (!fit) return false;
  bound_value sum = *masks[0];
  p.truth_mask = masks.size() == 1 && truth != nullptr;
  for (std::size_t i = 1; i < masks.size(); ++i) {
    const bound_value& next = *masks[i];
    const bool hides = &next == truth;
    op::layer added = op::binary{.a = *sum.dims, .b = *next.dims};
    if (hides) added = op::where{.condition = *next.dims, .x = *sum.dims, .y = {1}};
    std::vector<operand> reads{sum.from, next.from};
    if (hides) reads = {next.from, sum.from, {constant}};
    sum = {{next.reader}, op::output(added), next.reader};
    out.before.push_back({next.reader, std::move(added), std::move(reads)});
  }
  p.mask = *sum.dims;
  out.operands.push_back(sum.from);
  return true;
}

/// True if what multiplies the scores is one number, or one for each head.
inline bool scales_heads(const found& f, const shape& scores) {
  const bound_value* v = f.value("ch");
  if (v == nullptr) return true;
  if (!v->dims || v->dims->size > scores.size) return false;
  for (int i = 0; i < v->dims->size; ++i)
    if ((*v->dims)[i] != 1 && i + scores.size - v->dims->size != scores.size - 3) return false;
  return true;
}

inline std::optional<recognised> as_attention(const found& f) {
  const auto product = [&](std::string_view name) -> const op::matmul* {
    const bound_value* v = f.value(name);
    return v == nullptr ? nullptr : op::as<op::matmul>(f.layer(v->from.node));
  };
  const op::matmul *s = product("s"), *o = product("p");
  if (s == nullptr || o == nullptr) return std::nullopt;
  const shape scores = s->output(), result = o->output();
  // One of both may lack dims of one before the others.
  const int rank = std::max(scores.size, result.size);
  const shape all = expanded(scores, rank), sums = expanded(result, rank);
  if (rank > 6 || elements(o->a) != elements(scores) || o->m() != s->m() || o->k() != s->n() ||
      !scales_heads(f, scores))
    return std::nullopt;
  op::attention p{.batch = 1, .heads = 1, .queries = s->m(), .head_size = s->k()};
  p.keys = s->n();
  p.value_size = o->n();
  for (int n : f.nodes)
    p.softcap |= f.in[n].family == "Tanh";
  for (int i = 0; i < rank - 2; ++i) {
    if (sums[i] != all[i]) return std::nullopt;
    (i == rank - 3 ? p.heads : p.batch) *= sums[i];
  }
  for (int n : f.nodes)
    if (const auto* along = op::as<op::softmax>(f.layer(n)))
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
  if (!add_masks(f, p, scores, out)) return std::nullopt;
  out.layer = p;
  return out;
}

} // namespace benanza::model::detail
