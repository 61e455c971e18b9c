// SPDX-License-Identifier: Apache-2.0
// What does a step of training a model compute at least? Its products, and for each the gradient by
// what it reads and by its weights: layers of kinds that are there. The gradient by the source of a
// convolution is a transposed convolution, that by the source of a product is a product. None is
// needed by what no trained weight is before. All else is left out, forward and back, and so are
// loss and update: at best they are parts of these kernels for nothing.
//
//   training_step(g)         // conv1, conv2, conv2/by-weights, conv2/by-source, conv1/by-weights
//   gradients_of(layer)      // what each of its operands' gradients is, and reads
#pragma once

#include "../op/kinds.hpp"
#include "layer_table.hpp"
#include "operands.hpp"
#include "training_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::model {

/// As what a gradient reads: the gradient by the layer's result.
inline constexpr int by_result = -1;

/// The gradient by one operand of a layer.
struct gradient {
  int of = 0; ///< the operand: 0 or 1
  op::layer layer{};
  int reads[2]{}; ///< its own operands: the forward layer's, or `by_result`
};

namespace detail {
/// A layer of another kind with the window and the groups of `l`.
template <class To, class From>
To with_window_of(const From& l, const shape& input, std::int64_t outputs) {
  return {.input = input,
          .outputs = outputs,
          .kernel = l.kernel,
          .strides = l.strides,
          .pads = l.pads,
          .dilations = l.dilations,
          .groups = l.groups};
}

inline std::vector<gradient> gradients(const op::conv& l) {
  auto by_source = with_window_of<op::conv_transpose>(l, l.output(), l.input[1]);
  const shape least = by_source.output();
  for (int i = 0; i < l.kernel.size; ++i)
    by_source.output_pads.push(l.input[i + 2] - least[i + 2]);
  const auto by_weights = with_window_of<op::conv_weight_gradient>(l, l.input, l.outputs);
  return {{0, by_source.canonical_form(), {by_result, 1}},
          {1, by_weights.canonical_form(), {0, by_result}}};
}

inline std::vector<gradient> gradients(const op::conv_transpose& l) {
  const auto by_source = with_window_of<op::conv>(l, l.output(), l.input[1]);
  if (by_source.output() != l.input) return {}; // output_pads of a stride or more
  const auto by_weights =
      with_window_of<op::conv_weight_gradient>(by_source, by_source.input, by_source.outputs);
  return {{0, by_source.canonical_form(), {by_result, 1}},
          {1, by_weights.canonical_form(), {by_result, 0}}};
}

/// Y = A B: that by A is dY B^T, that by B is A^T dY; each is stored as its operand is.
inline std::vector<gradient> gradients(const op::gemm& l) {
  const bool ta = l.transpose_a, tb = l.transpose_b;
  gradient by_a{
      0,
      op::gemm{.m = l.m, .n = l.k, .k = l.n, .transpose_b = !tb, .constant_b = l.constant_b},
      {by_result, 1}};
  if (ta)
    by_a = {0,
            op::gemm{.m = l.k, .n = l.m, .k = l.n, .transpose_a = tb, .transpose_b = true},
            {1, by_result}};
  gradient by_b{1, op::gemm{.m = l.k, .n = l.n, .k = l.m, .transpose_a = !ta}, {0, by_result}};
  if (tb)
    by_b = {1,
            op::gemm{.m = l.n, .n = l.k, .k = l.m, .transpose_a = true, .transpose_b = ta},
            {by_result, 0}};
  return {by_a, by_b};
}

/// Stacks of matrices have their transposes as other tensors, laid out as the products read them.
/// Of operands that broadcast the gradient is that before the sum over the copies.
inline std::vector<gradient> gradients(const op::matmul& l) {
  if (l.b.size == 2 && l.constant_b) {
    std::int64_t rows = 1;
    for (int i = 0; i + 1 < l.a.size; ++i)
      rows *= l.a[i];
    return gradients(op::gemm{.m = rows, .n = l.n(), .k = l.k(), .constant_b = true});
  }
  const auto transposed = [](shape s) {
    std::swap(s[s.size - 2], s[s.size - 1]);
    return s;
  };
  return {{0,
           op::matmul{.a = l.output(), .b = transposed(l.b), .constant_b = l.constant_b},
           {by_result, 1}},
          {1, op::matmul{.a = transposed(l.a), .b = l.output()}, {0, by_result}}};
}

template <class Base>
std::vector<gradient> gradients(const op::fused<Base>& l) {
  if constexpr (requires { gradients(l.base); }) return gradients(l.base);
  return {};
}
} // namespace detail

/// The gradients of a product by its two operands; none: the layer is no product, or no gradient of
/// it is known.
inline std::vector<gradient> gradients_of(const op::layer& layer) {
  return op::visit(
      [](const auto& l) -> std::vector<gradient> {
        if constexpr (requires { detail::gradients(l); }) return detail::gradients(l);
        return {};
      },
      layer);
}

namespace detail {
/// A step of training while it is put together.
class step_maker {
public:
  explicit step_maker(const graph& g)
      : g_(g)
      , forward_(g.nodes.size())
      , back_(g.nodes.size())
      , trained_(g.nodes.size(), 0) {}

