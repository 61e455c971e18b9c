// SPDX-License-Identifier: Apache-2.0
// How is a model fused? Rules first, then growth along patterns. Where BENANZA_COMPILED is defined,
// one file of the program includes this for all.
#pragma once

#include "../op/kinds.hpp"
#include "code_moves.hpp"
#include "fold.hpp"
#include "fuse.hpp"
#include "layer_table.hpp"
#include "operands.hpp"
#include "patterns.hpp"
#include "recognise.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace benanza::model {

namespace detail {
/// A fused layer while it grows: nodes, what it computes, and where its operands come from.
struct growth {
  op::layer layer;
  std::vector<int> parts;
  std::vector<operand> operands;
};

/// The base of a fused layer with steps, as a layer.
template <class Base>
std::optional<op::layer> with_step(const op::fused<Base>& f, const op::step& s) {
  op::fused<Base> out = f;
  try {
    out.steps.push(s);
    out.validate();
  } catch (const error&) {
    return std::nullopt;
  }
  return op::layer(out.canonical_form());
}

/// `l` with one more step; nothing if that is no layer.
inline std::optional<op::layer> with_step(const op::layer& l, const op::step& s) {
  return op::visit(
      [&](const auto& p) -> std::optional<op::layer> {
        using kind = std::decay_t<decltype(p)>;
        if constexpr (op::is_fused<kind>)
          return with_step(p, s);
        else if constexpr (op::is_kind<op::fused<kind>>)
          return with_step(op::fused<kind>{.base = p}, s);
        else
          return std::nullopt;
      },
      l);
}
} // namespace detail

/// Fuses one graph.
class fuser {
public:
  fuser(const graph& g, const std::vector<run>& runs)
      : from_(g)
      , runs_(runs)
      , first_readers_(g.nodes.size(), -1)
      , readers_(g.nodes.size())
      , reads_(g.nodes.size())
      , taken_(g.nodes.size())
      , shown_sums_(g.nodes.size()) {
    for (std::size_t i = 0; i < g.nodes.size(); ++i)
      for (const operand& o : known_operands(g.nodes[i]))
        if (o.node >= 0) {
          const auto from = static_cast<std::size_t>(o.node);
          if (reads_[from]++ == 0) first_readers_[from] = static_cast<int>(i);
          readers_[from] = static_cast<int>(i);
        }
  }

  graph fused() {
    std::map<int, detail::growth> by_last;
    for (const run& p : runs_)
      for (std::size_t i = 0; i < from_.nodes.size(); ++i)
        if (const auto grown = is_normalized_sum(p) ? normalized_sum(p, static_cast<int>(i))
                                                    : grow(p, static_cast<int>(i))) {
          for (int part : grown->parts)
            taken_[static_cast<std::size_t>(part)] = true;
          shown_sums_[i] = is_normalized_sum(p);
          by_last.emplace(grown->parts.back(), *grown);
        }
    return assemble(by_last);
  }

private:
  const node& at(int i) const { return from_.nodes[static_cast<std::size_t>(i)]; }
  const op::layer* layer_of(int i) const { return model::layer_of(from_, at(i)); }

  /// The one node that reads the result of `i`, if it reads it once and no other node does.
  std::optional<int> only_reader(int i) const {
    if (reads_[static_cast<std::size_t>(i)] != 1 || at(i).given) return std::nullopt;
    return readers_[static_cast<std::size_t>(i)];
  }

