// SPDX-License-Identifier: Apache-2.0
// Which nodes of a model does each operator of a framework represent? First what is certain: nodes
// that the framework names, an operator with the name of a node, and one that makes a node's
// tensor. Then what follows from the graph: nodes between those that are claimed belong to the
// operator behind them, or to the product before them. What is left is matched by its kind and
// dims, in order. Operators that match nothing are what the framework added. Time grows with the
// graph.
//
//   attribution a = attribute(profile, graph);   a.nodes[3]   // {5, 6, 7}: Conv, Add, Relu
#pragma once

#include "../../model/operands.hpp"
#include "profile.hpp"

#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/algorithm/count_if.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/reverse.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::trace {

/// How a node came to its operator, the surest first.
enum class matched_by : std::uint8_t {
  said,     ///< the framework names the node
  name,     ///< the operator has the node's name
  tensor,   ///< it makes the node's result
  between,  ///< it is between nodes of the operator, or next to them, and no other claims it
  likeness, ///< the same kind and dims, in order
  nothing,
};

/// The token of a way to match.
constexpr std::string_view name(matched_by m) {
  constexpr std::string_view names[] = {"said", "name", "tensor", "between", "likeness", "nothing"};
  return names[static_cast<int>(m)];
}

inline constexpr int no_operator = -1;

/// Which operator runs each node, and which nodes each operator represents.
struct attribution {
  std::vector<int> owner{};              ///< of each node of the graph; no_operator: of none
  std::vector<matched_by> how{};         ///< of each node
  std::vector<std::vector<int>> nodes{}; ///< of each operator, ascending; none: it was added
  /// Operators for which the framework names the same nodes do their work together: of each the
  /// first of these, which has the nodes.
  std::vector<int> leader{};

  /// Nodes that have an operator.
  std::int64_t matched() const {
    return ranges::count_if(owner, [](int o) { return o != no_operator; });
  }
  /// True for an operator that is no work of the model.
  bool added(std::size_t op) const { return nodes[static_cast<std::size_t>(leader[op])].empty(); }
  /// The least sure match of an operator's nodes.
  matched_by sureness(std::size_t op) const {
    matched_by out = nodes[op].empty() ? matched_by::nothing : matched_by::said;
    for (int n : nodes[op])
      out = std::max(out, how[static_cast<std::size_t>(n)]);
    return out;
  }
};

namespace detail {
/// A framework's name without what it puts behind the tensor that it is called after.
inline std::string_view plain_name(std::string_view name) {
  for (std::string_view end : {"_nchwc", "_kernel_time"})
    if (name.ends_with(end)) name.remove_suffix(end.size());
  return name;
}

/// The name of the operator that makes a tensor of this name, by the habit of exporters.
inline std::string_view maker_of(std::string_view tensor) {
  const std::size_t at = tensor.rfind("_output_");
  return at == std::string_view::npos || at == 0 ? std::string_view{} : tensor.substr(0, at);
}

/// The operator of a framework as ONNX calls it: `FusedConv` is a Conv.
inline std::string_view base_type(std::string_view type) {
  static constexpr std::pair<std::string_view, std::string_view> others[] = {
      {"Convolution", "Conv"},      {"FusedConv", "Conv"},
      {"FusedMatMul", "MatMul"},    {"FusedGemm", "Gemm"},
      {"FullyConnected", "MatMul"}, {"SoftMax", "Softmax"},
      {"aten::addmm", "Gemm"},      {"aten::linear", "Gemm"},
      {"aten::mm", "MatMul"},       {"aten::bmm", "MatMul"},
      {"aten::conv2d", "Conv"},     {"aten::relu_", "Relu"},
      {"aten::relu", "Relu"},       {"aten::add", "Add"},
      {"aten::cat", "Concat"},      {"convolution", "Conv"},
      {"matmul", "MatMul"},         {"inner_product", "MatMul"},
      {"CaskConvolution", "Conv"},  {"gemm", "MatMul"}};
  for (const auto& [theirs, ours] : others)
    if (theirs == type) return ours;
  return type;
}

/// True for operators whose kernels can do what follows on their results.
inline bool takes_what_follows(std::string_view type) {
  type = base_type(type);
  return type == "Conv" || type == "ConvTranspose" || type == "MatMul" || type == "Gemm" ||
         type == "InnerProduct" || type == "Add" || type == "QLinearConv";
}

/// What two of a kind have in common: operator and dims of the first result.
inline std::string likeness_of(std::string_view type, const shape& dims) {
  std::string out(base_type(type));
  for (std::int64_t d : dims)
    (out += ' ') += std::to_string(d);
  return out;
}

class node_matcher {
public:
  node_matcher(const profile& p, const model::graph& g)
      : profile_(p)
      , graph_(g) {
    out_.owner.assign(g.nodes.size(), no_operator);
    out_.how.assign(g.nodes.size(), matched_by::nothing);
    for (std::size_t o = 0; o < p.operators.size(); ++o)
      out_.leader.push_back(static_cast<int>(o));
    for (const auto& [i, n] : ranges::views::enumerate(g.nodes))
      names_[n.name].push_back(static_cast<int>(i));
  }