  graph made() && {
    for (std::size_t i = 0; i < g_.nodes.size(); ++i)
      go_forward(i);
    for (std::size_t i = g_.nodes.size(); i-- > 0;)
      go_back(i);
    graph out = g_;
    out.name += training_suffix;
    out.model += training_suffix;
    out.structure.clear();
    out.nodes = std::move(nodes_);
    out.repairs.clear();
    out.assumptions.push_back(assumed());
    number_layers(out, layers_);
    return out;
  }

private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  void add(std::string name, const op::layer& layer, std::vector<operand> operands) {
    node n;
    n.name = std::move(name);
    n.op = op::family(layer);
    n.layer = static_cast<int>(layers_.size());
    n.inputs = inputs_of(operands);
    n.operands = std::move(operands);
    nodes_.push_back(std::move(n));
    layers_.push_back(layer);
  }

  /// What makes an operand of the model, in the step: one node or several, with all between them
  /// left out.
  std::vector<operand> makers(const operand& o) const {
    if (o.node < 0) return {o};
    std::vector<operand> out;
    for (int n : forward_[at(o.node)])
      out.push_back({n});
    if (out.empty()) out.push_back({model_input});
    return out;
  }

  static void merge(std::vector<int>& into, const std::vector<int>& more) {
    into.insert(into.end(), more.begin(), more.end());
    std::sort(into.begin(), into.end());
    into.erase(std::unique(into.begin(), into.end()), into.end());
  }

  void go_forward(std::size_t i) {
    const node& n = g_.nodes[i];
    const op::layer* layer = layer_of(g_, n);
    std::vector<operand> operands, further;
    const std::vector<operand> its = known_operands(n);
    for (const operand& o : its) {
      std::vector<operand> by = makers(o);
      operands.push_back(by.front());
      further.insert(further.end(), by.begin() + 1, by.end());
      if (o.node >= 0) trained_[i] |= trained_[at(o.node)];
      for (const operand& m : by)
        if (m.node >= 0) merge(forward_[i], {m.node});
    }
    if (layer == nullptr || op::is_view(*layer)) {
      if (layer == nullptr) ++unknown_[n.op];
      return;
    }
    const op::work w = op::cost(*layer);
    const bool looks_up = n.op == "Gather" && !its.empty() && its[0].node == constant;
    if (w.weights > 0 || w.vectors > 0 || looks_up) trained_[i] = 1;
    if (w.macs == 0) {
      ++left_out_;
      return;
    }
    if (gradients_of(*layer).empty()) ++unknown_[n.op];
    operands.insert(operands.end(), further.begin(), further.end());
    forward_[i] = {static_cast<int>(nodes_.size())};
    add(n.name, *layer, std::move(operands));
  }

  /// What makes the gradient by the result of node `i`: of those who read it, else the loss, which
  /// is there once the results are.
  std::vector<operand> gradient_of_result(std::size_t i) const {
    std::vector<int> by = back_[i];
    if (by.empty()) by = forward_[i];
    std::vector<operand> out;
    for (int n : by)
      out.push_back({n});
    if (out.empty()) out.push_back({model_input});
    return out;
  }

  void go_back(std::size_t i) {
    const node& n = g_.nodes[i];
    const op::layer* layer = layer_of(g_, n);
    const std::vector<operand> its = known_operands(n);
    const std::vector<gradient> all =
        layer == nullptr ? std::vector<gradient>{} : gradients_of(*layer);
    if (all.empty()) { // its own gradient is left out, or not known: that behind it goes through
      for (const operand& o : its)
        if (o.node >= 0) merge(back_[at(o.node)], back_[i]);
      return;
    }
    for (const gradient& d : all) {
      if (at(d.of) >= its.size()) continue;
      const operand& of = its[at(d.of)];
      if (of.node == model_input || (of.node >= 0 && trained_[at(of.node)] == 0)) continue;
      std::vector<operand> operands, further;
      for (int r : d.reads) {
        std::vector<operand> by = r == by_result ? gradient_of_result(i) : makers(its[at(r)]);
        operands.push_back(by.front());
        further.insert(further.end(), by.begin() + 1, by.end());
      }
      operands.insert(operands.end(), further.begin(), further.end());
      if (of.node >= 0) merge(back_[at(of.node)], {static_cast<int>(nodes_.size())});
      const step_part part = of.node == constant ? step_part::by_weights
                             : d.of == 0         ? step_part::by_source
                                                 : step_part::by_second;
      add(n.name + std::string(step_part_suffixes[static_cast<int>(part)]), d.layer,
          std::move(operands));
    }
  }

  std::string assumed() const {
    std::string out =
        "a step of training is its products and their gradients: " + std::to_string(left_out_) +
        " other operators, their gradients, loss and update are left out: at best "
        "they cost nothing, as parts of these kernels";
    std::string unknown;
    for (const auto& [op, count] : unknown_)
      unknown += (unknown.empty() ? "" : ", ") + std::to_string(count) + ' ' + op;
    return unknown.empty() ? out : out + "; no gradient is known of " + unknown;
  }

  const graph& g_;
  std::vector<node> nodes_;
  std::vector<op::layer> layers_;
  std::vector<std::vector<int>> forward_; ///< by node of the model: what makes it in the step
  std::vector<std::vector<int>> back_;    ///< the same of the gradient by its result
  std::vector<char> trained_;             ///< true: a trained weight is before its result
  std::map<std::string, int> unknown_;
  int left_out_ = 0;
};
} // namespace detail

/// A step of training a model, as a graph of its own. Refuses a model without any product.
inline graph training_step(const graph& g) {
  graph out = detail::step_maker(g).made();
  if (out.nodes.empty())
    throw error("a step of training is products and their gradients, and there is none", g.name,
                "leave out --training");
  return out;
}

} // namespace benanza::model