  /// The addition `first` and the normalization of its sum, if that is the first to read it: others
  /// find the sum when the normalization is done.
  std::optional<detail::growth> normalized_sum(const run& p, int first) const {
    const op::layer* sum = layer_of(first);
    const int reader = first_readers_[static_cast<std::size_t>(first)];
    if (sum == nullptr || taken_[static_cast<std::size_t>(first)] || !matches(p[0], *sum) ||
        reader < 0 || taken_[static_cast<std::size_t>(reader)] || layer_of(reader) == nullptr ||
        !matches(p[1], *layer_of(reader)))
      return std::nullopt;
    const auto& b = op::get<op::binary>(*sum);
    const std::vector<operand> addends = known_operands(at(first));
    std::vector<operand> reads = known_operands(at(reader));
    const auto is_sum = [first](const operand& o) { return o.node == first; };
    if (!(b.a == b.b) || addends.size() != 2 || !is_sum(reads[0]) ||
        std::count_if(reads.begin(), reads.end(), is_sum) != 1)
      return std::nullopt;
    auto made = op::visit(
        [&](const auto& norm) -> std::optional<op::layer> {
          using kind = std::decay_t<decltype(norm)>;
          if constexpr (op::is_kind<op::residual<kind>>) {
            const bool read = reads_[static_cast<std::size_t>(first)] > 1 || at(first).given;
            const op::residual<kind> out{.base = norm, .sum = read};
            if (norm.input == b.a && op::results(*layer_of(reader)).size == 1)
              return op::layer(out.canonical_form());
          }
          return std::nullopt;
        },
        *layer_of(reader));
    if (!made) return std::nullopt;
    reads[0] = addends[0];
    reads.push_back(addends[1]);
    return detail::growth{std::move(*made), {first, reader}, std::move(reads)};
  }

  /// The longest run from node `first` that matches the pattern; nothing if it is but one node.
  std::optional<detail::growth> grow(const run& p, int first) const {
    const op::layer* base = layer_of(first);
    if (base == nullptr || taken_[static_cast<std::size_t>(first)] || !matches(p[0], *base))
      return std::nullopt;
    detail::growth g{*base, {first}, known_operands(at(first))};
    std::size_t word = 1;
    bool met = false; // the word, which may match more
    while (word < p.size()) {
      const std::size_t known = g.parts.size();
      const std::optional<int> next = behind_views(g);
      const op::layer* l =
          next && !taken_[static_cast<std::size_t>(*next)] ? layer_of(*next) : nullptr;
      // A normalization may be one node, or several steps of one that is written out, or both.
      const bool norm = p[word].op == "BatchNormalization";
      const bool fits =
          l != nullptr && (matches(p[word], *l) || (norm && normalizes(g, *next, *l)));
      if (fits && take(g, *next, *l, p)) {
        met = norm;
        word += !p[word].repeated && !norm;
        continue;
      }
      g.parts.resize(known);
      if (p[word].optional || met) {
        met = false;
        ++word;
      } else {
        return std::nullopt;
      }
    }
    if (g.parts.size() < 2) return std::nullopt;
    return g;
  }

  /// The one node that reads the result of `g`, perhaps through views that it does not mind, which
  /// become parts of `g`. Products of matrices may have their rows in other dims.
  std::optional<int> behind_views(detail::growth& g) const {
    constexpr int most = 4;
    std::optional<int> next = only_reader(g.parts.back());
    for (int i = 0; i < most && next && !taken_[static_cast<std::size_t>(*next)]; ++i) {
      const op::layer* l = layer_of(*next);
      const auto* v = l == nullptr ? nullptr : op::as<op::view>(l);
      if (v == nullptr || v->element != dtype::real) break;
      if (v->input != v->result && !of_rows(g.layer)) break;
      g.parts.push_back(*next);
      next = only_reader(*next);
    }
    return next;
  }

  static bool of_rows(const op::layer& l) {
    return op::is<op::gemm, op::matmul, op::fused<op::gemm>, op::fused<op::matmul>>(l);
  }

  /// An operand of dims `s` of a join that sees `result` as `seen`, as one of `result`; nothing if
  /// it is neither a row, a number nor as large.
  static std::optional<shape> among(const shape& result, const shape& seen, const shape& s) {
    if (seen == result || elements(s) == 1) return s;
    if (elements(seen) != elements(result)) return std::nullopt;
    if (s == seen) return result;
    const std::int64_t last = result.back();
    if (seen.back() != last || elements(s) != last || s.back() != last) return std::nullopt;
    return shape{last};
  }

