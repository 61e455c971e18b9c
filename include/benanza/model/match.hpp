// SPDX-License-Identifier: Apache-2.0
// Where in a model does a rule fit? Tries the ways in which the rule's operators can be nodes, from
// its last one back through what it reads, until they are pieces that nothing else reads and that
// the caller takes. Each try is counted, and trying ends where the count does.
//
//   match_search(pieces, rule, tries).at(root, [&](const found& f) { return build(f); })
#pragma once

#include "../op/kinds.hpp"
#include "dims.hpp"
#include "operands.hpp"
#include "rules.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::model {

/// A graph while pieces of it become layers: each node, and whether it is still there.
class pieces {
public:
  struct place {
    const op::layer* layer = nullptr; ///< null: unresolved
    std::string_view family{};
    std::vector<operand> operands{};
    std::vector<int> parts{}; ///< nodes of the graph that it replaces, itself the last
    int reads = 0;            ///< how often its results are read
    bool gone = false;        ///< it is part of another
  };

  explicit pieces(const graph& g)
      : places_(g.nodes.size()) {
    std::vector<std::string_view> families;
    for (const op::layer& l : g.layers)
      families.push_back(op::family(l));
    for (std::size_t i = 0; i < g.nodes.size(); ++i) {
      place& p = places_[i];
      const int layer = g.nodes[i].layer;
      if (layer != no_layer) p.layer = &g.layers[static_cast<std::size_t>(layer)];
      p.family = layer != no_layer ? families[static_cast<std::size_t>(layer)] : g.nodes[i].op;
      p.operands = known_operands(g.nodes[i]);
      p.parts = {static_cast<int>(i)};
      p.reads = g.nodes[i].given ? 1 : 0;
      count(p, 1);
    }
  }

  int size() const { return static_cast<int>(places_.size()); }
  const place& operator[](int i) const { return places_[static_cast<std::size_t>(i)]; }

  /// Puts one layer in the place of `nodes`, of which `root` is the last.
  void replace(int root, const std::vector<int>& nodes, op::layer l, std::vector<operand> reads) {
    std::vector<int> parts;
    for (int n : nodes) {
      place& p = places_[static_cast<std::size_t>(n)];
      parts.insert(parts.end(), p.parts.begin(), p.parts.end());
      count(p, -1);
      p.gone = n != root;
    }
    std::sort(parts.begin(), parts.end());
    place& p = places_[static_cast<std::size_t>(root)];
    p.layer = &made_.emplace_back(std::move(l));
    p.family = op::family(*p.layer);
    p.operands = std::move(reads);
    p.parts = std::move(parts);
    count(p, 1);
  }

private:
  void count(const place& reader, int by) {
    for (const operand& o : reader.operands)
      if (o.node >= 0) places_[static_cast<std::size_t>(o.node)].reads += by;
  }

  std::vector<place> places_;
  std::deque<op::layer> made_; ///< layers that the graph has not
};

/// What a value of a rule is.
struct bound_value {
  operand from;
  std::optional<shape> dims; ///< as its reader sees it; nothing: not known
  int reader = -1;           ///< a node that reads it
};

/// The pieces of one layer.
struct found {
  const pieces& in;
  const rule& by;
  int root;
  std::vector<int> nodes;                         ///< `root` first
  std::vector<std::optional<bound_value>> values; ///< as the rule calls them

  /// The value of that name; null: it is missing.
  const bound_value* value(std::string_view name) const {
    const int i = by.find(name);
    return i < 0 || !values[static_cast<std::size_t>(i)] ? nullptr
                                                         : &*values[static_cast<std::size_t>(i)];
  }
  const op::layer& layer(int node) const { return *in[node].layer; }
  bool holds(int node) const { return std::find(nodes.begin(), nodes.end(), node) != nodes.end(); }
};

namespace detail {
/// The layer that pieces are, and what it reads.
struct recognised {
  op::layer layer;
  std::vector<operand> operands;

