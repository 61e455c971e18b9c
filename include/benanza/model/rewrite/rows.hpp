// SPDX-License-Identifier: Apache-2.0
// Rule: only rows that are read. Where the one reader of a tensor is a Gather of one place along an
// axis (the class token of a transformer), the other places are not needed: layers before it that
// make each place of that axis from the same place of their source work on one alone; what they
// read is gathered from instead.
//   before: MatMul 197x768 by weights -> Gather of row 0     after: Gather of row 0 -> MatMul 1x768
// Proof: an elementwise layer, a product with weights, a reduction, normalization or Softmax along
// other axes has in its result at a place of the axis only operands at that place, or such that
// have one place for all. The Gather that was there finds a single place and takes the first.
#pragma once

#include "../../op/kinds.hpp"
#include "draft.hpp"
#include "rewritten.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::model {

inline constexpr std::string_view rows_rule = "only rows that are read";

namespace detail {
/// The axis of which a Gather takes one constant place of several; nothing: it is no such.
inline std::optional<int> takes_one(const op::layer& l, const node& n) {
  const auto* g = op::as<op::gather>(l);
  if (g == nullptr || g->element != dtype::real || elements(g->indices) != 1 ||
      g->data[g->axis] < 2 || n.operands.size() != 2 || n.operands[0].node == constant ||
      n.operands[1].node != constant)
    return std::nullopt;
  return g->axis;
}

/// `s` with one place along an axis.
inline shape one_place(shape s, int axis) {
  s[axis] = 1;
  return s;
}

/// A layer on one place of an axis of its result, and along which axis which of its operands have
/// one place then.
struct on_place {
  op::layer layer;
  std::vector<std::pair<std::size_t, int>> operands;
};

inline std::optional<on_place> at_place(const op::layer& l, int axis, std::size_t operands) {
  const auto first = [axis](const auto& p) { return on_place{op::layer(p), {{0, axis}}}; };
  if (const auto* u = op::as<op::unary>(l)) {
    if (u->element != dtype::real || !op::of_reals(u->function)) return std::nullopt;
    return first(op::unary{.function = u->function, .input = one_place(u->input, axis)});
  }
  if (const auto* n = op::as<op::layer_norm>(l)) {
    if (axis >= n->axis || n->statistics) return std::nullopt;
    op::layer_norm one = *n;
    one.input = one_place(n->input, axis);
    return first(one);
  }
  if (const auto* s = op::as<op::softmax>(l)) {
    if (axis == s->axis) return std::nullopt;
    op::softmax one = *s;
    one.input = one_place(s->input, axis);
    return first(one);
  }
  if (const auto* r = op::as<op::reduce>(l)) {
    if (r->element != dtype::real || r->reduces(axis)) return std::nullopt;
    op::reduce one = *r;
    one.input = one_place(r->input, axis);
    return first(one);
  }
  if (const auto* m = op::as<op::matmul>(l)) {
    // A product with weights for all places; the last axis is another's.
    if (!m->constant_b || m->b.size != 2 || axis >= m->a.size - 1) return std::nullopt;
    op::matmul one = *m;
    one.a = one_place(m->a, axis);
    return first(one);
  }
  const auto* b = op::as<op::binary>(l);
  if (b == nullptr || b->element != dtype::real || b->truth() || op::of_bits(b->function) ||
      static_cast<std::size_t>(b->operands) != operands)
    return std::nullopt;
  const shape result = b->output();
  op::binary one = *b;
  on_place out{};
  const auto take = [&](shape& s, std::size_t from, std::size_t to) {
    const int its = axis - (result.size - s.size);
    if (its < 0 || s[its] == 1) return;
    s[its] = 1;
    for (std::size_t k = from; k < to; ++k)
      out.operands.emplace_back(k, its);
  };
  take(one.a, 0, 1);
  take(one.b, 1, operands);
  out.layer = op::layer(one.canonical_form());
  return out;
}

/// Moves the Gather of one place back from before node `gather_at`.
class row_taker {
public:
  row_taker(const graph& g, int gather_at)
      : w_(g)
      , at_(gather_at)
      , takes_(op::get<op::gather>(*w_.layer(gather_at))) {}

