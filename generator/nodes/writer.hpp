// SPDX-License-Identifier: Apache-2.0
// How is a layer written down as ONNX? As a model of one node, a fused layer as one of a node a
// step: the way back from what onnx/handle_*.hpp read. Operands of the trained model (weights,
// biases, scales) are initializers whose payload is elsewhere, the others are inputs, x0, x1 ... in
// the order of the layer's operands; results are y0, y1 ...
//
//   node_model m = write_node(op::parse("Conv/1x64x56x56-64x3x3-s1-p1"), operands);
//   m.inputs == std::vector<std::size_t>{0};   m.weights == std::vector<std::size_t>{1}
#pragma once

#include "../zoo/exporter.hpp"
#include "files.hpp"

#include <benanza/backend/operands.hpp>

#include <cstddef>
#include <vector>

namespace benanza::generator {

/// A layer as an ONNX model.
struct node_model {
  ::onnx::ModelProto model{};
  std::vector<std::size_t> inputs{};  ///< which operands are fed
  std::vector<std::size_t> weights{}; ///< which are part of the model
};

/// Writes a layer that computes on reals of single precision. Throws not_written for kinds that
/// ONNX has no node for, or whose result's dims depend on values.
node_model write_node(const op::layer& l, const backend::operands& o);

} // namespace benanza::generator
