// SPDX-License-Identifier: Apache-2.0
// Attention whose scores and weights a model's own graphs change: FlexAttention-1 of ONNX's
// preview domain. Without such graphs it is a layer; else both products, the softmax and what the
// graphs say are layers of their own.
//
//   expand_flex_attention(p)   // with a score_mod: MatMul, its nodes, Softmax, MatMul
#pragma once

#include "expand_attention.hpp"

namespace benanza::onnx {

inline void expand_flex_attention(pieces& p) {
  const call& c = p.of;
  const shape &q = c.dims(0), &k = c.dims(1), &v = c.dims(2);
  const bool fits = q.size == 4 && k.size == 4 && v.size == 4 && k[0] == q[0] && v[0] == q[0] &&
                    k[1] > 0 && v[1] == k[1] && q[1] % k[1] == 0 && k[2] == v[2] && k[3] == q[3] &&
                    q[3] > 0;
  if (!fits)
    throw error("its operands " + text(q) + ", " + text(k) + " and " + text(v) + " do not fit");
  const double scale = c.real("scale", 1 / std::sqrt(static_cast<double>(q[3])));
  if (!c.has_attribute("score_mod") && !c.has_attribute("prob_mod"))
    return p.give(0, p("Attention", {p.in(0), p.in(1), p.in(2)}, {{"scale", scale}}));

  // Heads that share keys are rows of one product.
  const bool shared = q[1] != k[1];
  const shape rows{q[0], k[1], checked_multiply(q[1] / k[1], q[2]), q[3]};
  const shape all{q[0], q[1], q[2], k[2]};
  const std::int64_t precision =
      c.integer("softmax_precision", c.element(0) == proto::DOUBLE ? proto::DOUBLE : proto::FLOAT);
  const auto cast = [&](const pieces::name& x, std::int64_t to) {
    return precision == c.element(0) ? x : p("Cast", {x}, {{"to", to}});
  };
  const auto changed = [&](std::string_view graph, const pieces::name& x) {
    return c.has_attribute(graph) ? p.opened(graph, {x}).at(0) : x;
  };
  pieces::name scores = p("Mul", {p.in(0), p.number(scale)});
  if (shared) scores = p.reshaped(scores, rows);
  scores = p("MatMul", {scores, p.transposed(p.in(1), {0, 1, 3, 2})});
  if (shared) scores = p.reshaped(scores, all);
  scores = changed("score_mod", cast(scores, precision));
  pieces::name weights = changed("prob_mod", p("Softmax", {scores}));
  weights = cast(weights, c.element(0));
  if (shared) weights = p.reshaped(weights, {rows[0], rows[1], rows[2], k[2]});
  const pieces::name y = p("MatMul", {weights, p.in(2)});
  p.give(0, shared ? p.reshaped(y, {q[0], q[1], q[2], v[3]}) : y);
}

} // namespace benanza::onnx
