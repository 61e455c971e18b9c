// SPDX-License-Identifier: Apache-2.0
// Which nodes of a model does an operator of a framework's optimized graph stand for? Names of
// tensors join the two graphs: a framework keeps the names of those that it still makes.
//
// - An operator makes the model's tensors that have the names of its results; where what it makes
//   only changes its form on the way (ReorderOutput, an inserted Reshape), those behind that.
// - It stands for the model's nodes on the ways from what it reads to what it makes, found backward
//   from the latter; they end at tensors that other operators make. A way that ends at a tensor of
//   neither kind makes its nodes uncertain, and they are left out: equal subgraphs that were
//   merged, for example.
// - An operator of the name and type of a node stands for it at least, and for those that the
//   framework tells.
//
// What depends on no input but by its shape is known before a run: no operator stands for it. Where
// operators have no tensor of the model between them, each stands for all nodes of their way:
// together they do that work. A node on several ways is of the operators that all of these have,
// and left out where there is none.
//
//   std::vector<profiled_operator> all = operators_of(graph);   all[0].stands_for   // {"conv1",
//   "relu1"}
#pragma once

#include "profile.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace benanza::trace {

/// A node of a model, or an operator of the graph that was made of it.
struct graph_node {
  std::string name{}, type{};
  std::vector<std::string> inputs{}, outputs{}; ///< tensors; an input that is left out is ""
  std::vector<std::string> originals{}; ///< of an operator: nodes, where the framework names them
  std::string activation{};             ///< that was merged into it
};

/// A model and what a framework made of it.
struct optimized_graph {
  std::vector<std::string> inputs{}; ///< of the model, without what it stores
  std::vector<graph_node> nodes{};   ///< producers first
  std::vector<graph_node> operators{};
};

namespace detail {

using tensor_names = std::unordered_set<std::string_view>;

/// `x_token_12` without what ONNX Runtime puts behind names that it made twice.
inline std::string_view without_token(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  constexpr std::string_view token = "_token_";
  if (digits < name.size() && name.substr(0, digits).ends_with(token))
    return name.substr(0, digits - token.size());
  return name;
}

/// `r1_bn_nchwc` of an operator on blocks: the tensor `r1`, and what joined it, `_bn`.
inline std::optional<std::pair<std::string_view, std::string_view>>
blocked_name(std::string_view name) {
  constexpr std::string_view end = "_nchwc";
  name = without_token(name);
  if (!name.ends_with(end)) return std::nullopt;
  name.remove_suffix(end.size());
  for (const std::string_view joined : {"_bn", "_mul"})
    if (name.ends_with(joined)) {
      const std::size_t at = name.size() - joined.size();
      return std::pair{name.substr(0, at), name.substr(at)};
    }
  return std::pair{name, std::string_view{}};
}

/// `MatMul_3/MatMulAddFusion` of what ONNX Runtime fused: the node, and what did it.
inline std::optional<std::pair<std::string_view, std::string_view>>
fused_name(std::string_view name) {
  name = without_token(name);
  if (name.ends_with('/')) name.remove_suffix(1);
  const std::size_t slash = name.rfind('/');
  if (slash == name.npos) return std::nullopt;
  const std::string_view how = name.substr(slash + 1);
  const auto of_word = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  if (!how.ends_with("Fusion") || !std::all_of(how.begin(), how.end(), of_word))
    return std::nullopt;
  return std::pair{name.substr(0, slash), how};
}

/// The model's own nodes, and what is known of it before a run.
class known_model {
public:
  explicit known_model(const optimized_graph& g)
      : nodes_(g.nodes)
      , inputs_(g.inputs.begin(), g.inputs.end()) {
    for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
      const graph_node& n = at(i);
      by_name_[n.name] = i;
      bool still = n.type == "Shape" || n.type == "Size";
      still = still || std::all_of(n.inputs.begin(), n.inputs.end(), [&](std::string_view t) {
                return maker_.contains(t) ? known_.contains(t) : !inputs_.contains(t);
              });
      for (const std::string& o : n.outputs) {
        maker_[o] = i;
        if (still)
          known_.insert(o);
        else
          known_.erase(o);
      }
      for (const std::string& t : n.inputs)
        readers_[t].push_back(i);
    }
  }

