// SPDX-License-Identifier: Apache-2.0
// How do resolved nodes become a model::graph? Each keeps its place and the nodes it reads from;
// equal layers become one, sorted by name in the end; the weights that layers read are counted, and
// the type of most of them is the model's class.
//
//   graph_builder b(values);   b.place(step, call, answer);   model::graph g = b.finish(proto);
#pragma once

#include "../model/operands.hpp"
#include "../op/kinds.hpp"
#include "handlers.hpp"
#include "order.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza::onnx::detail {

/// The operator, with its domain if that is not ONNX's own. Real ones are short words: others are
/// cut and cleaned, since a name goes into every message about the values behind it.
inline std::string operator_name(const ::onnx::NodeProto& n) {
  const std::string_view domain = domain_of(n);
  const std::string op = printable(n.op_type(), longest_name);
  return domain.empty() ? op : printable(domain, longest_name) + "::" + op;
}

class graph_builder {
public:
  explicit graph_builder(std::deque<value>& values)
      : values_(values) {}

  model::graph graph{};

  /// Adds a node, with the layer that its answer says, or the problem in its place. `path` comes
  /// before its name.
  void place(const step& s, const call& c, answer& a, const std::string& path = {}) {
    const int number = static_cast<int>(graph.nodes.size());
    model::node n;
    const ::onnx::NodeProto& p = *s.node;
    n.name = path + (!p.name().empty() || p.output_size() == 0 ? p.name() : p.output(0));
    n.op = operator_name(p);
    const bool joins = a.layer && op::is<op::concat>(*a.layer);
    for (const auto* list : {&s.inputs, &s.captured})
      for (int i : *list)
        if (!joins || !empty(i)) n.operands.push_back(operand_of(i));
    n.inputs = model::inputs_of(n.operands);
    for (std::size_t o = 0; o < s.outputs.size(); ++o)
      if (s.outputs[o] >= 0) {
        value& made = values_[static_cast<std::size_t>(s.outputs[o])];
        made.producer = number;
        made.output = static_cast<int>(o);
      }
    if (!a.repair.empty()) graph.repairs.push_back(described(p) + ": " + a.repair);
    if (a.problem.empty() && !a.layer) a.problem = "no kind of layer is for this operator";
    if (a.problem.empty()) {
      try {
        n.layer = op::visit(
            [&](const auto& l) {
              l.validate();
              return number_of(l.canonical_form());
            },
            *a.layer);
      } catch (const error& e) {
        a.problem = e.what();
      }
    }
    n.problem = a.problem;
    if (op::quantize::of(c.op())) n.scale = scale_of(s);
    if (n.layer != model::no_layer) {
      count_parameters(s, c);
      if (c.op() == "Concat") count_caches(s, c);
      if (detail::has_experts(c)) assume(detail::experts_assumed(c));
      if (c.op() == "Attention" && c.has_attribute(in_place)) count_caches_in_place(s, c);
    }
    graph.nodes.push_back(std::move(n));
  }

  /// Takes the nodes in [from, to) out again; nothing that stays may read them.
  void drop(int from, int to) {
    auto& nodes = graph.nodes;
    nodes.erase(nodes.begin() + from, nodes.begin() + to);
    std::map<int, model::token_cache> grown;
    for (const auto& [number, cache] : grown_)
      if (number < from || number >= to)
        grown[number < from ? number : number - (to - from)] = cache;
    grown_ = std::move(grown);
    if (static_cast<std::size_t>(from) == nodes.size()) return; // nothing was behind them
    const auto moved = [&](int& n) {
      if (n >= to) n -= to - from;
    };
    for (std::size_t i = static_cast<std::size_t>(from); i < nodes.size(); ++i) {
      for (model::operand& o : nodes[i].operands)
        moved(o.node);
      nodes[i].inputs = model::inputs_of(nodes[i].operands);
    }
    for (value& v : values_)
      moved(v.producer);
  }

  model::graph finish(const ::onnx::GraphProto& g) {
    sort_layers();
    find_type(g);
    for (const auto& [number, cache] : grown_)
      if (graph.nodes[static_cast<std::size_t>(number)].given) {
        const std::int64_t before = graph.cache.bytes;
        if (!graph.cache || cache.past > graph.cache.past) graph.cache = cache;
        graph.cache.bytes = capped_add(before, cache.bytes);
      }
    return std::move(graph);
  }

private:
  /// True for a tensor without elements, which is no part of a Concat.
  bool empty(int number) const {
    if (number < 0) return false; // left out
    const std::optional<shape>& dims = values_[static_cast<std::size_t>(number)].dims;
    return dims && benanza::elements(*dims) == 0;
  }

  /// An operand that is left out is as good as a constant.
  model::operand operand_of(int number) const {
    if (number < 0) return {model::constant};
    const value& v = values_[static_cast<std::size_t>(number)];
    if (v.producer >= 0) return {v.producer, v.output};
    if (v.constant) return {.node = model::constant, .codes = v.codes};
    return {model::model_input};
  }