  attribution run() {
    for (std::size_t o = 0; o < profile_.operators.size(); ++o)
      for (const std::string& n : profile_.operators[o].stands_for)
        claim_name(n, o, matched_by::said);
    for (std::size_t o = 0; o < profile_.operators.size(); ++o)
      if (profile_.operators[o].stands_for.empty())
        claim_name(plain_name(profile_.operators[o].name), o, matched_by::name);
    for (std::size_t o = 0; o < profile_.operators.size(); ++o)
      for (const std::string& t : profile_.operators[o].makes) {
        claim_name(t, o, matched_by::tensor);
        claim_name(maker_of(t), o, matched_by::tensor);
      }
    for (std::size_t o = 0; o < profile_.operators.size(); ++o)
      claim_name(maker_of(plain_name(profile_.operators[o].name)), o, matched_by::tensor);
    by_likeness();
    between();
    for (std::size_t o = 0; o < out_.leader.size(); ++o)
      out_.leader[o] = leader_of(static_cast<int>(o));
    for (int& owner : out_.owner)
      if (owner != no_operator) owner = out_.leader[static_cast<std::size_t>(owner)];
    out_.nodes.resize(profile_.operators.size());
    for (const auto& [i, owner] : ranges::views::enumerate(out_.owner))
      if (owner != no_operator)
        out_.nodes[static_cast<std::size_t>(owner)].push_back(static_cast<int>(i));
    return std::move(out_);
  }

private:
  bool claimed(int node) const { return out_.owner[static_cast<std::size_t>(node)] != no_operator; }

  void claim(int node, std::size_t op, matched_by how) {
    out_.owner[static_cast<std::size_t>(node)] = static_cast<int>(op);
    out_.how[static_cast<std::size_t>(node)] = how;
  }

  /// The first of the operators that work together with this one.
  int leader_of(int op) const {
    while (out_.leader[static_cast<std::size_t>(op)] != op)
      op = out_.leader[static_cast<std::size_t>(op)];
    return op;
  }

