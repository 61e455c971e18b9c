// SPDX-License-Identifier: Apache-2.0
// Which layers give the same when they work on codes? Those that only move elements or pick the
// largest, if codes of one scale come in and go out: a framework leaves out the conversions around
// them. A conversion on one side alone is moved to the other one, so that it comes to lie next to a
// product, which takes it in (codes.hpp).
//
//   with_codes(g)   // MaxPool/1x64x112x112-3x3-s2-u8 for DequantizeLinear, MaxPool, QuantizeLinear
#pragma once

#include "codes.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace benanza::model {

namespace detail {

/// The operands of a layer whose elements get into its result, from the first to before the end;
/// none for a layer that computes.
struct carried {
  std::size_t begin = 0, end = 0;
};

inline carried carried_by(const op::layer& l) {
  return op::visit(
      [](const auto& p) -> carried {
        using kind = std::decay_t<decltype(p)>;
        if constexpr (std::is_same_v<kind, op::concat>)
          return {0, static_cast<std::size_t>(-1)};
        else if constexpr (std::is_same_v<kind, op::where>)
          return {1, 3};
        else if constexpr (std::is_same_v<kind, op::pool>)
          return {0, p.maximum() && p.indices == op::pool_index::none ? 1u : 0u};
        else if constexpr (std::is_same_v<kind, op::reduce>)
          return {0, p.function == op::reduction::max || p.function == op::reduction::min};
        else if constexpr (std::is_same_v<kind, op::view>)
          return {0, !p.casts()};
        else
          return {0, std::is_same_v<kind, op::transpose> || std::is_same_v<kind, op::split> ||
                         std::is_same_v<kind, op::slice> || std::is_same_v<kind, op::gather> ||
                         std::is_same_v<kind, op::expand> || std::is_same_v<kind, op::pad>};
      },
      l);
}

/// A layer that carries elements, with codes in place of real numbers.
inline op::layer carrying(const op::layer& l, dtype code) {
  return op::visit(
      [&](auto p) -> op::layer {
        if constexpr (std::is_same_v<decltype(p), op::pool>) {
          if (p.global())
            for (int i = 2; i < p.input.size; ++i)
              p.kernel.push(p.input[i]);
          p.function = op::pooling::max;
        }
        if constexpr (requires { p.element; })
          if (p.element == dtype::real) {
            p.element = code;
            return p.canonical_form();
          }
        return l;
      },
      l);
}

/// Finds the layers that carry codes, and makes them do so.
class code_mover {
public:
  explicit code_mover(const graph& g)
      : g_(g)
      , in_(g)
      , scale_(g.nodes.size()) {}

  /// With codes of one scale on both sides; nothing if there are no such layers.
  std::optional<graph> between() {
    bool any = false;
    for (int i = 0; i < size(); ++i)
      scale_[at(i)] = scale_in(i), any = any || !scale_[at(i)].empty();
    for (bool changed = any; changed;) {
      changed = false;
      for (int i = 0; i < size(); ++i)
        if (!scale_[at(i)].empty() && (scale_in(i) != scale_[at(i)] || !stays_codes(i))) {
          scale_[at(i)].clear();
          changed = true;
        }
    }
    any = false;
    for (int i = 0; i < size(); ++i)
      any = any || !scale_[at(i)].empty();
    return any ? std::optional(rebuilt()) : std::nullopt;
  }

