// SPDX-License-Identifier: Apache-2.0
// Attention for cuDNN, in two ways: as the library's one operation, which knows lengths of
// sequences and neither masks nor causality, and as the chain that it replaces: a product, a scale,
// masks, a softmax, a product, which the engines for attention recognise and fuse, with a past, a
// window, lengths and a cap of the scores too. They do so only where the softmax also writes the
// logarithm of each query's sum, as training wants it: one f32 a query, which no layer reads here.
// Operands are described as batch x heads x sequence x size, whichever is first in memory; heads of
// keys may be fewer than those of queries. In FP8 weights are multiplied by a scale that brings
// them into its range, results by its inverse, and the engines want the largest weight and the
// largest result written too. Masks of truth values are left out, over which cuDNN 9.19 divides by
// zero.
//
//   recipes out;   describe(op::attention{...}, {}, {numeric::f16}, out);   // "sdpa:", "chain:"
#pragma once

#include "../../op/attention.hpp"
#include "../../op/fused.hpp"
#include "../operands.hpp"
#include "recipe.hpp"

#include <cmath>
#include <limits>

namespace benanza::backend::cudnn {

namespace detail {
/// Writes an attention; each member adds what it says and gives the tensor's number.
class attention_writer {
public:
  attention_writer(writer& to, const op::attention& p)
      : to_(to)
      , p_(p) {}

  void as_one_operation() {
    attention_tensors t;
    t.q = queries();
    t.k = operand(1, p_.kv_heads, p_.keys, p_.head_size);
    t.v = values();
    t.scale = scale();
    if (p_.lengths) t.key_lengths = lengths();
    t.o = result();
    to_.graph.attention(t);
  }

  void as_chain() {
    const int q = queries(), k = operand(1, p_.kv_heads, p_.keys, p_.head_size, true);
    int scores = score();
    to_.graph.matmul(q, k, scores, CUDNN_DATA_FLOAT);
    scores = joined(CUDNN_POINTWISE_MUL, scores, scale());
    for (int operands = in_fp8() ? 2 : 0; operands > 0; --operands)
      scores = joined(CUDNN_POINTWISE_MUL, scores, factor(1));
    if (p_.softcap) scores = capped(scores);
    if (!p_.mask.empty()) scores = joined(CUDNN_POINTWISE_ADD, scores, mask());
    if (p_.lengths) scores = without_absent_keys(scores);
    if (p_.causal) scores = without_later_keys(scores);
    if (p_.window > 0) scores = without_earlier_keys(scores);
    if (in_fp8()) return weigh_in_fp8(softmax(scores, CUDNN_DATA_FLOAT));
    const int weights = softmax(scores, to_.asked().source()), v = values(), o = result();
    to_.graph.matmul(weights, v, o, CUDNN_DATA_FLOAT);
  }

private:
  /// An operand, or the result: memory is as ONNX has it, dims are in the library's order.
  int operand(int input, std::int64_t heads, std::int64_t length, std::int64_t size,
              bool transposed = false) {
    shape dims{p_.batch, heads, length, size}, strides = packed(dims);
    const bool is_cached = p_.cached && (input == 1 || input == 2);
    if (p_.sequence_major && !is_cached) strides = {length * heads * size, size, heads * size, 1};
    if (transposed) {
      std::swap(dims[2], dims[3]);
      std::swap(strides[2], strides[3]);
    }
    const int t = to_.operand(input, dims, strides, to_.source_type());
    placed& there = to_.made.tensors.back();
    there.dims = {elements(dims)};
    there.strides = {1};
    return t;
  }
  int queries() { return operand(0, p_.heads, p_.queries, p_.head_size); }
  int values() { return operand(2, p_.kv_heads, p_.keys, p_.value_size); }
  int result() { return operand(placed::result, p_.heads, p_.queries, p_.value_size); }
  int mask() {
    const shape dims = expanded(p_.mask, 4);
    return to_.operand(3, dims, packed(dims), to_.source_type());
  }
  int scale() {
    return to_.number(4, static_cast<float>(1 / std::sqrt(static_cast<double>(p_.head_size))));
  }