  /// A piece that stays, as another layer.
  struct changed {
    int node;
    op::layer layer;
    std::vector<operand> operands;
  };
  std::vector<changed> before{}; ///< what the layer reads besides
};
} // namespace detail

/// Looks for one rule.
class match_search {
public:
  /// `tries` is counted down.
  match_search(const pieces& in, const rule& r, std::int64_t& tries)
      : found_{in, r, -1, {}, std::vector<std::optional<bound_value>>(r.values.size())}
      , left_(tries) {}

  /// True if the rule fits with `root` as its last node and `take` takes it.
  bool at(int root, const std::function<bool(const found&)>& take) {
    if (found_.in[root].gone || !may_end(found_.by.root, root)) return false;
    found_.root = root;
    found_.nodes.clear();
    std::fill(found_.values.begin(), found_.values.end(), std::nullopt);
    take_ = &take;
    here_ = std::min<std::int64_t>(left_, most_tries);
    left_ -= here_;
    const goal all{&found_.by.root, {root}, -1, 0, nullptr};
    const bool fits = solve(&all, 0);
    left_ += here_;
    return fits;
  }

private:
  static constexpr std::int64_t most_tries = 5000; ///< from one node
  static constexpr int most_repeated = 6, most_nodes = 200;

  /// What is left to be found: a term, as operand `place` of node `reader`.
  struct goal {
    const term* wanted;
    operand from;
    int reader;
    std::size_t place;
    const goal* next;
    int repeated = 0; ///< how often the term was met already
  };

  static bool names(const term& t, const pieces::place& p) {
    return std::any_of(t.words.begin(), t.words.end(), [&](const std::string& w) {
      return w == p.family || (w == "Add" && p.family == "Sum" && p.operands.size() == 2);
    });
  }
  /// True if the node may be the last one of a term: its operator, or what follows a missing one.
  bool may_end(const term& t, int node) const {
    return names(t, found_.in[node]) ||
           (t.optional && t.reads[t.rest()].is_operator() && may_end(t.reads[t.rest()], node));
  }

  static bool commutes(std::string_view family) {
    return family == "Add" || family == "Mul" || family == "Sum" || family == "Min" ||
           family == "Max";
  }
  /// Nodes that may be between pieces.
  static bool is_between(const pieces::place& p) {
    return p.operands.size() > 0 &&
           ((p.layer != nullptr && op::is_view(*p.layer) && p.family != "BitCast") ||
            p.family == "Cast");
  }
  std::optional<shape> dims_of(const goal& g) const {
    if (g.reader >= 0 && found_.in[g.reader].layer != nullptr)
      if (auto s = op::operand_dims(*found_.in[g.reader].layer, g.place)) return s;
    if (g.from.node < 0 || g.from.output != 0 || found_.in[g.from.node].layer == nullptr)
      return std::nullopt;
    return op::output(*found_.in[g.from.node].layer);
  }

  bool solve(const goal* g, int depth) {
    if (--here_ < 0 || depth > most_nodes) return false;
    if (g == nullptr) return apart() && (*take_)(found_);
    const term& t = *g->wanted;
    if (t.is_number()) {
      const std::optional<shape> dims = dims_of(*g);
      return g->from.node == constant && (!dims || elements(*dims) == 1) &&
             solve(g->next, depth + 1);
    }
    if (!t.is_operator()) return with_value(t.value, *g, [&] { return solve(g->next, depth + 1); });
    const int node = g->from.node;
    const bool is_node = node >= 0 && !found_.in[node].gone;
    if (is_node && names(t, found_.in[node]) && g->repeated < most_repeated && with_node(node, [&] {
          if (t.value < 0) return reads_fit(t, *g, depth);
          return with_value(t.value, *g, [&] { return reads_fit(t, *g, depth); });
        }))
      return true;
    if (t.optional && t.value < 0) {
      goal rest = *g;
      rest.wanted = &t.reads[t.rest()];
      rest.repeated = 0;
      if (solve(&rest, depth + 1)) return true;
    }
    if (!is_node || g->reader < 0 || !is_between(found_.in[node])) return false;
    return with_node(node, [&] {
      goal behind = *g;
      behind.from = found_.in[node].operands[0];
      behind.reader = node;
      behind.place = 0;
      return solve(&behind, depth + 1);
    });
  }