  /// A scale and a zero point as their numbers; of those that are not known, which values they are.
  std::string scale_of(const step& s) const {
    std::string out;
    for (std::size_t i = 1; i < s.inputs.size() && i < 3; ++i) {
      if (s.inputs[i] < 0) continue;
      const value& v = values_[static_cast<std::size_t>(s.inputs[i])];
      const elements_of* e = v.constant ? v.elements() : nullptr;
      if (e == nullptr || e->size() != 1)
        out += '#' + std::to_string(v.given >= 0 ? v.given : s.inputs[i]);
      else if (i == 1 || e->number(0) != 0) { // no zero point is one of zero
        char text[40];
        std::snprintf(text, sizeof text, i == 1 ? "%.17g" : "%+.17g", e->number(0));
        out += text;
      }
    }
    return out;
  }

  int number_of(op::layer l) {
    const auto [found, fresh] =
        layer_numbers_.emplace(op::name(l), static_cast<int>(graph.layers.size()));
    if (fresh) graph.layers.push_back(std::move(l));
    return found->second;
  }

  /// Operands that steer an operator, such as a Clip's bounds, are no weights.
  static bool steers(std::string_view op, std::size_t i) {
    static constexpr std::string_view steered[] = {"Clip",      "Dropout", "Resize",  "Upsample",
                                                   "Pad",       "Slice",   "Reshape", "Split",
                                                   "Attention", "OneHot"};
    return i > 0 && std::find(std::begin(steered), std::end(steered), op) != std::end(steered);
  }

  /// Where a single number is a constant of the formula, such as a scale, and no weight.
  static bool takes_numbers(std::string_view op) {
    return (op::binary::of(op) && op != "PRelu") || op == "Where" || op == "QuantizeLinear" ||
           op == "DequantizeLinear";
  }

  /// Operands that are weights although they are whole numbers: codes of weights, and biases in the
  /// steps of sums.
  static bool codes_of_weights(std::string_view op, std::size_t i, int element) {
    struct operands {
      std::string_view op;
      std::array<std::size_t, 3> at;
    };
    constexpr std::size_t none = ~std::size_t{0};
    static constexpr operands all[] = {{"MatMulInteger", {0, 1, none}},
                                       {"ConvInteger", {1, none, none}},
                                       {"QLinearConv", {3, 8, none}},
                                       {"QLinearMatMul", {0, 3, none}},
                                       {"QGemm", {0, 3, 6}},
                                       {"MatMulNBits", {1, none, none}},
                                       {"MatMulGgml", {1, none, none}},
                                       {"GatherGgml", {0, none, none}}};
    if (op == "Gather") // a table of whole numbers may be anything, one of bytes is an embedding
      return i == 0 && (element == proto::INT8 || element == proto::UINT8);
    const auto found =
        std::find_if(std::begin(all), std::end(all), [&](const operands& o) { return o.op == op; });
    return found != std::end(all) &&
           std::find(found->at.begin(), found->at.end(), i) != found->at.end();
  }

  /// How many weights an operand holds; several of few bits are in one element.
  static std::int64_t weights_in(const call& c, std::size_t i, const shape& dims) {
    if (c.op() == "MatMulNBits" && i == 1) {
      const bool several = detail::has_experts(c);
      return capped_multiply(several ? capped_multiply(dims[0], dims[1]) : c.integer("N", 0),
                             c.integer("K", 0));
    }
    if (c.op() == "MatMulGgml" && i == 1)
      return capped_multiply(capped_multiply(dims.size == 3 ? dims[0] : 1, c.integer("N", 0)),
                             c.dims(0).back());
    if (c.op() == "GatherGgml" && i == 0) return capped_multiply(dims[0], c.integer("K", 0));
    return benanza::elements(dims);
  }

  void assume(const std::string& line) {
    const auto& all = graph.assumptions;
    if (std::find(all.begin(), all.end(), line) == all.end()) graph.assumptions.push_back(line);
  }

  /// How much of an operand a run reads: of experts those that it is expected to choose.
  static std::int64_t read_of(const call& c, std::size_t i, const shape& dims) {
    const std::int64_t all = benanza::elements(dims);
    return i > 0 && detail::has_experts(c) ? all / dims[0] * detail::touched_experts(c) : all;
  }

  /// Operands of which a run reads some rows, or what a choice at run time leaves of them.
  static bool reads_in_part(std::string_view op, std::size_t i) {
    static constexpr std::string_view in_part[] = {
        "Gather",         "GatherElements",          "GatherND", "GatherBlockQuantized",
        "GatherGgml",     "EmbedLayerNormalization", "MoE",      "Slice",
        "RotaryEmbedding"};
    return std::find(std::begin(in_part), std::end(in_part), op) != std::end(in_part) &&
           (i == 0 || !op.starts_with("Gather"));
  }