  /// True if node `next` does with the result of `g`, by a constant row, what its weights and bias
  /// can do.
  bool normalizes(const detail::growth& g, int next, const op::layer& l) const {
    const auto* b = op::as<op::binary>(l);
    const std::vector<operand> its = known_operands(at(next));
    const shape result = op::output(g.layer);
    if (b == nullptr || !detail::is_join(l) || its.size() != 2 || result.size < 2) return false;
    const bool first = its[0].node == g.parts.back();
    if (its[first ? 1 : 0].node != constant) return false;
    using f = op::binary_function;
    const bool adds = b->function == f::add || b->function == f::sum;
    const bool scales = b->function == f::mul || (b->function == f::div && first);
    // What takes it up is known beforehand only if it is constant: weights, bias, or bias alone.
    for (std::size_t k = scales ? 1 : 2; k < g.operands.size(); ++k)
      if (g.operands[k].node != constant) return false;
    const shape& dims = first ? b->b : b->a;
    return (adds || (b->function == f::sub && first) || scales) &&
           detail::is_row_of(dims, result, 1) && op::output(l) == result &&
           (scales ? detail::scales_by_weights(g.layer) : detail::with_folded(g.layer).has_value());
  }

  /// Adds node `next` to `g`; false, and `g` as it was, if that cannot be.
  bool take(detail::growth& g, int next, const op::layer& l, const run& p) const {
    const int last = g.parts.back();
    std::optional<op::layer> grown;
    std::vector<operand> operands = g.operands;
    const std::vector<operand> its = known_operands(at(next));
    if (op::is<op::batch_norm>(l)) {
      grown = detail::with_folded(g.layer);
      bias_operand(grown, g.layer, operands);
    } else if (const auto* u = op::as<op::unary>(l)) {
      grown = detail::with_step(g.layer, op::step(u->function));
    } else if (const auto* b = op::as<op::binary>(l)) {
      if (its.size() != 2) return false;
      const bool first = its[0].node == last;
      const operand& other = its[first ? 1 : 0];
      // The result so far has to be the first operand, or it must not matter.
      const bool commutes =
          b->function == op::binary_function::add || b->function == op::binary_function::sum ||
          b->function == op::binary_function::mul || b->function == op::binary_function::min ||
          b->function == op::binary_function::max;
      if (!first && !commutes) return false;
      // Of two branches that meet, the later one takes the join, unless it cannot.
      if (other.node > last && !joins_later(g, other.node, p)) return false;
      const shape result = op::output(g.layer);
      const auto other_dims = among(result, op::output(l), first ? b->b : b->a);
      if (!other_dims) return false;
      const shape dims = *other_dims;
      const bool adds =
          b->function == op::binary_function::add || b->function == op::binary_function::sum;
      if (normalizes(g, next, l)) {
        const bool scales =
            b->function == op::binary_function::mul || b->function == op::binary_function::div;
        grown = scales ? g.layer : detail::with_folded(g.layer);
        bias_operand(grown, g.layer, operands);
      } else {
        const bool row = result.size > 1 && (detail::is_row_of(dims, result, 1) ||
                                             detail::is_row_of(dims, result, result.size - 1));
        if (!(dims == result) && elements(dims) != 1 && (elementwise(g.layer) || !row))
          return false;
        const auto f = adds ? op::binary_function::add : b->function;
        grown = detail::with_step(g.layer, op::step(f, dims));
        operands.push_back(other);
      }
    }
    if (!grown) return false;
    g.layer = std::move(*grown);
    g.operands = std::move(operands);
    g.parts.push_back(next);
    return true;
  }

  static bool elementwise(const op::layer& l) {
    return op::is<op::unary, op::binary, op::fused<op::unary>, op::fused<op::binary>>(l);
  }

  /// True if elementwise `g` takes a join with a branch that ends later, which it finds when it
  /// is done: `p` is a gate, or that branch belongs to another layer, or begins none.
  bool joins_later(const detail::growth& g, int other, const run& p) const {
    if (!elementwise(g.layer)) return false;
    const op::layer* l = layer_of(other);
    return is_gate(p) || taken_[static_cast<std::size_t>(other)] || !only_reader(other) ||
           l == nullptr || std::none_of(runs_.begin(), runs_.end(), [l](const run& r) {
             return matches(r[0], *l);
           });
  }

  /// A bias that was folded in is a constant operand more.
  static void bias_operand(const std::optional<op::layer>& grown, const op::layer& before,
                           std::vector<operand>& operands) {
    if (grown && !(*grown == before) && operands.size() == 2) operands.push_back({constant});
  }