  /// A tensor of a score for each pair, without memory.
  int score(cudnnDataType_t type = CUDNN_DATA_FLOAT) {
    return to_.graph.between(p_.scores(), packed(p_.scores()), type);
  }
  /// Dims of one number for each query.
  shape queries_alone() const { return {p_.batch, p_.heads, p_.queries, 1}; }
  int for_each_query() { return to_.graph.between(queries_alone(), packed(queries_alone())); }
  int joined(cudnnPointwiseMode_t how, int a, int b) {
    const int y = score();
    to_.graph.pointwise(how, a, b, y);
    return y;
  }
  /// How many keys each sequence of the batch has; the last operand says it.
  int lengths() {
    const shape dims{p_.batch, 1, 1, 1};
    return to_.operand(p_.mask.empty() ? 3 : 4, dims, packed(dims), dtype::s32);
  }
  int capped(int scores) {
    const int cap = to_.number(4, static_cast<float>(attribute::softcap)), bent = score();
    to_.graph.pointwise(CUDNN_POINTWISE_TANH_FWD, joined(CUDNN_POINTWISE_DIV, scores, cap),
                        std::nullopt, bent);
    return joined(CUDNN_POINTWISE_MUL, bent, cap);
  }
  /// The place of each score along a dim.
  int place(int scores, int axis, cudnnDataType_t type) {
    const int out = score(type);
    to_.graph.pointwise(CUDNN_POINTWISE_GEN_INDEX, scores, std::nullopt, out, {.axis = axis});
    return out;
  }
  /// What `how` says of a and b; sums of places are whole numbers.
  int compared(cudnnPointwiseMode_t how, int a, int b) {
    const int seen = score(CUDNN_DATA_BOOLEAN);
    to_.graph.pointwise(how, a, b, seen, {.precision = CUDNN_DATA_BOOLEAN});
    return seen;
  }
  int whole(cudnnPointwiseMode_t how, int a, int b) {
    const int y = score(CUDNN_DATA_INT32);
    to_.graph.pointwise(how, a, b, y, {.precision = CUDNN_DATA_INT32});
    return y;
  }
  /// Scores where `how` does not hold for a and b are as low as a number can be.
  int where(int scores, cudnnPointwiseMode_t how, int a, int b) {
    const int seen = compared(how, a, b), out = score();
    to_.graph.select(scores, to_.number(4, std::numeric_limits<float>::lowest()), seen, out);
    return out;
  }
  /// With causality the library's own front end also says how many queries there are.
  int without_absent_keys(int scores) {
    lengths_ = lengths();
    if (!p_.causal)
      return where(scores, CUDNN_POINTWISE_CMP_LT, place(scores, 3, CUDNN_DATA_INT32), lengths_);
    all_queries_ = to_.filled({p_.batch, 1, 1, 1}, dtype::s32, static_cast<double>(p_.queries));
    const int row = place(scores, 2, CUDNN_DATA_INT32), column = place(scores, 3, CUDNN_DATA_INT32);
    return where(scores, CUDNN_POINTWISE_LOGICAL_AND,
                 compared(CUDNN_POINTWISE_CMP_LT, row, all_queries_),
                 compared(CUDNN_POINTWISE_CMP_LT, column, lengths_));
  }
  /// Query i sees keys up to past + i; with lengths, up to length - queries + i.
  int without_later_keys(int scores) {
    const auto type = p_.past == 0 ? CUDNN_DATA_INT32 : CUDNN_DATA_FLOAT;
    int row = place(scores, 2, type);
    const int column = place(scores, 3, type);
    if (p_.past != 0) row = joined(CUDNN_POINTWISE_ADD, row, number(p_.past));
    if (p_.lengths)
      row = whole(CUDNN_POINTWISE_SUB, whole(CUDNN_POINTWISE_ADD, row, lengths_), all_queries_);
    return where(scores, CUDNN_POINTWISE_CMP_GE, row, column);
  }
  /// And of these the last `window`.
  int without_earlier_keys(int scores) {
    const int row = place(scores, 2, CUDNN_DATA_FLOAT), column = place(scores, 3, CUDNN_DATA_FLOAT);
    const int reach = joined(CUDNN_POINTWISE_ADD, column, number(p_.window - p_.past));
    return where(scores, CUDNN_POINTWISE_CMP_GT, reach, row);
  }
  int number(std::int64_t value) { return to_.number(4, static_cast<float>(value)); }
  int softmax(int scores, cudnnDataType_t type) {
    const int most = for_each_query(), sum = for_each_query(), raised = score(),
              weights = score(type);
    to_.graph.reduction(CUDNN_REDUCE_TENSOR_MAX, scores, most);
    const int below = joined(CUDNN_POINTWISE_SUB, scores, most);
    to_.graph.pointwise(CUDNN_POINTWISE_EXP, below, std::nullopt, raised);
    to_.graph.reduction(CUDNN_REDUCE_TENSOR_ADD, raised, sum);
    const int logarithm = for_each_query();
    const int statistics =
        to_.operand(placed::unread, queries_alone(), packed(queries_alone()), dtype::f32);
    to_.graph.pointwise(CUDNN_POINTWISE_LOG, sum, std::nullopt, logarithm);
    to_.graph.pointwise(CUDNN_POINTWISE_ADD, most, logarithm, statistics);
    to_.graph.pointwise(CUDNN_POINTWISE_DIV, raised, sum, weights);
    return weights;
  }

