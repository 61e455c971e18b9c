// SPDX-License-Identifier: Apache-2.0
// Rule: strides moved back. A window of one tap with a stride (a 1x1 convolution or pool) reads
// only some points. If every reader of a tensor picks the same points, the others are not needed:
// elementwise layers before it work on those points alone, and the convolution or pool before these
// takes the stride itself. Where a branch joins that others read whole, a pool of one tap picks its
// points.
//   before: Conv 3x3 -> Relu -> Conv 1x1 /2       after: Conv 3x3 /2 -> Relu -> Conv 1x1
// Proof: a window with stride s, seen at every d-th output, is the window with stride s * d: output
// o reads from o * s * d - pad on in both, and (n - 1) / d + 1 of n outputs remain. An elementwise
// layer gives at a point what it makes of that point. No weight changes.
#pragma once

#include "../../op/kinds.hpp"
#include "draft.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::model {

inline constexpr std::string_view strides_rule = "strides moved back";

namespace detail {
/// The strides of a window of one tap that picks points; nothing: it is none.
inline std::optional<extents> picks(const op::layer& l) {
  const auto of = [](const auto& w) -> std::optional<extents> {
    if (!w.kernel.all(1) || !w.pads.all(0) || w.strides.all(1)) return std::nullopt;
    return w.strides;
  };
  if (const auto* c = op::as<op::conv>(l)) return of(*c);
  const auto* p = op::as<op::pool>(l);
  if (p == nullptr || p->function != op::pooling::max || p->ceil ||
      p->indices != op::pool_index::none)
    return std::nullopt;
  return of(*p);
}

/// `s`, of which only every d-th point along its last dims is left.
inline shape thinned(shape s, const extents& d) {
  for (int i = 0; i < d.size; ++i)
    if (std::int64_t& n = s[s.size - d.size + i]; n > 0) n = (n - 1) / d[i] + 1;
  return s;
}

/// A convolution or pool with that stride more; nothing: the layer is none, or its points are not
/// known.
inline std::optional<op::layer> strided(const op::layer& l, const extents& d) {
  const auto with = [&d](auto w) -> std::optional<op::layer> {
    if (w.kernel.size != d.size) return std::nullopt;
    extents strides;
    for (int i = 0; i < d.size; ++i)
      strides.push(checked_multiply(op::entry(w.strides, i, 1), d[i]));
    const shape wanted = thinned(w.output(), d);
    w.strides = strides;
    if (!(w.output() == wanted)) return std::nullopt;
    w.validate();
    return op::layer(w.canonical_form());
  };
  if (const auto* c = op::as<op::conv>(l)) return with(*c);
  const auto* p = op::as<op::pool>(l);
  if (p == nullptr || p->global() || p->ceil || p->indices != op::pool_index::none)
    return std::nullopt;
  return with(*p);
}

/// An elementwise layer on fewer points, and which of its operands have fewer then.
struct thinner {
  op::layer layer;
  std::vector<std::size_t> operands;
};

inline std::optional<thinner> thinner_of(const op::layer& l, const extents& d,
                                         std::size_t operands) {
  const auto fits = [&d](const shape& s) { return s.size == d.size + 2; };
  if (const auto* u = op::as<op::unary>(l)) {
    if (!fits(u->input) || u->element != dtype::real || !op::of_reals(u->function))
      return std::nullopt;
    return thinner{op::unary{.function = u->function, .input = thinned(u->input, d)}, {0}};
  }
  if (const auto* n = op::as<op::batch_norm>(l)) {
    if (!fits(n->input)) return std::nullopt;
    return thinner{op::batch_norm{.input = thinned(n->input, d)}, {0}};
  }
  const auto* b = op::as<op::binary>(l);
  if (b == nullptr || b->element != dtype::real || b->truth() || op::of_bits(b->function) ||
      !fits(b->output()) || static_cast<std::size_t>(b->operands) != operands)
    return std::nullopt;
  const shape result = b->output();
  // Of an operand each spatial dim is that of the result, or each is one.
  enum class extent { whole, one, mixed };
  const auto extent_of = [&](const shape& s) {
    bool whole = s.size >= d.size, one = true;
    for (int i = 1; i <= d.size; ++i) {
      const std::int64_t n = i <= s.size ? s[s.size - i] : 1;
      whole = whole && n == result[result.size - i];
      one = one && n == 1;
    }
    return whole ? extent::whole : one ? extent::one : extent::mixed;
  };
  const extent a = extent_of(b->a), other = extent_of(b->b);
  if (a == extent::mixed || other == extent::mixed) return std::nullopt;
  op::binary few = *b;
  thinner out{};
  if (a == extent::whole) {
    few.a = thinned(b->a, d);
    out.operands.push_back(0);
  }
  if (other == extent::whole) {
    few.b = thinned(b->b, d);
    for (std::size_t k = 1; k < operands; ++k)
      out.operands.push_back(k);
  }
  out.layer = op::layer(few.canonical_form());
  return out;
}

/// The points that all readers of a result pick; nothing: not all pick, or not the same.
inline std::optional<extents> wanted_points(const draft& w, int i) {
  std::optional<extents> wanted;
  for (const draft::reader& r : w.readers(i)) {
    const op::layer* l = w.layer(r.node);
    const auto its = l == nullptr || r.operand != 0 ? std::nullopt : picks(*l);
    // A pool that only picks is dropped then; what the caller gets stays.
    if (!its || (wanted && !(*wanted == *its)) || (op::is<op::pool>(*l) && w.at(r.node).given))
      return std::nullopt;
    wanted = its;
  }
  return wanted;
}

/// Moves the strides of all that reads one tensor back to before it.
class stride_mover {
public:
  stride_mover(const graph& g, int first, const extents& d)
      : w_(g)
      , d_(d) {
    pending_[first];
  }

