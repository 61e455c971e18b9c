// SPDX-License-Identifier: Apache-2.0
// Normalizations of ONNX Runtime that add something first: SkipLayerNormalization and its
// simplified form (a residual and a bias), EmbedLayerNormalization (embeddings of words, places and
// segments); ONNX's MeanVarianceNormalization-9..13, by its definition; BatchNormalization-14..15
// where it trains.
//
//   expand_skip_norm(p)   // Add, Add, LayerNormalization
#pragma once

#include "pieces.hpp"

namespace benanza::onnx {

namespace detail {
/// LayerNormalization with a bias, or RMSNormalization without.
inline pieces::name normalized(pieces& p, const pieces::name& x, const pieces::name& scale,
                               const pieces::name& bias, bool simplified) {
  return simplified ? p("RMSNormalization", {x, scale}) : p("LayerNormalization", {x, scale, bias});
}
inline void refuse_statistics(const call& c) {
  for (int i = 1; i < 3 && i < c.outputs(); ++i)
    if (!c.node().output(i).empty())
      throw error("it also gives its statistics, layers give the result alone");
}
} // namespace detail

/// Input, residual, scale, then a shift where there is one, then a bias; the sum is a result too.
inline void expand_skip_norm(pieces& p) {
  const bool simplified = p.of.op() == "SkipSimplifiedLayerNormalization";
  detail::refuse_statistics(p.of);
  const pieces::name sum = p.plus(p("Add", {p.in(0), p.in(1)}), p.in(simplified ? 3 : 4));
  p.give(3, sum);
  p.give(0, detail::normalized(p, sum, p.in(2), simplified ? "" : p.in(3), simplified));
}

/// Inputs: words, segments, three embeddings, scale, shift, mask, places; segments and theirs, the
/// mask and places may be left out. Without places, words are at 0, 1, 2 ...; the second result is
/// how many words a row has.
inline void expand_embed_norm(pieces& p) {
  const call& c = p.of;
  for (int i : {0, 2, 3, 5, 6})
    (void)c.operand(i);
  const shape &words = c.dims(0), &table = c.dims(3);
  if (words.size != 2 || table.size != 2)
    throw error("its operands " + text(words) + " and " + text(table) + " do not fit");
  const pieces::name places =
      p.in(8).empty() ? p.part(p.in(3), 0, 0, words[1]) : p("Gather", {p.in(3), p.in(8)});
  pieces::name sum = p("Add", {p("Gather", {p.in(2), p.in(0)}), places});
  if (c.has(1) && c.has(4)) sum = p("Add", {sum, p("Gather", {p.in(4), p.in(1)})});
  p.give(0, p("LayerNormalization", {sum, p.in(5), p.in(6)}));
  p.give(2, sum);
  if (c.outputs() < 2 || c.node().output(1).empty()) return;
  p.give(1, c.has(7) ? p("ReduceSum", {p.in(7), p.whole({1})}, {{"keepdims", 0}})
                     : p("ConstantOfShape", {p.whole({words[0]})}));
}

inline void expand_mean_variance(pieces& p) {
  pieces::whole_numbers axes = p.of.integers("axes");
  if (!p.of.has_attribute("axes")) axes = {0, 2, 3};
  (void)call::axes(axes, p.of.dims(0).size);
  const auto mean = [&](const pieces::name& x) { return p("ReduceMean", {x, p.whole(axes)}); };
  const pieces::name middle = p("Sub", {p.in(0), mean(p.in(0))});
  const pieces::name deviation = p("Sqrt", {mean(p("Mul", {middle, middle}))});
  p.give(0, p("Div", {middle, p("Add", {deviation, p.number(1e-9)})}));
}

/// BatchNormalization-14..15 that trains: by the mean and variance of its batch, which also move
/// the running ones. At inference it is a layer by itself.
inline void expand_batch_norm(pieces& p) {
  const call& c = p.of;
  if (c.opset() < 14 || c.integer("training_mode", 0) == 0) return;
  const shape& x = c.dims(0);
  if (x.size < 2) throw error("its input " + text(x) + " has no channels");
  pieces::whole_numbers axes{0};
  shape along{x[1]};
  for (int i = 2; i < x.size; ++i) {
    axes.push_back(i);
    along.push(1);
  }
  const auto mean = [&](const pieces::name& v) { return p("ReduceMean", {v, p.whole(axes)}); };
  const pieces::name average = mean(p.in(0)), middle = p("Sub", {p.in(0), average});
  const pieces::name variance = mean(p("Mul", {middle, middle}));
  const pieces::name deviation =
      p("Sqrt", {p("Add", {variance, p.number(c.real("epsilon", 1e-5))})});
  const pieces::name scaled = p("Mul", {p("Div", {middle, deviation}), p.reshaped(p.in(1), along)});
  p.give(0, p("Add", {scaled, p.reshaped(p.in(2), along)}));
  const double kept = c.real("momentum", 0.9);
  const auto moved = [&](int running, const pieces::name& now) {
    return p("Add", {p("Mul", {p.in(running), p.number(kept)}),
                     p("Mul", {p.reshaped(now, {x[1]}), p.number(1 - kept)})});
  };
  if (c.gives_more()) {
    p.give(1, moved(3, average));
    p.give(2, moved(4, variance));
  }
}

} // namespace benanza::onnx