  bool in_fp8() const { return to_.asked().type == numeric::e4m3; }
  /// A factor as FP8 has them: one f32 in memory.
  int factor(double value) { return to_.filled({1, 1, 1, 1}, dtype::f32, value); }
  /// The largest of a tensor, which nothing here reads.
  void note_largest(int of) {
    const shape one{1, 1, 1, 1};
    to_.graph.reduction(CUDNN_REDUCE_TENSOR_AMAX, of,
                        to_.operand(placed::unread, one, one, dtype::f32));
  }
  /// Operands and results have scales of one; weights, which are one at most, a larger one.
  void weigh_in_fp8(int weights) {
    constexpr double scale = 256; // the largest number of e4m3 is 448
    note_largest(weights);
    const int narrow = score(to_.asked().source());
    to_.graph.pointwise(CUDNN_POINTWISE_MUL, weights, factor(scale), narrow);
    const shape dims{p_.batch, p_.heads, p_.queries, p_.value_size};
    const auto next = [&] { return to_.graph.between(dims, packed(dims)); };
    const int sums = next(), of_weights = next(), of_values = next();
    to_.graph.matmul(narrow, values(), sums, CUDNN_DATA_FLOAT);
    to_.graph.pointwise(CUDNN_POINTWISE_MUL, sums, factor(1 / scale), of_weights);
    to_.graph.pointwise(CUDNN_POINTWISE_MUL, of_weights, factor(1), of_values);
    note_largest(of_values);
    to_.graph.pointwise(CUDNN_POINTWISE_MUL, of_values, factor(1), result());
  }

  writer& to_;
  const op::attention& p_;
  int lengths_ = 0, all_queries_ = 0; ///< tensors that masks share
};
} // namespace detail

/// True where some query sees no key: its result is nothing, which a softmax of the lowest numbers
/// is not.
inline bool sees_nothing(const op::attention& p) {
  if (!p.causal) return false;
  // Lengths are drawn from the last few that are possible (operand_maker.hpp).
  if (p.lengths && p.keys - 3 < p.queries) return true;
  return p.window > 0 && p.past + p.queries - p.keys >= p.window;
}

inline void describe(const op::attention& p, const op::step_list&, const request& r, recipes& out) {
  if (quantised(r.type) || p.truth_mask || p.stored != dtype::real || sees_nothing(p)) return;
  if (p.causal && p.lengths && (p.past > 0 || p.window > 0)) return;
  const auto add = [&](const char* before, void (detail::attention_writer::*how)()) {
    writer to(r);
    detail::attention_writer parts(to, p);
    try {
      (parts.*how)();
      to.made.before = before;
      to.made.layouts = p.sequence_major ? "bshd,bshd,bshd,bshd" : "bhsd,bhsd,bhsd,bhsd";
      to.made.operand_layouts = to.made.result_layout = name(layout::plain);
      out.push_back(to.finish());
    } catch (const refusal& e) {
      r.refuse(before, e.what()); // one of the two ways may be refused alone
    }
  };
  // The one operation has no scales.
  if (!p.causal && p.mask.empty() && !p.softcap && r.type != numeric::e4m3)
    add("sdpa:", &detail::attention_writer::as_one_operation);
  add("chain:", &detail::attention_writer::as_chain);
}

} // namespace benanza::backend::cudnn
