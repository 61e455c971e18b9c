// SPDX-License-Identifier: Apache-2.0
// Normalizations and softmax: ONNX BatchNormalization-1..15 at inference, LRN-1..13, Softmax and
// LogSoftmax-1..13, LayerNormalization-17, RMSNormalization-23 (which ONNX Runtime calls
// SimplifiedLayerNormalization), GroupNormalization-18..21, InstanceNormalization-1..6.
//
//   handle_softmax(call)   // Softmax/1x1000-a1
#pragma once

#include "call.hpp"

namespace benanza::onnx {

inline answer handle_batch_norm(const call& c) {
  const shape& x = c.dims(0);
  answer a = of_layer(c, op::batch_norm{.input = x}, x);
  if (x.size < 2) throw error("its input " + text(x) + " has no channels");
  for (int i = 1; i < 5; ++i)
    if (!(c.dims(i) == shape{x[1]}) && c.integer("spatial", 1) != 0)
      throw error("its input " + std::to_string(i) + " is " + text(c.dims(i)) + ", not " +
                  std::to_string(x[1]));
  for (int i = 1; i < c.outputs(); ++i)
    a.outputs.push_back({c.element(0), shape{x[1]}});
  if (c.integer("training_mode", 0) != 0 || (c.outputs() > 1 && c.opset() < 14)) {
    a.layer.reset();
    a.problem = "it trains (training_mode), layers are those of inference";
  } else if (c.integer("spatial", 1) == 0) {
    a.layer.reset();
    a.problem = "it normalizes each activation by itself (spatial = 0)";
  }
  return a;
}

inline answer handle_lrn(const call& c) {
  const shape& x = c.dims(0);
  return of_layer(c, op::lrn{.input = x, .size = c.integer("size", 0)}, x);
}

/// Before opset 13 the input was taken as a matrix whose rows begin at the axis.
inline answer handle_softmax(const call& c) {
  const shape& x = c.dims(0);
  op::softmax p = *op::softmax::of(c.op());
  p.input = x;
  if (c.opset() >= 13) {
    p.axis = call::axis(c.integer("axis", -1), x.size);
  } else {
    const int axis = call::axis(c.integer("axis", 1), x.size, true);
    p.input = {benanza::elements(x, 0, axis), benanza::elements(x, axis, x.size)};
    p.axis = 1;
  }
  return of_layer(c, p, x);
}

/// LayerNormalization and RMSNormalization; further outputs are the mean and the deviation.
inline answer handle_row_norm(const call& c) {
  const shape& x = c.dims(0);
  const int axis = call::axis(c.integer("axis", -1), x.size);
  const bool mean = c.op() == "LayerNormalization";
  op::layer_norm p{.input = x, .axis = axis, .bias = c.has(2)};
  p.statistics = c.gives_more();
  answer a = mean ? of_layer(c, p, x) : of_layer(c, op::rms_norm{.input = x, .axis = axis}, x);
  shape statistics = x;
  for (int i = axis; i < x.size; ++i)
    statistics[i] = 1;
  for (int i = 1; i < c.outputs(); ++i)
    a.outputs.push_back({static_cast<int>(c.integer("stash_type", proto::FLOAT)), statistics});
  const std::int64_t row = benanza::elements(x, axis, x.size);
  for (int i = 1; i < c.size(); ++i)
    if (benanza::elements(c.dims(i)) != row)
      a.problem = "its input " + std::to_string(i) + " is " + text(c.dims(i)) + ", not a row of " +
                  std::to_string(row);
  if (c.gives_more() && !mean) a.problem = "it also gives its statistics, which no such layer does";
  if (!a.problem.empty()) a.layer.reset();
  return a;
}

/// Scale and bias are one for each channel; in version 18 one for each group.
inline answer handle_group_norm(const call& c) {
  const shape& x = c.dims(0);
  if (x.size < 2) throw error("its input " + text(x) + " has no channels");
  const op::group_norm p{.input = x, .groups = c.integer("num_groups", 0)};
  for (int i = 1; i < 3; ++i)
    if (!(c.dims(i) == shape{x[1]}) && !(c.dims(i) == shape{p.groups}))
      throw error("its input " + std::to_string(i) + " is " + text(c.dims(i)) + ", not " +
                  std::to_string(x[1]));
  return of_layer(c, p, x);
}

inline answer handle_instance_norm(const call& c) {
  const shape& x = c.dims(0);
  if (x.size < 2) throw error("its input " + text(x) + " has no channels");
  for (int i = 1; i < 3; ++i)
    if (!(c.dims(i) == shape{x[1]}))
      throw error("its input " + std::to_string(i) + " is " + text(c.dims(i)) + ", not " +
                  std::to_string(x[1]));
  return of_layer(c, op::instance_norm{.input = x}, x);
}

} // namespace benanza::onnx
