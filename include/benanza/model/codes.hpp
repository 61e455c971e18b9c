// SPDX-License-Identifier: Apache-2.0
// What does a model mean that says its codes by pairs of QuantizeLinear and DequantizeLinear? Two
// things, and both are asked for: layers on codes, each with the pairs around it (a framework that
// quantises), and layers of real numbers, without any pair (the model before it was quantised). A
// layer becomes one on codes if what it reads was turned back from codes and its weights were, too;
// where its result is read by one QuantizeLinear alone, that is a part of it. A function of one
// number between codes becomes a table.
//
//   on_codes(g)         // QLinearConv for DequantizeLinear, Conv, QuantizeLinear
//   unquantised(g)      // Conv; nothing if g has no pairs
#pragma once

#include "../op/kinds.hpp"
#include "layer_table.hpp"
#include "operands.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace benanza::model {

namespace detail {

/// A graph's nodes with who reads them.
class code_reader {
public:
  explicit code_reader(const graph& g)
      : g_(g)
      , readers_(g.nodes.size()) {
    for (std::size_t i = 0; i < g.nodes.size(); ++i)
      for (const operand& o : known_operands(g.nodes[i]))
        if (o.node >= 0) readers_[static_cast<std::size_t>(o.node)].push_back(static_cast<int>(i));
  }