  const graph_node& at(int i) const { return nodes_[static_cast<std::size_t>(i)]; }
  int named(std::string_view name) const { return found(by_name_, name); }
  int maker(std::string_view tensor) const { return found(maker_, tensor); }
  bool has(std::string_view tensor) const { return maker(tensor) >= 0 || inputs_.contains(tensor); }
  /// True for what is known before a run.
  bool is_still(std::string_view tensor) const { return known_.contains(tensor) || !has(tensor); }
  /// The node that alone reads a tensor, if it is of that type; -1: there is none.
  int sole_reader(std::string_view tensor, std::string_view type) const {
    const auto all = readers_.find(tensor);
    return all != readers_.end() && all->second.size() == 1 && at(all->second[0]).type == type
               ? all->second[0]
               : -1;
  }
  /// All nodes whose results reach this one, and itself.
  std::set<int> before(int node) const {
    std::set<int> out{node};
    for (std::vector<int> left{node}; !left.empty();) {
      const int of = left.back();
      left.pop_back();
      for (const std::string& t : at(of).inputs)
        if (const int made = maker(t); made >= 0 && out.insert(made).second) left.push_back(made);
    }
    return out;
  }

private:
  template <class Map>
  static int found(const Map& in, std::string_view name) {
    const auto at = in.find(name);
    return at == in.end() ? -1 : at->second;
  }

  const std::vector<graph_node>& nodes_;
  tensor_names inputs_;
  tensor_names known_{};
  std::unordered_map<std::string_view, int> by_name_{}, maker_{};
  std::unordered_map<std::string_view, std::vector<int>> readers_{};
};

/// An optimized graph beside its model.
class graph_joiner {
public:
  explicit graph_joiner(const optimized_graph& g)
      : model_(g)
      , operators_(g.operators)
      , own_(operators_.size())
      , passes_(operators_.size())
      , makes_(operators_.size()) {
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      own_[i] = told(operators_[i]);
      for (const std::string& o : operators_[i].outputs)
        maker_[o] = i;
    }
    name_tensors();
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      if (passes_[i] != 0) continue;
      for (const std::string& o : operators_[i].outputs)
        if (const auto ours = alias_.find(o); ours != alias_.end()) add(makes_[i], ours->second);
      made_.insert(makes_[i].begin(), makes_[i].end());
    }
  }

  std::vector<profiled_operator> standing() {
    std::set<int> named;
    for (const std::set<int>& its : own_)
      named.insert(its.begin(), its.end());
    std::vector<way> ways;
    std::map<int, int> times;
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      if (makes_[i].empty()) continue;
      way w{.together = {i}};
      const tensor_names reads = read_by(i, w.together);
      for (const int n : between(makes_[i], reads))
        if (!named.contains(n) || own_[i].contains(n)) w.nodes.insert(n), ++times[n];
      for (const std::string_view t : makes_[i])
        w.ends.insert(model_.maker(t));
      ways.push_back(std::move(w));
    }
    std::map<int, std::set<std::size_t>> shared; // of a node on several ways: who all of them have
    for (const way& w : ways)
      for (const int n : w.nodes) {
        if (times[n] == 1 || w.ends.contains(n)) {
          for (const std::size_t o : w.together)
            own_[o].insert(n);
          continue;
        }
        const auto [its, fresh] = shared.emplace(n, w.together);
        if (!fresh)
          std::erase_if(its->second, [&](std::size_t o) { return !w.together.contains(o); });
      }
    for (const auto& [n, all] : shared)
      for (const std::size_t o : all)
        own_[o].insert(n);
    std::vector<profiled_operator> out;
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      profiled_operator o{.name = operators_[i].name, .type = operators_[i].type};
      for (const int n : own_[i])
        o.stands_for.push_back(model_.at(n).name);
      o.makes.assign(makes_[i].begin(), makes_[i].end());
      out.push_back(std::move(o));
    }
    return out;
  }