  void join(std::size_t op, int other) {
    const int a = leader_of(static_cast<int>(op)), b = leader_of(other);
    out_.leader[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }

  /// Claims the first free node of this name; or, where it was written as several, all of them.
  void claim_name(std::string_view name, std::size_t op, matched_by how) {
    if (name.empty()) return;
    if (const auto found = names_.find(name); found != names_.end()) {
      for (int n : found->second)
        if (!claimed(n)) return claim(n, op, how);
      if (how == matched_by::said) join(op, out_.owner[static_cast<std::size_t>(found->second[0])]);
      return;
    }
    const std::string inside = std::string(name) + '/';
    if (!opened_.insert(inside).second) return; // all of it is claimed
    for (auto it = names_.lower_bound(inside); it != names_.end() && it->first.starts_with(inside);
         ++it)
      for (int n : it->second)
        if (!claimed(n)) claim(n, op, how);
  }

  /// Operators that are matched to nothing yet, and nodes of the same kind and dims, in order. An
  /// operator type of which some were matched by name is one whose others were added.
  void by_likeness() {
    std::vector<char> used(profile_.operators.size(), 0);
    for (int o : out_.owner)
      if (o != no_operator) used[static_cast<std::size_t>(o)] = 1;
    std::map<std::string, std::vector<int>> free; // nodes, the last first
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const model::node& n = graph_.nodes[i];
      const op::layer* layer = model::layer_of(graph_, n);
      if (claimed(static_cast<int>(i)) || layer == nullptr) continue;
      free[likeness_of(op::family(*layer), op::output(*layer))].push_back(static_cast<int>(i));
    }
    for (const auto& [o, op] : ranges::views::enumerate(profile_.operators)) {
      if (used[o] != 0 || op.results.empty() || !op.results[0].dims) continue;
      const auto found = free.find(likeness_of(op.type, *op.results[0].dims));
      if (found == free.end() || found->second.empty()) continue;
      claim(found->second.back(), o, matched_by::likeness);
      found->second.pop_back();
    }
  }

  /// Gives nodes without an operator to an operator next to them.
  void between() {
    const std::size_t n = graph_.nodes.size();
    std::vector<std::vector<int>> readers(n);
    for (const auto& [i, node] : ranges::views::enumerate(graph_.nodes))
      for (int from : node.inputs)
        readers[static_cast<std::size_t>(from)].push_back(static_cast<int>(i));
    // What a product made and only this node reads belongs to the product.
    for (std::size_t i = 0; i < n; ++i)
      if (!claimed(static_cast<int>(i)) && follows(i, readers))
        claim(static_cast<int>(i), static_cast<std::size_t>(owner_before(i)), matched_by::between);
    // Else it belongs to the operator that alone reads it.
    for (std::size_t i = n; i-- > 0;) {
      if (claimed(static_cast<int>(i)) || readers[i].empty()) continue;
      const int owner = out_.owner[static_cast<std::size_t>(readers[i][0])];
      if (owner != no_operator && ranges::all_of(readers[i], [&](int r) {
            return out_.owner[static_cast<std::size_t>(r)] == owner;
          }))
        claim(static_cast<int>(i), static_cast<std::size_t>(owner), matched_by::between);
    }
    // At the end of the model, to the one before it.
    for (std::size_t i = 0; i < n; ++i)
      if (!claimed(static_cast<int>(i)) && readers[i].empty() && owner_before(i) != no_operator)
        claim(static_cast<int>(i), static_cast<std::size_t>(owner_before(i)), matched_by::between);
  }

  /// The operator of the node that made the first operand.
  int owner_before(std::size_t i) const {
    const std::vector<model::operand> all = model::known_operands(graph_.nodes[i]);
    return all.empty() || all[0].node < 0 ? no_operator
                                          : out_.owner[static_cast<std::size_t>(all[0].node)];
  }

  /// True where node `i` changes elements, one by one, of what a product before it makes for it
  /// alone.
  bool follows(std::size_t i, const std::vector<std::vector<int>>& readers) const {
    const int owner = owner_before(i);
    if (owner == no_operator ||
        !takes_what_follows(profile_.operators[static_cast<std::size_t>(owner)].type))
      return false;
    const model::node& n = graph_.nodes[i];
    const int before = model::known_operands(n)[0].node;
    const op::layer *layer = model::layer_of(graph_, n),
                    *made = model::layer_of(graph_, graph_.nodes[static_cast<std::size_t>(before)]);
    return layer != nullptr && made != nullptr &&
           readers[static_cast<std::size_t>(before)].size() == 1 &&
           op::output(*layer) == op::output(*made);
  }

  const profile& profile_;
  const model::graph& graph_;
  std::map<std::string, std::vector<int>, std::less<>> names_{};
  std::set<std::string> opened_{}; ///< names whose parts are all claimed
  attribution out_{};
};
} // namespace detail

/// Matches the operators of a profile to the nodes of an unfused graph.
inline attribution attribute(const profile& p, const model::graph& g) {
  return detail::node_matcher(p, g).run();
}

} // namespace benanza::trace
