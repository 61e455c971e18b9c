// SPDX-License-Identifier: Apache-2.0
// Which node of a model did a call compute? The calls of an iteration are held against the nodes
// that are the same work (form.hpp), in their order; among those, one with an equal key goes first.
// A call that does more (Conv+Add+Relu) takes the nodes that follow, and a bias of its own takes
// up a normalization, if none is called by itself. What is left over on either side is named.
//
//   matcher m(graph);   m.add(log, 212, 318);   m.pairs()[0].nodes   // {0, 1, 2}
#pragma once

#include "../model/operands.hpp"
#include "call.hpp"
#include "form.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza::trace {

/// How a call is like the nodes that it was matched to.
enum class likeness : std::uint8_t {
  exact,   ///< the same layer, or exactly these nodes fused
  shape,   ///< the same dims and arithmetic, another way to write it
  partial, ///< the same work, but not all that is done on its result
  bias,    ///< the call adds the bias of a node that another call computed
};

/// The token of a likeness.
constexpr std::string_view name(likeness l) {
  constexpr std::string_view names[] = {"exact", "shape", "partial", "bias"};
  return names[static_cast<int>(l)];
}

/// A call and what it computed.
struct pair_of {
  const call_log* from = nullptr;
  std::size_t entry = 0; ///< index into the log's entries
  std::vector<int> nodes{};
  likeness how = likeness::exact;

  const call& called() const { return from->at(from->entries[entry]); }
};

/// A call that is no node of the model, or one more of those that are.
struct lone_call {
  const call_log* from = nullptr;
  std::size_t entry = 0;
  bool surplus = false; ///< the model has such nodes, but other calls computed them

  const call& called() const { return from->at(from->entries[entry]); }
};

/// Matches the calls of one iteration, from one log or several, to the nodes of an unfused graph.
/// Refers to the graph and the logs.
class matcher {
public:
  /// `again`: a node may be computed by any number of calls, as if it were there as often.
  explicit matcher(const model::graph& g, bool again = false)
      : graph_(g)
      , again_(again)
      , forms_(g.layers.size())
      , taken_(g.nodes.size())
      , reader_(g.nodes.size(), nobody)
      , constant_operand_(g.nodes.size()) {
    for (std::size_t i = 0; i < g.layers.size(); ++i)
      forms_[i] = form_of(g.layers[i]);
    for (std::size_t i = 0; i < g.nodes.size(); ++i) {
      const model::node& n = g.nodes[i];
      for (const model::operand& o : model::known_operands(n)) {
        if (o.node == model::constant) constant_operand_[i] = true;
        if (o.node < 0) continue;
        int& r = reader_[static_cast<std::size_t>(o.node)];
        r = r == nobody || r == static_cast<int>(i) ? static_cast<int>(i) : several;
      }
      if (n.layer != model::no_layer)
        by_form_[forms_[static_cast<std::size_t>(n.layer)].base].push_back(static_cast<int>(i));
    }
  }

  /// Matches the entries [first, last) of a log.
  void add(const call_log& l, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last && !normalizes_; ++i)
      if (const auto& layer = l.at(l.entries[i]).layer)
        normalizes_ = op::family(*layer) == "BatchNormalization";
    for (std::size_t i = first; i < last; ++i) {
      const call& c = l.at(l.entries[i]);
      pair_of p{.from = &l, .entry = i};
      if (!c.layer) {
        lone_.push_back({&l, i});
        continue;
      }
      const auto [known, fresh] = called_.try_emplace(&c);
      if (fresh) {
        known->second.what = form_of(*c.layer);
        const auto found = by_form_.find(known->second.what.base);
        if (found != by_form_.end()) known->second.nodes = &found->second;
      }
      if (take(c, known->second, p) || take_bias(known->second.what, p))
        pairs_.push_back(std::move(p));
      else
        lone_.push_back({&l, i, known->second.nodes != nullptr});
    }
  }

  const model::graph& graph() const { return graph_; }
  const std::vector<pair_of>& pairs() const { return pairs_; }
  const std::vector<lone_call>& lone() const { return lone_; }

  /// How many nodes calls computed.
  std::size_t covered() const {
    return static_cast<std::size_t>(std::count(taken_.begin(), taken_.end(), true));
  }
  /// Nodes that no call computed, views left out.
  std::vector<int> uncalled() const {
    std::vector<int> out;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const op::layer* l = layer_of(static_cast<int>(i));
      if (!taken_[i] && (l == nullptr || !op::is_view(*l))) out.push_back(static_cast<int>(i));
    }
    return out;
  }

