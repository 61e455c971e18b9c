// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: ONNX LSTM, GRU and RNN of opsets 7 to 22. Weights count as trained, whether the
// file holds them or not.
//
//   handle_recurrent(call)   // LSTM/16x1x100-h128-b-n3
#pragma once

#include "call.hpp"

namespace benanza::onnx {

namespace detail {
inline std::vector<std::string> texts(const call& c, std::string_view name) {
  std::vector<std::string> out;
  if (const auto* a = c.attribute(name)) out.assign(a->strings().begin(), a->strings().end());
  return out;
}

inline void expect(const call& c, int i, const shape& wanted) {
  if (c.has(i) && !(c.dims(i) == wanted))
    throw error("its input " + std::to_string(i) + " is " + text(c.dims(i)) + ", not " +
                text(wanted));
}
} // namespace detail

inline answer handle_recurrent(const call& c) {
  const shape &x = c.dims(0), &w = c.dims(1);
  if (x.size != 3 || w.size != 3)
    throw error("its operands " + text(x) + " and " + text(w) + " do not have three dims");
  op::recurrent p = *op::recurrent::of(c.op());
  p.batch_first = c.integer("layout", 0) != 0;
  p.steps = x[p.batch_first ? 1 : 0];
  p.batch = x[p.batch_first ? 0 : 1];
  p.inputs = x[2];
  p.hidden = c.dims(2).size == 3 ? c.dims(2)[2] : 0;
  const std::string_view way = c.word("direction", "forward");
  const auto* found =
      std::find(std::begin(op::direction_names), std::end(op::direction_names), way);
  if (found == std::end(op::direction_names))
    throw error("its direction is " + detail::in_quotes(way) + ", which ONNX does not know");
  p.way = static_cast<op::direction>(found - std::begin(op::direction_names));
  p.bias = c.has(3);
  p.lengths = c.has(4);
  p.initial_h = c.has(5);
  p.initial_c = p.lstm() && c.has(6);
  p.peepholes = p.lstm() && c.has(7);
  p.clipped = c.has_attribute("clip");
  p.reset_after = p.cell == op::cell_kind::gru && c.integer("linear_before_reset", 0) != 0;
  p.coupled = p.lstm() && c.integer("input_forget", 0) != 0;
  p.wanted = std::max(1, c.outputs());
  while (p.wanted > 1 && c.node().output(static_cast<int>(p.wanted) - 1).empty())
    --p.wanted;
  for (const std::string& name : detail::texts(c, "activations")) {
    const auto f = op::unary::of(name);
    const auto* place = std::find(std::begin(op::cell_functions), std::end(op::cell_functions),
                                  f ? f->function : op::unary_function::logical_not);
    if (place == std::end(op::cell_functions))
      throw error("its activation " + detail::in_quotes(name) + " is none that layers have");
    p.activations.push(place - std::begin(op::cell_functions));
  }
  p.validate();
  detail::expect(c, 1, p.input_weights());
  detail::expect(c, 2, p.state_weights());
  detail::expect(c, 3, p.biases());
  detail::expect(c, 4, {p.batch});
  detail::expect(c, 5, p.state());
  if (p.lstm()) detail::expect(c, 6, p.state());
  if (p.lstm()) detail::expect(c, 7, p.peephole_weights());
  answer a = of_layer(c, p, p.output());
  for (int i = 1; i < c.outputs(); ++i)
    a.outputs.push_back({c.element(0), p.state()});
  return a;
}

} // namespace benanza::onnx