  /// With conversions moved to the other side of a layer, but those of these names; nothing if none
  /// can be. The layer stands for both then, and the conversion has `moved` in place of its parts.
  std::optional<graph> swapped(const std::set<std::string>& staying) {
    std::vector<int> back(g_.nodes.size(), -1), to(g_.nodes.size(), -1);
    std::vector<char> gone(g_.nodes.size());
    bool any = false;
    for (int i = 0; i < size(); ++i) {
      if (!carries_one(i)) continue;
      const int before = known_operands(in_.at(i)).front().node;
      const std::vector<int>& readers = in_.readers(i);
      const int after = readers.size() == 1 ? readers[0] : -1;
      if (back_from_codes(before) && !staying.contains(in_.at(before).name) &&
          in_.readers(before).size() == 1 && !in_.at(before).given && gone[at(before)] == 0 &&
          count_out(i) <= count_in(i)) {
        back[at(i)] = before;
        gone[at(before)] = 1;
        any = true;
      } else if (after >= 0 && in_.of_bytes(after, false) != nullptr &&
                 !staying.contains(in_.at(after).name) && !in_.at(i).given && before >= 0 &&
                 in_.readers(before).size() == 1 && !in_.at(before).given &&
                 in_.of_bytes(before, true) == nullptr &&
                 (count_in(i) <= count_out(i) || takes_codes(before))) {
        to[at(i)] = after;
        gone[at(after)] = 1;
        any = true;
      }
    }
    if (!any) return std::nullopt;
    graph_of_left out(g_);
    for (int i = 0; i < size(); ++i) {
      if (gone[at(i)] != 0) continue;
      const int before = back[at(i)], after = to[at(i)];
      if (before < 0 && after < 0) {
        out.add(kept(i), layer_of(g_, in_.at(i)), {i});
        continue;
      }
      const int conversion = before >= 0 ? before : after;
      op::quantize q = *in_.of_bytes(conversion, before >= 0);
      node moved_node = kept(i), converts = kept(conversion);
      const op::layer l = carrying(*layer_of(g_, in_.at(i)), q.code);
      if (converts.parts != moved) {
        moved_node.parts.insert(moved_node.parts.end(), converts.parts.begin(),
                                converts.parts.end());
        std::sort(moved_node.parts.begin(), moved_node.parts.end());
        converts.parts = moved;
      }
      if (before >= 0) {
        q.input = op::output(*layer_of(g_, in_.at(i)));
        moved_node.operands.front() = converts.operands.front();
        moved_node.given = false;
        converts.given = in_.at(i).given;
        const int number = out.add(std::move(moved_node), &l, {});
        const op::layer its = q;
        for (operand& o : converts.operands)
          if (o.node >= 0) o = out.seen(o);
        converts.operands.front() = {number};
        out.add_placed(std::move(converts), &its, {i});
      } else {
        const auto dims = op::result_dims(*layer_of(g_, in_.at(known_operands(moved_node)[0].node)),
                                          known_operands(moved_node)[0].output);
        q.input = *dims;
        const op::layer its = q;
        converts.operands.front() = moved_node.operands.front();
        moved_node.given = converts.given;
        converts.given = false;
        const int number = out.add(std::move(converts), &its, {});
        for (operand& o : moved_node.operands)
          if (o.node >= 0) o = out.seen(o);
        moved_node.operands.front() = {number};
        out.add_placed(std::move(moved_node), &l, {i, after});
      }
    }
    return out.take();
  }

  /// In place of the parts of a conversion that was moved: another node has them.
  inline static const std::vector<int> moved{-1};

private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int size() const { return static_cast<int>(g_.nodes.size()); }

  carried carries(int i) const {
    const op::layer* l = layer_of(g_, in_.at(i));
    return l != nullptr ? carried_by(*l) : carried{};
  }
  bool back_from_codes(int i) const { return i >= 0 && in_.of_bytes(i, true) != nullptr; }
  /// A scale with the type of its codes; empty: it is not known.
  std::string scale_of(int i, bool inverse) const {
    const op::quantize* q = in_.of_bytes(i, inverse);
    if (q == nullptr || in_.at(i).scale.empty()) return {};
    return std::string(name(q->code)) + in_.at(i).scale;
  }

  /// The one scale of all that node `i` carries, or that a QuantizeLinear is of, which then does
  /// nothing; empty: there is none.
  std::string scale_in(int i) const {
    const std::vector<operand> its = known_operands(in_.at(i));
    if (const std::string own = scale_of(i, false); !own.empty())
      return !its.empty() && back_from_codes(its[0].node) && scale_of(its[0].node, true) == own
                 ? own
                 : std::string();
    std::string out;
    const carried c = carries(i);
    for (std::size_t k = c.begin; k < c.end && k < its.size(); ++k) {
      const int from = its[k].node;
      if (from == constant) continue; // becomes codes once
      if (from < 0) return {};
      const std::string s = back_from_codes(from)                  ? scale_of(from, true)
                            : in_.of_bytes(from, false) == nullptr ? scale_[at(from)]
                                                                   : std::string();
      if (s.empty() || (!out.empty() && s != out)) return {};
      out = s;
    }
    return out;
  }