  const node& at(int i) const { return g_.nodes[static_cast<std::size_t>(i)]; }
  const std::vector<int>& readers(int i) const { return readers_[static_cast<std::size_t>(i)]; }
  template <class Kind>
  const Kind* layer(int i) const {
    return i < 0 ? nullptr : op::as<Kind>(layer_of(g_, at(i)));
  }
  /// The layer of a node that quantises, or turns back, by one scale.
  const op::quantize* one_scale(int i, bool inverse) const {
    const auto* q = layer<op::quantize>(i);
    return q != nullptr && q->inverse == inverse && q->axis < 0 ? q : nullptr;
  }
  /// The same of codes of 8 bits.
  const op::quantize* of_bytes(int i, bool inverse) const {
    const auto* q = one_scale(i, inverse);
    return q != nullptr && (q->code == dtype::u8 || q->code == dtype::s8) ? q : nullptr;
  }

private:
  const graph& g_;
  std::vector<std::vector<int>> readers_;
};

/// A layer on codes while it is put together.
struct code_layer {
  op::layer layer;
  std::vector<operand> operands;
  std::vector<int> before; ///< nodes that turn its operands back from codes
  int after = -1;          ///< the one that quantises its result
};

/// True for steps of which only the smallest number is left on codes.
inline bool rectifies(const op::step_list& steps) {
  return std::all_of(steps.begin(), steps.end(), [](const op::step& s) {
    return !s.joins && (s.function == op::unary_function::relu || //
                        s.function == op::unary_function::clip);
  });
}

/// Makes node `i`, of base `base`, one on codes; nothing if its operands are none.
template <class Base>
std::optional<code_layer> layer_on_codes(const code_reader& in, int i, const Base& base,
                                         bool rectified) {
  const std::vector<operand> its = known_operands(in.at(i));
  if (its.size() < 2) return std::nullopt;
  op::on_codes<Base> p{.base = base, .rectified = rectified};
  const op::code_places at = p.places();
  code_layer out{.layer = p, .operands = {}, .before = {}};
  const int places = std::max({at.b_zero, at.zero, p.biased() ? at.bias : 0}) + 1;
  out.operands.assign(static_cast<std::size_t>(places), {constant});
  dtype types[2]{};
  for (int k = 0; k < 2; ++k) {
    const operand& o = its[static_cast<std::size_t>(k)];
    (k == 0 ? p.zero_a : p.zero_b) = false;
    if (o.node == constant && k == 1 && !p.adds) {
      types[k] = o.codes;
      continue;
    }
    const op::quantize* q = in.of_bytes(o.node, true);
    if (q == nullptr) return std::nullopt;
    types[k] = q->code;
    (k == 0 ? p.zero_a : p.zero_b) = q->zero_point;
    out.operands[static_cast<std::size_t>(k == 0 ? at.a : at.b)] =
        known_operands(in.at(o.node)).front();
    out.before.push_back(o.node);
  }
  dtype result = dtype::real;
  const std::vector<int>& readers = in.readers(i);
  if (readers.size() == 1 && !in.at(i).given)
    if (const op::quantize* q = in.of_bytes(readers[0], false)) {
      out.after = readers[0];
      result = q->code;
      p.zero_result = q->zero_point;
    }
  if (p.adds && result == dtype::real) return std::nullopt;
  const auto found = op::code_types_of(types[0], types[1], result);
  if (!found) return std::nullopt;
  p.types = *found;
  p.per_channel = !p.adds && its[1].node == constant;
  try {
    p.validate();
  } catch (const error&) {
    return std::nullopt;
  }
  out.layer = p.canonical_form();
  return out;
}

template <class Base>
std::optional<code_layer> layer_on_codes(const code_reader& in, int i) {
  if (const auto* base = in.layer<Base>(i)) return layer_on_codes(in, i, *base, false);
  if (const auto* f = in.layer<op::fused<Base>>(i); f != nullptr && rectifies(f->steps))
    return layer_on_codes(in, i, f->base, true);
  return std::nullopt;
}

/// A function of one number between codes, or another scale for them, as a table.
inline std::optional<code_layer> table_on_codes(const code_reader& in, int i) {
  const auto* f = in.layer<op::fused<op::unary>>(i);
  const bool function = in.layer<op::unary>(i) != nullptr ||
                        (f != nullptr && std::none_of(f->steps.begin(), f->steps.end(),
                                                      [](const op::step& s) { return s.joins; }));
  const std::vector<operand> its = known_operands(in.at(i));
  const std::vector<int>& readers = in.readers(i);
  if (its.empty() || (function && (readers.size() != 1 || in.at(i).given))) return std::nullopt;
  const op::quantize *from = in.of_bytes(its[0].node, true),
                     *to = in.of_bytes(function ? readers[0] : i, false);
  if (from == nullptr || to == nullptr) return std::nullopt;
  return code_layer{.layer = op::lookup_table{from->input, from->code, to->code},
                    .operands = {known_operands(in.at(its[0].node)).front(), {constant}},
                    .before = {its[0].node},
                    .after = function ? readers[0] : -1};
}

/// Node `i` on codes, if it is a layer that can be.
inline std::optional<code_layer> layer_on_codes(const code_reader& in, int i) {
  if (auto made = layer_on_codes<op::conv>(in, i)) return made;
  if (auto made = layer_on_codes<op::gemm>(in, i)) return made;
  if (auto made = layer_on_codes<op::matmul>(in, i)) return made;
  if (auto made = table_on_codes(in, i)) return made;
  return layer_on_codes<op::binary>(in, i);
}

/// The graph of nodes that are left, in their order, with layers of their own.
class graph_of_left {
public:
  explicit graph_of_left(const graph& from)
      : out_(from)
      , place_(from.nodes.size(), {constant, any_output}) {
    out_.nodes.clear();
    out_.layers.clear();
  }
  /// A node, its layer (null: none), and the nodes of the graph that it is read in place of. Its
  /// number.
  int add(node n, const op::layer* l, const std::vector<int>& stands_for) {
    for (operand& o : n.operands)
      if (o.node >= 0) o = seen(o);
    return add_placed(std::move(n), l, stands_for);
  }
  /// The same of a node whose operands are those of the new graph.
  int add_placed(node n, const op::layer* l, const std::vector<int>& stands_for) {
    const int number = static_cast<int>(out_.nodes.size());
    n.inputs = inputs_of(n.operands);
    for (int i : stands_for)
      place_[static_cast<std::size_t>(i)] = {number, any_output};
    n.layer = l ? static_cast<int>(layers_.size()) : no_layer;
    if (l) layers_.push_back(*l);
    out_.nodes.push_back(std::move(n));
    return number;
  }
  /// Who reads node `i` reads that result from now on.
  void stand_for(int i, operand o) { place_[static_cast<std::size_t>(i)] = o; }
  /// What an operand is in the new graph.
  operand seen(operand o) const {
    const operand& at = place_[static_cast<std::size_t>(o.node)];
    o.node = at.node;
    if (at.output != any_output) o.output = at.output;
    return o;
  }
  graph take() {
    number_layers(out_, layers_);
    return std::move(out_);
  }

private:
  static constexpr int any_output = -1; ///< the one that is read
  graph out_;
  std::vector<operand> place_;      ///< of each node: what replaces it
  std::vector<op::layer> layers_{}; ///< of the nodes that have one
};
} // namespace detail