  /// Nothing: no convolution or pool takes the stride.
  std::optional<graph> moved() {
    while (!pending_.empty()) {
      const auto [i, edges] = *pending_.begin();
      pending_.erase(pending_.begin());
      if (!thin(i, edges) && !edges.empty()) pick(i, edges);
    }
    if (windows_.empty()) return std::nullopt;
    return w_.finished(strides_rule, windows_);
  }

private:
  using edges_of = std::vector<draft::reader>;

  /// True if each reader of `i` sees the same few points: through one of `edges`, or as it picks.
  bool all_pick(int i, const edges_of& edges) const {
    return std::all_of(w_.readers(i).begin(), w_.readers(i).end(), [&](const draft::reader& r) {
      const op::layer* l = w_.layer(r.node);
      return std::find(edges.begin(), edges.end(), r) != edges.end() ||
             (l != nullptr && r.operand == 0 && picks(*l) == d_ &&
              !(op::is<op::pool>(*l) && w_.at(r.node).given));
    });
  }

  /// Node `i` makes only the points that are wanted; false: it cannot.
  bool thin(int i, const edges_of& edges) {
    if (!w_.inner(i) || !all_pick(i, edges)) return false;
    const std::vector<operand> operands = w_.at(i).operands;
    if (auto window = strided(*w_.layer(i), d_)) {
      unpick(i, edges);
      w_.set_layer(i, std::move(*window));
      windows_.push_back(i);
      return true;
    }
    auto few = thinner_of(*w_.layer(i), d_, operands.size());
    const auto fixed = [&](std::size_t k) { return operands[k].node == constant; };
    if (!few || operands.empty() || std::any_of(few->operands.begin(), few->operands.end(), fixed))
      return false;
    unpick(i, edges);
    const op::layer whole = *w_.layer(i);
    w_.set_layer(i, std::move(few->layer));
    for (const std::size_t k : few->operands) {
      const operand& o = operands[k];
      const draft::reader edge{i, k};
      if (o.node >= 0 && o.output == 0) {
        pending_[o.node].push_back(edge);
        seen_[o.node] = dims_seen(whole, k);
      } else {
        w_.set_operand(edge, {add_pool(o, dims_seen(whole, k), w_.at(i).name, i)});
      }
    }
    return true;
  }

  static shape dims_seen(const op::layer& l, std::size_t k) {
    const auto* b = op::as<op::binary>(l);
    return b == nullptr ? op::output(l) : k == 0 ? b->a : b->b;
  }

  /// Readers of `i` that pick its points find them picked.
  void unpick(int i, const edges_of& edges) {
    for (const draft::reader& r : w_.readers(i)) {
      if (std::find(edges.begin(), edges.end(), r) != edges.end()) continue;
      if (const auto* c = op::as<op::conv>(w_.layer(r.node))) {
        op::conv plain = *c;
        plain.input = thinned(c->input, d_);
        plain.strides = {};
        w_.set_layer(r.node, op::layer(plain.canonical_form()));
      } else {
        w_.replace(r.node, {i});
      }
    }
  }

  /// The points of `i` are picked for those that want only them: others read all.
  void pick(int i, const edges_of& edges) {
    int first = w_.size();
    for (const draft::reader& r : edges)
      first = std::min(first, r.node);
    const int pool = add_pool({i}, seen_.at(i), w_.at(i).name, first);
    for (const draft::reader& r : edges)
      w_.set_operand(r, {pool});
  }

  int add_pool(operand from, const shape& dims, const std::string& name, int before) {
    const op::pool p{.function = op::pooling::max,
                     .input = dims,
                     .kernel = extents::filled(d_.size, 1),
                     .strides = d_};
    return w_.insert_before(before, name + "/picked", op::layer(p.canonical_form()), {from});
  }

  draft w_;
  extents d_;
  /// Results of which some readers want only the picked points; the last one first, so that all
  /// readers of a result are decided before it is.
  std::map<int, edges_of, std::greater<>> pending_{};
  std::map<int, shape> seen_{};
  std::vector<int> windows_{}; ///< that took the stride
};
} // namespace detail

/// `g` with strides moved back from one tensor, the last one where that saves operations and moves
/// no more bytes; nothing: there is none.
inline std::optional<graph> strides_moved_back(const graph& g) {
  const draft seen(g);
  for (int i = seen.size() - 1; i >= 0; --i) {
    if (!seen.inner(i)) continue;
    const std::optional<extents> d = detail::wanted_points(seen, i);
    if (!d) continue;
    auto moved = detail::stride_mover(g, i, *d).moved();
    if (moved && moved->rewrites.back().flops > 0 && moved->rewrites.back().bytes >= 0)
      return moved;
  }
  return std::nullopt;
}

} // namespace benanza::model
