// SPDX-License-Identifier: Apache-2.0
// Rule: averages moved forward. An average of points that a 1x1 convolution, or a normalization by
// constants, has made is what these make of the average: they are linear in each point, their
// shift the same at all. So the pool comes first, and they compute on fewer points.
//   before: Conv 1x1 -> AveragePool 2x2 /2        after: AveragePool 2x2 /2 -> Conv 1x1
// Proof: the mean of W x_i + b over the points i of a window is W (mean of x_i) + b, where the mean
// divides by as many points as it adds; so no pool that counts pads as zeros. No weight changes.
#pragma once

#include "../../op/kinds.hpp"
#include "draft.hpp"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::model {

inline constexpr std::string_view averages_rule = "averages moved forward";

namespace detail {
/// True for averages over the points that are there.
inline bool averages_points(const op::layer& l) {
  const auto* p = op::as<op::pool>(l);
  return p != nullptr && !p->include_pad && !p->ceil &&
         (p->function == op::pooling::average || p->function == op::pooling::global_average);
}

/// The layer, linear in each point by itself, on `dims`, which differ from its own in their points;
/// nothing: it is none.
inline std::optional<op::layer> at_points(const op::layer& l, const shape& dims) {
  if (op::is<op::batch_norm>(l)) return op::layer(op::batch_norm{.input = dims});
  const auto* c = op::as<op::conv>(l);
  if (c == nullptr || !c->kernel.all(1) || !c->pads.all(0) || !c->strides.all(1))
    return std::nullopt;
  op::conv out = *c;
  out.input = dims;
  return op::layer(out.canonical_form());
}
} // namespace detail

/// `g` with one average moved forward, the last one where that saves operations and moves no more
/// bytes; nothing: there is none.
inline std::optional<graph> averages_moved_forward(const graph& g) {
  const draft seen(g);
  for (int i = seen.size() - 1; i >= 0; --i) {
    const op::layer* l = seen.layer(i);
    if (l == nullptr || !detail::averages_points(*l) || seen.at(i).operands.size() != 1) continue;
    const operand from = seen.at(i).operands[0];
    if (from.node < 0 || !seen.inner(from.node) || seen.readers(from.node).size() != 1) continue;
    const op::layer& linear = *seen.layer(from.node);
    if (!detail::at_points(linear, op::output(linear))) continue;
    const std::vector<operand>& its = seen.at(from.node).operands;
    bool constants = !its.empty();
    for (std::size_t k = 1; k < its.size(); ++k)
      constants = constants && its[k].node == constant;
    if (!constants || its[0].node == constant) continue;

    op::pool pool = op::get<op::pool>(*l);
    const auto* c = op::as<op::conv>(linear);
    pool.input = c != nullptr ? c->input : op::output(linear);
    draft w(g);
    const int first =
        w.insert_before(from.node, seen.at(i).name, op::layer(pool.canonical_form()), {its[0]});
    w.set_layer(from.node, *detail::at_points(linear, pool.output()));
    w.set_operand({from.node, 0}, {first});
    w.replace(i, {from.node});
    graph moved = w.finished(averages_rule, {from.node});
    if (moved.rewrites.back().flops > 0 && moved.rewrites.back().bytes >= 0) return moved;
  }
  return std::nullopt;
}

} // namespace benanza::model
