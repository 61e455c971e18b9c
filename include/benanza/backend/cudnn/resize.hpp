// SPDX-License-Identifier: Apache-2.0
// Resize for cuDNN, where its samples are certain: the nearest neighbour in a result that is some
// whole times larger is a copy of each element so many times. Each resized dim is described as two,
// of which the second is one in the source, and broadcasts. The library's own interpolation does
// not say where it places its samples; nothing is offered by it.
//
//   recipes out;   describe(op::resize{{1, 64, 28, 28}, {1, 64, 56, 56}}, {}, {}, out);
#pragma once

#include "../../op/fused.hpp"
#include "../../op/move.hpp"
#include "recipe.hpp"

namespace benanza::backend::cudnn {

namespace detail {
/// Dims of source and result with each resized dim as two, others merged.
struct repeated {
  shape from{}, to{};
};

/// Dims in the order of memory.
inline shape in_memory(layout l, const shape& dims) {
  if (l == layout::plain) return dims;
  shape out{dims[0]};
  for (int i = 2; i < dims.size; ++i)
    out.push(dims[i]);
  out.push(dims[1]);
  return out;
}

/// Nothing where the result is no repetition, or would have more dims than cuDNN takes.
inline std::optional<repeated> repetition(const shape& from, const shape& to) {
  repeated r{.from = {1}, .to = {1}};
  bool closed = false; // behind a factor no dim can be merged
  for (int i = 0; i < from.size; ++i) {
    if (to[i] % from[i] != 0) return std::nullopt;
    const std::int64_t times = to[i] / from[i];
    if (times == 1 && !closed) {
      r.from[r.from.size - 1] *= from[i];
      r.to[r.to.size - 1] *= from[i];
      continue;
    }
    if (r.from.size + 2 > 8) return std::nullopt;
    r.from.push(from[i]);
    r.to.push(from[i]);
    closed = times != 1;
    if (closed) r.from.push(1), r.to.push(times);
  }
  const int rank = r.to.size < 4 ? 4 : r.to.size;
  return repeated{expanded(r.from, rank), expanded(r.to, rank)};
}
} // namespace detail

inline void describe(const op::resize& p, const op::step_list&, const request& r, recipes& out) {
  if (quantised(r.type) || !p.plain() || p.mode != op::interpolation::nearest ||
      p.coordinates == op::sampling::align_corners)
    return;
  for (const layout l : cudnn_layouts) {
    if (l == layout::channels_last && p.input.size < 3) continue;
    const auto dims =
        detail::repetition(detail::in_memory(l, p.input), detail::in_memory(l, p.sizes));
    if (!dims) continue;
    writer to(r);
    const auto operand = [&](int input, const shape& told, const shape& onnx) {
      const int t = to.turned_operand(input, told, to.source_type());
      to.made.tensors.back().dims = onnx;
      to.made.tensors.back().strides = strides_in(l, onnx);
      return t;
    };
    const int x = operand(0, dims->from, p.input), y = operand(placed::result, dims->to, p.sizes);
    to.graph.pointwise(CUDNN_POINTWISE_IDENTITY, x, std::nullopt, y);
    to.made.before = prefix_of(l);
    to.made.layouts =
        activation_letters(l, p.input.size) + ',' + activation_letters(l, p.input.size);
    to.made.operand_layouts = to.made.result_layout = name(l);
    out.push_back(to.finish());
  }
}

} // namespace benanza::backend::cudnn