  /// An input of the model that a Concat makes longer is a cache if the caller gets the result.
  void count_caches(const step& s, const call& c) {
    if (s.inputs.size() != 2 || s.inputs[0] < 0 || s.inputs[1] < 0) return;
    const value &kept = values_[static_cast<std::size_t>(s.inputs[0])],
                &fresh = values_[static_cast<std::size_t>(s.inputs[1])];
    if (kept.producer >= 0 || kept.constant || kept.given != s.inputs[0]) return;
    if (!kept.dims || !fresh.dims || kept.dims->size != fresh.dims->size) return;
    const std::int64_t axis = c.integer("axis", 0), rank = kept.dims->size;
    const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
    if (rank < 3 || at < 0 || at >= rank || benanza::elements(*fresh.dims) == 0) return;
    grown_[static_cast<int>(graph.nodes.size())] = {
        stored_bytes(kept.element, benanza::elements(*kept.dims)),
        (*kept.dims)[std::max(0, static_cast<int>(rank) - 4)], (*kept.dims)[at], (*fresh.dims)[at]};
  }

  /// Keys and values that are inputs of the model: a run has written the last ones in their place.
  void count_caches_in_place(const step& s, const call& c) {
    for (const std::size_t k : {1u, 2u}) {
      const value& v = values_[static_cast<std::size_t>(s.inputs[k])];
      const shape& dims = *v.dims;
      if (v.producer >= 0 || v.constant || v.given != s.inputs[k] || dims.size != 4) continue;
      // In the last layer there may be one query of all tokens that are new.
      const std::int64_t queries = c.dims(0)[1], added = std::max(graph.cache.added, queries);
      const std::int64_t past = dims[2] - added;
      if (past < 0) continue;
      graph.cache.past = past;
      graph.cache.added = added;
      graph.cache.sequences = dims[0];
      const std::int64_t left = c.integer("left_window_size", -1);
      const std::int64_t seen =
          left >= 0 ? std::clamp(left - (added - queries), std::int64_t{0}, past) : past;
      graph.cache.bytes = capped_add(
          graph.cache.bytes, stored_bytes(v.element, benanza::elements(dims) / dims[2] * seen));
    }
  }

  void count_parameters(const step& s, const call& c) {
    for (std::size_t i = 0; i < s.inputs.size(); ++i) {
      if (s.inputs[i] < 0) continue;
      const value& v = values_[static_cast<std::size_t>(s.inputs[i])];
      const bool real = is_floating(v.element);
      if (!v.constant || !v.dims || steers(c.op(), i) ||
          !(real || codes_of_weights(c.op(), i, v.element)))
        continue;
      const std::int64_t n = weights_in(c, i, *v.dims), stored = benanza::elements(*v.dims);
      const int first = v.moved >= 0 ? v.moved : s.inputs[i];
      const auto add = [](std::int64_t& sum, std::int64_t more) { sum = capped_add(sum, more); };
      if (n == 1 && takes_numbers(c.op())) continue;
      if (v.is_weight && !reads_in_part(c.op(), i) && streamed_.insert(first).second)
        add(graph.streamed_weight_bytes, stored_bytes(v.stored_as, read_of(c, i, *v.dims)));
      if (!counted_.insert(first).second) continue;
      add(graph.parameters, n);
      add(graph.parameter_bytes, stored_bytes(v.stored_as, stored));
      if (real) add(weights_of_[v.element], n);
    }
  }

  /// In the order of their names; those of nodes that were dropped again are left out.
  void sort_layers() {
    const std::vector<std::int64_t> uses = model::counts(graph);
    std::vector<std::pair<std::string, int>> by_name;
    for (const auto& entry : layer_numbers_)
      if (uses[static_cast<std::size_t>(entry.second)] > 0) by_name.push_back(entry);
    std::sort(by_name.begin(), by_name.end());
    std::vector<op::layer> sorted;
    std::vector<int> place(graph.layers.size());
    for (const auto& [name, old] : by_name) {
      place[static_cast<std::size_t>(old)] = static_cast<int>(sorted.size());
      sorted.push_back(std::move(graph.layers[static_cast<std::size_t>(old)]));
    }
    graph.layers = std::move(sorted);
    for (model::node& n : graph.nodes)
      if (n.layer != model::no_layer) n.layer = place[static_cast<std::size_t>(n.layer)];
  }

  /// The class of most weights; of the first floating input where there are none.
  void find_type(const ::onnx::GraphProto& g) {
    int element = 0;
    std::int64_t most = 0;
    for (const auto& [type, count] : weights_of_)
      if (count > most) {
        most = count;
        element = type;
      }
    for (const auto& i : g.input())
      if (element == 0 && is_floating(i.type().tensor_type().elem_type()))
        element = i.type().tensor_type().elem_type();
    graph.type = element == proto::FLOAT16    ? numeric::f16
                 : element == proto::BFLOAT16 ? numeric::bf16
                                              : numeric::f32;
  }

  std::deque<value>& values_;
  std::unordered_map<std::string, int> layer_numbers_{};
  std::set<int> counted_{}, streamed_{};
  std::map<int, model::token_cache> grown_{}; ///< by nodes: inputs that they make longer
  std::map<int, std::int64_t> weights_of_{};
};

} // namespace benanza::onnx::detail