/// `g` with layers on codes for those between pairs; of the nodes that are parts of one, their own
/// parts. What turns codes back stays if others read it.
inline graph on_codes(const graph& g) {
  const detail::code_reader in(g);
  const int count = static_cast<int>(g.nodes.size());
  std::vector<std::optional<detail::code_layer>> made(g.nodes.size());
  std::vector<int> left(g.nodes.size()), taken_by(g.nodes.size(), -1);
  bool any = false;
  for (int i = 0; i < count; ++i) {
    left[static_cast<std::size_t>(i)] = static_cast<int>(in.readers(i).size());
    auto& m = made[static_cast<std::size_t>(i)] = detail::layer_on_codes(in, i);
    if (!m) continue;
    any = true;
    if (m->after >= 0) taken_by[static_cast<std::size_t>(m->after)] = i;
    for (int b : m->before)
      --left[static_cast<std::size_t>(b)];
  }
  if (!any) return g;
  const auto end_of = [&](int i) {
    const int after = made[static_cast<std::size_t>(i)]->after;
    return after >= 0 ? after : i;
  };
  // What is not read any more is a part of the first one that read it.
  for (int i = 0; i < count; ++i)
    if (const auto& m = made[static_cast<std::size_t>(i)])
      for (int b : m->before) {
        int& owner = taken_by[static_cast<std::size_t>(b)];
        if (left[static_cast<std::size_t>(b)] == 0 && !in.at(b).given &&
            (owner < 0 || end_of(i) < end_of(owner)))
          owner = i;
      }
  detail::graph_of_left out(g);
  std::map<int, std::vector<int>> parts;
  const auto own_parts = [&](int i) {
    const std::vector<int>& p = in.at(i).parts;
    return p.empty() ? std::vector<int>{i} : p;
  };
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const int owner = taken_by[at] >= 0 ? taken_by[at] : made[at] ? i : -1;
    if (owner < 0) {
      node n = in.at(i);
      n.operands = known_operands(n);
      n.parts = own_parts(i);
      out.add(std::move(n), layer_of(g, in.at(i)), {i});
      continue;
    }
    const std::vector<int> own = own_parts(i);
    parts[owner].insert(parts[owner].end(), own.begin(), own.end());
    const detail::code_layer& m = *made[static_cast<std::size_t>(owner)];
    if (i != end_of(owner)) continue;
    node n = in.at(owner);
    n.op = op::family(m.layer);
    n.operands = m.operands;
    n.parts = parts[owner];
    std::sort(n.parts.begin(), n.parts.end());
    out.add(std::move(n), &m.layer, {owner, i});
  }
  return out.take();
}

/// `g` without its pairs: as the model of real numbers that it represents; nothing if it has none.
inline std::optional<graph> unquantised(const graph& g) {
  const detail::code_reader in(g);
  std::vector<char> gone(g.nodes.size());
  std::vector<operand> stands(g.nodes.size());
  bool any = false;
  for (int i = 0; i < static_cast<int>(g.nodes.size()); ++i) {
    const auto* back = in.layer<op::quantize>(i);
    if (back == nullptr || !back->inverse) continue;
    const int from = known_operands(in.at(i)).front().node;
    const auto* codes = in.layer<op::quantize>(from);
    if (codes == nullptr || codes->inverse) continue;
    any = true;
    gone[static_cast<std::size_t>(i)] = true;
    stands[static_cast<std::size_t>(i)] = known_operands(in.at(from)).front();
  }
  if (!any) return std::nullopt;
  // What makes codes that nothing else reads is dropped, too.
  for (int i = 0; i < static_cast<int>(g.nodes.size()); ++i) {
    const auto* q = in.layer<op::quantize>(i);
    const std::vector<int>& readers = in.readers(i);
    if (q != nullptr && !q->inverse && !readers.empty() &&
        std::all_of(readers.begin(), readers.end(),
                    [&](int r) { return gone[static_cast<std::size_t>(r)] != 0; }))
      gone[static_cast<std::size_t>(i)] = true;
  }
  detail::graph_of_left out(g);
  for (int i = 0; i < static_cast<int>(g.nodes.size()); ++i) {
    if (gone[static_cast<std::size_t>(i)]) continue;
    node n = in.at(i);
    n.operands = known_operands(n);
    for (operand& o : n.operands)
      while (o.node >= 0 && gone[static_cast<std::size_t>(o.node)])
        o = stands[static_cast<std::size_t>(o.node)];
    out.add(std::move(n), layer_of(g, in.at(i)), {i});
  }
  graph made = out.take();
  made.name = g.name + ",unquantised";
  return made;
}

} // namespace benanza::model