  graph assemble(const std::map<int, detail::growth>& by_last) const {
    graph out = from_;
    out.name = from_.name + ",fused";
    out.unfused = from_.name;
    out.nodes.clear();
    out.layers.clear();
    std::vector<int> place(from_.nodes.size(), constant);
    std::vector<op::layer> layer_of_node;
    for (int i = 0; i < static_cast<int>(from_.nodes.size()); ++i) {
      const auto grown = by_last.find(i);
      if (grown == by_last.end() && taken_[static_cast<std::size_t>(i)]) continue;
      node n = at(i);
      n.parts = {i};
      n.operands = known_operands(n);
      std::optional<op::layer> its;
      if (n.layer != no_layer) its = *layer_of(i);
      if (grown != by_last.end()) {
        n.parts = grown->second.parts;
        n.operands = grown->second.operands;
        its = grown->second.layer;
        n.name = at(n.parts.front()).name;
        n.op = op::family(*its);
        n.given = std::any_of(n.parts.begin(), n.parts.end(), [&](int p) { return at(p).given; });
      }
      for (operand& o : n.operands)
        if (o.node >= 0) {
          if (shown_sums_[static_cast<std::size_t>(o.node)]) o.output = 1;
          o.node = place[static_cast<std::size_t>(o.node)];
        }
      n.inputs = inputs_of(n.operands);
      for (int part : n.parts)
        place[static_cast<std::size_t>(part)] = static_cast<int>(out.nodes.size());
      n.layer = its ? static_cast<int>(layer_of_node.size()) : no_layer;
      if (its) layer_of_node.push_back(*its);
      out.nodes.push_back(std::move(n));
    }
    number_layers(out, layer_of_node);
    return out;
  }

  const graph& from_;
  const std::vector<run>& runs_;
  std::vector<int> first_readers_;
  std::vector<int> readers_; ///< the last ones
  std::vector<int> reads_;
  std::vector<bool> taken_;
  std::vector<bool> shown_sums_; ///< additions whose sums are the second result of a fused node
};

namespace detail {
/// `g`, whose known layers are those of `from`, fused by those runs.
inline graph fused_by(const graph& g, const graph& from, const std::vector<run>& runs) {
  graph out = with_codes(fuser(from, runs).fused());
  if (&from == &g) return out;
  for (node& n : out.nodes) {
    std::vector<int> parts;
    for (int p : n.parts) {
      const std::vector<int>& of_it = from.nodes[static_cast<std::size_t>(p)].parts;
      parts.insert(parts.end(), of_it.begin(), of_it.end());
    }
    std::sort(parts.begin(), parts.end());
    n.parts = std::move(parts);
  }
  return out;
}
} // namespace detail

BENANZA_INLINE std::vector<graph> fused_forms(const graph& g, const patterns& by) {
  const std::optional<graph> known = recognise(g, by.rules);
  const graph& from = known ? *known : g;
  graph first = detail::fused_by(g, from, by.runs);
  if (!known && first.nodes.size() == g.nodes.size()) return {};
  std::vector<run> norms_first = by.runs;
  std::stable_partition(norms_first.begin(), norms_first.end(), is_normalized_sum);
  graph second = detail::fused_by(g, from, norms_first);
  second.name = g.name + ",fused-norms";
  std::vector<graph> out{std::move(first)};
  const auto add = [&out](graph&& form) {
    const auto same = [](const node& a, const node& b) { return a.parts == b.parts; };
    const bool there = std::any_of(out.begin(), out.end(), [&](const graph& f) {
      return std::equal(f.nodes.begin(), f.nodes.end(), form.nodes.begin(), form.nodes.end(), same);
    });
    if (!there) out.push_back(std::move(form));
  };
  add(std::move(second));
  // Only where elementwise layers are fused with each other at all.
  if (std::any_of(by.runs.begin(), by.runs.end(),
                  [](const run& r) { return r[0].op == "Elementwise"; })) {
    std::vector<run> gates_first = norms_first;
    gates_first.insert(std::find_if_not(gates_first.begin(), gates_first.end(), is_normalized_sum),
                       parse_run(gate_run));
    graph third = detail::fused_by(g, from, gates_first);
    third.name = g.name + ",fused-gates";
    add(std::move(third));
  }
  return out;
}

} // namespace benanza::model