  /// Nothing: no product computes less.
  std::optional<graph> taken() {
    const int first = w_.at(at_).operands[0].node;
    pending_[first] = {{{at_, 0}}, takes_.axis, takes_.data};
    while (!pending_.empty()) {
      const auto [i, seen] = *pending_.begin();
      pending_.erase(pending_.begin());
      if (thin(i, seen)) continue;
      if (i == first) return std::nullopt;
      take(i, seen);
    }
    op::gather last = takes_;
    last.data = one_place(last.data, last.axis);
    w_.set_layer(at_, op::layer(last));
    if (changed_.empty()) return std::nullopt;
    return w_.finished(rows_rule, changed_);
  }

private:
  struct seen_result {
    std::vector<draft::reader> edges{};
    int axis = 0;
    shape dims{};
  };

  bool thin(int i, const seen_result& seen) {
    if (!w_.inner(i) || w_.readers(i).size() != seen.edges.size() ||
        !(op::output(*w_.layer(i)) == seen.dims))
      return false;
    const std::vector<operand> operands = w_.at(i).operands;
    auto one = at_place(*w_.layer(i), seen.axis, operands.size());
    if (!one || one->operands.empty()) return false;
    for (const auto& [k, axis] : one->operands)
      if (k >= operands.size() || operands[k].node == constant || operands[k].output != 0 ||
          (operands[k].node >= 0 && pending_.contains(operands[k].node) &&
           pending_.at(operands[k].node).axis != axis))
        return false;
    const op::layer whole = *w_.layer(i);
    if (op::is<op::matmul>(whole)) changed_.push_back(i);
    w_.set_layer(i, std::move(one->layer));
    for (const auto& [k, axis] : one->operands) {
      const draft::reader edge{i, k};
      const shape dims = dims_seen(whole, k);
      if (operands[k].node < 0) {
        w_.set_operand(edge, {add_gather(operands[k], dims, axis, i)});
        continue;
      }
      seen_result& source = pending_[operands[k].node];
      source.edges.push_back(edge);
      source.axis = axis;
      source.dims = dims;
    }
    return true;
  }

  /// The dims of operand `k`, of which a layer has one in each place.
  static shape dims_seen(const op::layer& l, std::size_t k) {
    if (const auto* b = op::as<op::binary>(l)) return k == 0 ? b->a : b->b;
    if (const auto* m = op::as<op::matmul>(l)) return m->a;
    if (const auto* r = op::as<op::reduce>(l)) return r->input;
    return op::output(l);
  }

  /// The place is taken of the result of `i`, of which others read all.
  void take(int i, const seen_result& seen) {
    int first = w_.size();
    for (const draft::reader& r : seen.edges)
      first = std::min(first, r.node);
    const int one = add_gather({i}, seen.dims, seen.axis, first);
    for (const draft::reader& r : seen.edges)
      w_.set_operand(r, {one});
  }

  int add_gather(operand from, const shape& dims, int axis, int before) {
    op::gather g = takes_;
    g.data = dims;
    g.indices = {1};
    g.axis = axis;
    return w_.insert_before(before, w_.at(at_).name + std::string(taken_mark), op::layer(g),
                            {from, {constant}});
  }

  draft w_;
  int at_;
  op::gather takes_;
  std::map<int, seen_result, std::greater<>> pending_{}; ///< the last one first
  std::vector<int> changed_{};                           ///< products that compute one place
};
} // namespace detail

/// `g` with one Gather of a place moved back, the last one where that saves operations and moves no
/// more bytes; nothing: there is none.
inline std::optional<graph> only_rows_read(const graph& g) {
  for (int i = static_cast<int>(g.nodes.size()) - 1; i >= 0; --i) {
    const node& n = g.nodes[static_cast<std::size_t>(i)];
    const op::layer* l = layer_of(g, n);
    if (l == nullptr || !detail::takes_one(*l, n) || n.operands[0].node < 0 ||
        n.operands[0].output != 0)
      continue;
    auto taken = detail::row_taker(g, i).taken();
    if (taken && taken->rewrites.back().flops > 0 && taken->rewrites.back().bytes >= 0)
      return taken;
  }
  return std::nullopt;
}

} // namespace benanza::model
