// SPDX-License-Identifier: Apache-2.0
// One output of a normalization of each image by itself (ONNX GroupNormalization-21,
// InstanceNormalization-6): rows of a group's or a channel's elements, a scale for each channel.
//
//   lines_of(group_norm{.input = {1, 320, 64, 64}, .groups = 32}, operands).at(12)
#pragma once

#include "layer_norm.hpp"

namespace benanza::backend::reference {

inline normalized_rows lines_of(const op::group_norm& p, const operands& o) {
  return {o, p.row(), elements(p.input, 2, p.input.size), p.input[1], true};
}
inline normalized_rows lines_of(const op::instance_norm& p, const operands& o) {
  return {o, p.row(), p.row(), p.input[1], true};
}

} // namespace benanza::backend::reference