private:
  /// The operators that make a tensor of the model together, and the nodes that they stand for.
  struct way {
    std::set<std::size_t> together{};
    std::set<int> nodes{}, ends{};
  };

  static void add(std::vector<std::string_view>& to, std::string_view t) {
    if (std::find(to.begin(), to.end(), t) == to.end()) to.push_back(t);
  }

  /// True for what changes nothing but form or type. OpenVINO may do the latter in a Subgraph.
  static bool is_form(const graph_node& o) {
    static constexpr std::array<std::string_view, 11> forms{
        "ReorderInput", "ReorderOutput", "Reorder", "Reshape", "Transpose", "Squeeze",
        "Unsqueeze",    "Identity",      "Flatten", "Cast",    "Convert"};
    return std::find(forms.begin(), forms.end(), o.type) != forms.end() ||
           (!o.originals.empty() &&
            std::all_of(o.originals.begin(), o.originals.end(),
                        [](const std::string& n) { return n.starts_with("Convert_"); }));
  }

  /// The nodes that an operator stands for by its name, or as the framework tells.
  std::set<int> told(const graph_node& o) const {
    std::set<int> out;
    if (const int n = model_.named(o.name); n >= 0 && model_.at(n).type == o.type) out.insert(n);
    if (const auto fused = fused_name(o.name))
      if (const int n = model_.named(fused->first); n >= 0) out.insert(n);
    for (const std::string& name : o.originals) {
      int n = model_.named(name);
      if (n < 0) n = model_.maker(name);
      if (n >= 0) out.insert(n);
    }
    return out;
  }

  void name_tensors() {
    for (const graph_node& o : operators_)
      for (const std::string& t : o.outputs)
        if (model_.maker(t) >= 0) alias_[t] = t;
    tensor_names by_name;
    for (const auto& [theirs, ours] : alias_)
      by_name.insert(theirs);
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      const graph_node& o = operators_[i];
      if (o.outputs.empty() || alias_.contains(o.outputs[0])) continue;
      if (const std::string_view called = called_after(o); !called.empty()) {
        if (const std::string_view last = joined_to(o, called); !last.empty())
          alias_[o.outputs[0]] = last;
      } else if (!own_[i].empty() && !fused_name(o.name)) {
        const std::vector<std::string>* results = results_of(own_[i], o.outputs.size());
        for (std::size_t k = 0; results != nullptr && k < results->size(); ++k)
          if (!by_name.contains((*results)[k])) alias_.emplace(o.outputs[k], (*results)[k]);
      }
    }
    for (std::size_t i = operators_.size(); i-- > 0;) {
      const graph_node& o = operators_[i];
      if (!is_form(o) || !own_[i].empty() || o.inputs.empty() || o.outputs.empty()) continue;
      const auto here = alias_.find(o.outputs[0]);
      if (here == alias_.end() || !maker_.contains(o.inputs[0])) continue;
      const std::string_view made = here->second;
      if (alias_.emplace(o.inputs[0], made).first->second == made) passes_[i] = 1;
    }
  }

  /// The model's tensor that an operator's name tells; empty: none.
  std::string_view called_after(const graph_node& o) const {
    if (const auto blocked = blocked_name(o.name)) {
      const std::string_view name = o.name;
      for (const std::string_view t :
           {name.substr(0, blocked->first.size() + blocked->second.size()), blocked->first})
        if (model_.maker(t) >= 0) return t;
      return {};
    }
    const auto fused = fused_name(o.name); // after a node, which is the last one of this kind
    if (!fused || fused->second != "QuickGeluFusion") return {};
    const int n = model_.named(fused->first);
    return n < 0 || model_.at(n).outputs.empty() ? std::string_view{}
                                                 : std::string_view(model_.at(n).outputs[0]);
  }

  /// A convolution in blocks is called after its own result; a sum and an activation may have
  /// joined it. The last tensor; empty: the sum is not the model's.
  std::string_view joined_to(const graph_node& o, std::string_view tensor) const {
    if (o.inputs.size() > 3) {
      const int sum = model_.sole_reader(tensor, "Add");
      const auto other = alias_.find(o.inputs[3]);
      const std::string_view addend = other == alias_.end() ? o.inputs[3] : other->second;
      if (sum < 0) return {};
      const graph_node& add = model_.at(sum);
      if (add.outputs.empty() ||
          std::find(add.inputs.begin(), add.inputs.end(), addend) == add.inputs.end())
        return {};
      tensor = add.outputs[0];
    }
    if (!o.activation.empty() && model_.at(model_.maker(tensor)).type != o.activation)
      if (const int after = model_.sole_reader(tensor, o.activation);
          after >= 0 && !model_.at(after).outputs.empty())
        tensor = model_.at(after).outputs[0];
    return tensor;
  }

  /// What these nodes make for others, if that is so many tensors; null: it is not.
  const std::vector<std::string>* results_of(const std::set<int>& nodes, std::size_t count) const {
    const int last = *nodes.rbegin();
    if (model_.at(last).outputs.size() != count) return nullptr;
    const std::set<int> before = model_.before(last);
    return std::includes(before.begin(), before.end(), nodes.begin(), nodes.end())
               ? &model_.at(last).outputs
               : nullptr;
  }

  /// The model's tensors that an operator reads; operators between, without a tensor of their own,
  /// are added to those that work together.
  tensor_names read_by(std::size_t op, std::set<std::size_t>& together) const {
    tensor_names found, seen;
    std::vector<std::string_view> left(operators_[op].inputs.begin(), operators_[op].inputs.end());
    seen.insert(left.begin(), left.end());
    while (!left.empty()) {
      const std::string_view t = left.back();
      left.pop_back();
      const auto ours = alias_.find(t);
      if (const std::string_view name = ours == alias_.end() ? t : ours->second; model_.has(name)) {
        found.insert(name);
        continue;
      }
      const auto made = maker_.find(t);
      if (made == maker_.end()) continue;
      const std::size_t before = made->second;
      if (!is_form(operators_[before]) && own_[before].empty() && makes_[before].empty())
        together.insert(before);
      for (const std::string& i : operators_[before].inputs)
        if (seen.insert(i).second) left.push_back(i);
    }
    return found;
  }

  /// The nodes that certainly are between what is read and what is made.
  std::set<int> between(const std::vector<std::string_view>& makes,
                        const tensor_names& reads) const {
    const tensor_names own(makes.begin(), makes.end());
    std::set<int> inside;
    std::vector<int> order;
    for (std::vector<std::string_view> left = makes; !left.empty();) {
      const int n = model_.maker(left.back());
      left.pop_back();
      if (!inside.insert(n).second) continue;
      order.push_back(n);
      for (const std::string& t : model_.at(n).inputs)
        if (!reads.contains(t) && (own.contains(t) || !made_.contains(t)) && !model_.is_still(t) &&
            model_.maker(t) >= 0)
          left.push_back(t);
    }
    std::set<int> certain;
    const auto follows = [&](const std::string& t) {
      if (reads.contains(t) || model_.is_still(t)) return true;
      const int made = model_.maker(t);
      return made >= 0 && certain.contains(made) && (!made_.contains(t) || own.contains(t));
    };
    for (bool changed = true; changed;) { // from what is read on
      changed = false;
      for (std::size_t k = order.size(); k-- > 0;) {
        const graph_node& n = model_.at(order[k]);
        if (certain.contains(order[k])) continue;
        const bool fine = std::any_of(n.outputs.begin(), n.outputs.end(),
                                      [&](const std::string& o) { return own.contains(o); }) ||
                          std::all_of(n.inputs.begin(), n.inputs.end(), follows);
        if (fine) changed = certain.insert(order[k]).second;
      }
    }
    return certain;
  }

  known_model model_;
  const std::vector<graph_node>& operators_;
  std::vector<std::set<int>> own_; ///< of each operator: the nodes that it stands for
  std::vector<char> passes_;       ///< it only changes the form of what another made
  std::vector<std::vector<std::string_view>> makes_;               ///< of each operator
  tensor_names made_{};                                            ///< by any of them
  std::unordered_map<std::string_view, std::size_t> maker_{};      ///< of the operators' tensors
  std::unordered_map<std::string_view, std::string_view> alias_{}; ///< what the model calls them
};
} // namespace detail

/// The operators of an optimized graph, with the nodes that they stand for and what they make.
inline std::vector<profiled_operator> operators_of(const optimized_graph& g) {
  return detail::graph_joiner(g).standing();
}

} // namespace benanza::trace