private:
  static constexpr int nobody = -1, several = -2;

  /// What is known of a call: its form, and the nodes of it; null: there are none.
  struct seen_call {
    form what;
    const std::vector<int>* nodes = nullptr;
  };

  const op::layer* layer_of(int node) const {
    return model::layer_of(graph_, graph_.nodes[static_cast<std::size_t>(node)]);
  }
  const form& form_at(int node) const {
    const int l = graph_.nodes[static_cast<std::size_t>(node)].layer;
    return forms_[static_cast<std::size_t>(l)];
  }

  /// The nodes from `base` on that a call with these steps computes, and whether they are all of
  /// its steps and no others.
  std::pair<std::vector<int>, bool> follow(int base, const form& called) const {
    std::vector<int> parts{base}, passed; // what was passed counts only with what follows it
    const std::vector<op::step>& own = form_at(base).steps; // of a graph that is fused already
    std::size_t done = own.size();
    if (done > called.steps.size() ||
        !std::equal(own.begin(), own.end(), called.steps.begin(), same_step))
      return {std::move(parts), false};
    // A bias of the call's own may be a normalization, or an Add of constants; not where the
    // framework calls normalizations by themselves.
    const bool folds = called.bias == true && !normalizes_;
    for (int at = reader_[static_cast<std::size_t>(base)]; at >= 0;
         at = reader_[static_cast<std::size_t>(at)]) {
      const op::layer* l = layer_of(at);
      if (l == nullptr || taken_[static_cast<std::size_t>(at)]) break;
      const bool step = done < called.steps.size() && is_step(called.steps[done], *l);
      const bool absorbed = !step && (folded(at, *l) || op::is_view(*l));
      if (!step && !absorbed) break;
      passed.push_back(at);
      done += step;
      if (!step && (!folds || op::is_view(*l))) continue;
      parts.insert(parts.end(), passed.begin(), passed.end());
      passed.clear();
    }
    return {std::move(parts), done == called.steps.size()};
  }

  bool folded(int node, const op::layer& l) const {
    return folds_into_weights(l, constant_operand_[static_cast<std::size_t>(node)]);
  }

  /// Finds the nodes of a call and takes them.
  bool take(const call& c, const seen_call& seen, pair_of& p) {
    if (seen.nodes == nullptr) return false;
    const form& called = seen.what;
    int best_rank = -1;
    for (int node : *seen.nodes) {
      if (taken_[static_cast<std::size_t>(node)] && !again_) continue;
      auto [parts, whole] = follow(node, called);
      const bool exact = parts.size() > 1 ? called.bias != false || form_at(node).bias != true
                                          : same_but_unsaid(*c.layer, *layer_of(node));
      const int rank = whole ? (exact ? 2 : 1) : 0;
      if (rank <= best_rank) continue;
      best_rank = rank;
      p.nodes = std::move(parts);
      p.how = rank == 2 ? likeness::exact : rank == 1 ? likeness::shape : likeness::partial;
      if (rank == 2) break;
    }
    if (best_rank < 0) return false;
    for (int node : p.nodes)
      taken_[static_cast<std::size_t>(node)] = true;
    if (form_at(p.nodes.front()).bias == true && called.bias == false)
      biases_[bias_form(p.nodes.front())].push_back(p.nodes.front());
    return true;
  }

  /// The form of a call that adds the bias of a convolution.
  std::string bias_form(int node) const { return form_of_bias(op::output(*layer_of(node))).base; }
  bool take_bias(const form& called, pair_of& p) {
    const auto found = biases_.find(called.base);
    if (found == biases_.end() || found->second.empty()) return false;
    p.nodes = {found->second.front()};
    p.how = likeness::bias;
    found->second.erase(found->second.begin());
    return true;
  }

  const model::graph& graph_;
  const bool again_;
  bool normalizes_ = false;                           ///< normalizations are among the calls
  std::vector<form> forms_;                           ///< of the graph's layers
  std::unordered_map<const call*, seen_call> called_; ///< of the calls that were seen
  std::vector<bool> taken_;
  std::vector<int> reader_; ///< of each node: the only one that reads it, nobody or several
  std::vector<bool> constant_operand_;
  std::map<std::string, std::vector<int>> by_form_;
  std::map<std::string, std::vector<int>> biases_; ///< nodes whose bias is still to be added
  std::vector<pair_of> pairs_;
  std::vector<lone_call> lone_;
};

} // namespace benanza::trace
