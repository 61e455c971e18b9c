// SPDX-License-Identifier: Apache-2.0
// How do operands get to where a graph wants them, and results back? As placed tensors say; vectors
// of a batch normalization are folded into two.
//
//   tensor_bytes there = spread(operand, placed);   gather(placed, bytes, out);
#pragma once

#include "../cuda/placement.hpp"
#include "recipe.hpp"

#include <cmath>

namespace benanza::backend::cudnn {

/// The bytes of an operand as `p` says.
inline tensor_bytes spread(const tensor& from, const placed& p) {
  return cuda::spread(from, {p.dims, p.strides, p.type, p.elements});
}

/// The elements of a result in ONNX order.
inline void gather(const placed& p, std::span<const std::byte> bytes, std::vector<double>& out) {
  cuda::gather({p.dims, p.strides, p.type, p.elements}, bytes, out);
}

/// Scale and shift of a batch normalization, folded from its vectors.
inline tensor folded(const operands& o, bool shift) {
  const auto scale = o.inputs.at(1).as<float>(), bias = o.inputs.at(2).as<float>(),
             mean = o.inputs.at(3).as<float>(), variance = o.inputs.at(4).as<float>();
  tensor out{.dims = o.inputs[1].dims, .type = dtype::f32, .part = role::vector};
  out.bytes.resize(o.inputs[1].bytes.size());
  const auto to = out.as<float>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const double factor = scale[i] / std::sqrt(variance[i] + attribute::epsilon);
    to[i] = static_cast<float>(shift ? bias[i] - mean[i] * factor : factor);
  }
  return out;
}

} // namespace benanza::backend::cudnn