  /// True where all that reads a node's result makes codes of that scale of it, or carries it.
  bool stays_codes(int i) const {
    if (in_.of_bytes(i, false) != nullptr) return true;
    if (in_.at(i).given || in_.readers(i).empty()) return false;
    for (int r : in_.readers(i)) {
      const std::vector<operand> its = known_operands(in_.at(r));
      const carried c = carries(r);
      const bool quantises = scale_of(r, false) == scale_[at(i)];
      const bool carries_it = !scale_[at(r)].empty() && in_.of_bytes(r, false) == nullptr;
      for (std::size_t k = 0; k < its.size(); ++k)
        if (its[k].node == i && !(quantises ? k == 0 : carries_it && k >= c.begin && k < c.end))
          return false;
    }
    return true;
  }

  node kept(int i) const {
    node n = in_.at(i);
    n.operands = known_operands(n);
    n.parts = parts_of(i);
    return n;
  }
  std::vector<int> parts_of(int i) const {
    const std::vector<int>& p = in_.at(i).parts;
    return p.empty() ? std::vector<int>{i} : p;
  }

  /// The node that a QuantizeLinear which does nothing behind it is a part of; -1: it is none.
  int carrier_before(int i) const {
    if (in_.of_bytes(i, false) == nullptr) return -1;
    const operand o = known_operands(in_.at(i)).front();
    return o.node >= 0 && in_.of_bytes(o.node, true) == nullptr && !scale_[at(o.node)].empty()
               ? o.node
               : -1;
  }

  graph rebuilt() const {
    // A DequantizeLinear that nothing reads any more is a part of the first that did.
    std::vector<std::vector<int>> more(g_.nodes.size());
    std::vector<char> gone(g_.nodes.size());
    for (int i = 0; i < size(); ++i) {
      const std::vector<int>& readers = in_.readers(i);
      const auto on_codes = [&](int r) { return !scale_[at(r)].empty(); };
      if (const int carrier = carrier_before(i); carrier >= 0) {
        more[at(carrier)].push_back(i);
        gone[at(i)] = 1;
      } else if (back_from_codes(i) && !in_.at(i).given && !readers.empty() &&
                 std::all_of(readers.begin(), readers.end(), on_codes)) {
        more[at(readers.front())].push_back(i);
        gone[at(i)] = 1;
      }
    }
    graph_of_left out(g_);
    for (int i = 0; i < size(); ++i) {
      if (gone[at(i)] != 0) continue;
      node n = kept(i);
      if (scale_[at(i)].empty()) {
        out.add(std::move(n), layer_of(g_, in_.at(i)), {i});
        continue;
      }
      for (operand& o : n.operands)
        if (back_from_codes(o.node)) o = known_operands(in_.at(o.node)).front();
      for (int part : more[at(i)]) {
        const std::vector<int> its = parts_of(part);
        n.parts.insert(n.parts.end(), its.begin(), its.end());
        n.given = n.given || in_.at(part).given;
      }
      std::sort(n.parts.begin(), n.parts.end());
      op::layer l = *layer_of(g_, in_.at(i));
      if (const auto* q = op::as<op::quantize>(l)) {
        n.operands.resize(1);
        l = op::view{op::view_function::identity, q->input, q->input, q->code};
      } else {
        l = carrying(l, code_of(i));
      }
      n.op = op::family(l);
      const int number = out.add(std::move(n), &l, {i});
      for (int part : more[at(i)])
        if (in_.of_bytes(part, false) != nullptr)
          out.stand_for(part, {number, known_operands(in_.at(part)).front().output});
    }
    return out.take();
  }

  /// The type of the codes that a node carries.
  dtype code_of(int i) const {
    for (const operand& o : known_operands(in_.at(i)))
      if (o.node >= 0) {
        if (const auto* q = in_.of_bytes(o.node, true)) return q->code;
        if (!scale_[at(o.node)].empty()) return code_of(o.node);
      }
    return dtype::u8;
  }