  /// Goes on with `node` among the pieces.
  template <class Then>
  bool with_node(int node, Then then) {
    if (found_.holds(node)) return then();
    found_.nodes.push_back(node);
    if (then()) return true;
    found_.nodes.pop_back();
    return false;
  }
  /// Goes on if the value is what the goal reads, or is not known yet.
  template <class Then>
  bool with_value(int value, const goal& g, Then then) {
    std::optional<bound_value>& v = found_.values[static_cast<std::size_t>(value)];
    if (v) return v->from == g.from && then();
    if (found_.by.is_constant(value) != (g.from.node == constant) && found_.by.is_constant(value))
      return false;
    v = {g.from, dims_of(g), g.reader};
    if (then()) return true;
    v.reset();
    return false;
  }

  /// The operands of the goal's node against what its term reads, in either order where that is no
  /// matter.
  bool reads_fit(const term& t, const goal& g, int depth) {
    const pieces::place& p = found_.in[g.from.node];
    if (g.from.output != 0 && p.family != "Split") return false;
    const std::size_t reads = std::min(t.reads.size(), p.operands.size());
    if (reads < t.reads.size() && t.words.size() == 1) return false;
    for (std::size_t k = reads; k < p.operands.size(); ++k)
      if (p.operands[k].node != constant) return false;
    std::vector<std::size_t> order(reads);
    for (std::size_t k = 0; k < reads; ++k)
      order[k] = k;
    if (reads_in(t, g, order, 0, g.next, depth)) return true;
    if (reads == 2 && p.operands.size() == 2 && commutes(p.family)) {
      std::swap(order[0], order[1]);
      return reads_in(t, g, order, 0, g.next, depth);
    }
    if (reads == 3 && p.family == "Where") { // truth and its opposite cost the same
      std::swap(order[1], order[2]);
      return reads_in(t, g, order, 0, g.next, depth);
    }
    return false;
  }
  /// Puts a goal for each operand before `next`.
  bool reads_in(const term& t, const goal& g, const std::vector<std::size_t>& order, std::size_t k,
                const goal* next, int depth) {
    if (k == order.size()) return solve(next, depth + 1);
    const std::size_t at = order.size() - 1 - k; // the first operand is looked at first
    const bool again = t.repeated && at == t.rest();
    const goal one{.wanted = again ? &t : &t.reads[at],
                   .from = found_.in[g.from.node].operands[order[at]],
                   .reader = g.from.node,
                   .place = order[at],
                   .next = next,
                   .repeated = again ? g.repeated + 1 : 0};
    return reads_in(t, g, order, k + 1, &one, depth);
  }

  /// True if only the pieces read what they hand on, and all are of real numbers.
  bool apart() const {
    for (int v : found_.by.operands)
      if (const auto& value = found_.values[static_cast<std::size_t>(v)])
        if (found_.holds(value->from.node)) return false;
    for (int n : found_.nodes) {
      const pieces::place& p = found_.in[n];
      if (p.layer == nullptr) {
        if (p.family != "Cast") return false;
      } else if (!op::visit(
                     [](const auto& l) {
                       if constexpr (requires { l.element; }) return l.element == dtype::real;
                       return true;
                     },
                     *p.layer))
        return false;
      if (n == found_.root) continue;
      int inside = 0;
      for (int reader : found_.nodes)
        for (const operand& o : found_.in[reader].operands)
          inside += o.node == n;
      if (inside != p.reads) return false;
    }
    return true;
  }

  found found_;
  std::int64_t& left_;
  std::int64_t here_ = 0;
  const std::function<bool(const found&)>* take_ = nullptr;
};

} // namespace benanza::model
