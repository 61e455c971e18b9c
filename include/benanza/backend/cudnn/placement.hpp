// SPDX-License-Identifier: Apache-2.0
// Which operands of a graph are none of the layer's own? Scale and shift of a batch normalization,
// which are folded from its four vectors.
//
//   tensor scale = folded(operands, false), shift = folded(operands, true);
#pragma once

#include "recipe.hpp"

#include <cmath>

namespace benanza::backend::cudnn {

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