  /// True for a layer with one result of one operand that it carries. What a Pad fills with need
  /// not be a code.
  bool carries_one(int i) const {
    const op::layer* l = layer_of(g_, in_.at(i));
    if (l == nullptr || op::is<op::pad>(*l) || op::is<op::split>(*l)) return false;
    const carried c = carried_by(*l);
    return c.begin == 0 && c.end == 1 && !known_operands(in_.at(i)).empty() &&
           op::result_element(*l, 0) == dtype::real;
  }
  std::int64_t count_out(int i) const { return elements(op::output(*layer_of(g_, in_.at(i)))); }
  std::int64_t count_in(int i) const {
    const operand o = known_operands(in_.at(i)).front();
    const op::layer* l = o.node >= 0 ? layer_of(g_, in_.at(o.node)) : nullptr;
    const auto dims = l != nullptr ? op::result_dims(*l, o.output) : std::nullopt;
    return dims ? elements(*dims) : dim_limit;
  }
  /// True for a product, whose result may be codes.
  bool takes_codes(int i) const {
    return in_.layer<op::conv>(i) != nullptr || in_.layer<op::fused<op::conv>>(i) != nullptr;
  }

  const graph& g_;
  const code_reader in_;
  std::vector<std::string> scale_; ///< of the nodes that carry codes; empty: it does not
};

} // namespace detail

namespace detail {
/// A form of `g` whose parts are nodes of `g`, with each conversion a part of the first node that
/// read it; nothing if its nodes still come before others that their parts read.
inline std::optional<graph> with_parts_settled(graph form, const graph& g) {
  const code_reader in(g);
  std::vector<int> owner(g.nodes.size(), -1);
  for (std::size_t i = 0; i < form.nodes.size(); ++i)
    for (const int part : form.nodes[i].parts)
      owner[static_cast<std::size_t>(part)] = static_cast<int>(i);
  for (int u = static_cast<int>(g.nodes.size()) - 1; u >= 0; --u) {
    int& its = owner[static_cast<std::size_t>(u)];
    for (const int r : in.readers(u)) {
      const int reader = owner[static_cast<std::size_t>(r)];
      if (its <= reader) continue;
      if (in.layer<op::quantize>(u) == nullptr) return std::nullopt;
      its = reader;
    }
  }
  for (node& n : form.nodes)
    n.parts.clear();
  for (std::size_t u = 0; u < owner.size(); ++u) {
    if (owner[u] < 0) return std::nullopt;
    form.nodes[static_cast<std::size_t>(owner[u])].parts.push_back(static_cast<int>(u));
  }
  const bool whole = std::none_of(form.nodes.begin(), form.nodes.end(),
                                  [](const node& n) { return n.parts.empty(); });
  return whole ? std::optional(std::move(form)) : std::nullopt;
}

/// `g` on codes, its conversions moved but those of these names, which get the names of those that
/// no product took in.
inline graph moved_on_codes(const graph& g, std::set<std::string>& staying) {
  while (true) {
    graph moved = g;
    while (std::optional<graph> better = code_mover(moved).swapped(staying))
      moved = std::move(*better);
    graph out = on_codes(moved);
    const std::size_t stayed = staying.size();
    for (const node& n : out.nodes)
      if (n.parts == code_mover::moved) staying.insert(n.name);
    if (staying.size() > stayed) continue;
    for (node& n : out.nodes)
      std::erase(n.parts, code_mover::moved.front());
    return out;
  }
}
} // namespace detail

/// `g` with layers on codes for those between pairs, and with what carries elements between codes
/// carrying codes. A conversion is moved only to where a product takes it in.
inline graph with_codes(const graph& g) {
  if (!holds_codes(g)) return g;
  graph own = g; // parts are numbers of its own nodes for now
  for (std::size_t i = 0; i < own.nodes.size(); ++i)
    own.nodes[i].parts = {static_cast<int>(i)};
  const graph between = detail::code_mover(own).between().value_or(own);
  std::set<std::string> staying;
  std::optional<graph> out =
      detail::with_parts_settled(detail::moved_on_codes(between, staying), g);
  if (!out) out = detail::with_parts_settled(on_codes(between), g);
  if (!out) out = on_codes(own);
  for (node& n : out->nodes) {
    std::vector<int> parts;
    for (const int i : n.parts) {
      const std::vector<int>& its = g.nodes[static_cast<std::size_t>(i)].parts;
      its.empty() ? parts.push_back(i) : (void)parts.insert(parts.end(), its.begin(), its.end());
    }
    std::sort(parts.begin(), parts.end());
    n.parts = std::move(parts);
  }
  return std::move(*out);
}

} // namespace benanza::model
