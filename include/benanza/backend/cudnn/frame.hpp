// SPDX-License-Identifier: Apache-2.0
// What do recipes have in common? A frame: a core operation whose result goes through stages (bias,
// the scale of integers, the steps of a fused layer) before the last of them writes it to memory.
// Each kind of layer fills in frames, one a layout; here they become recipes.
//
//   frame f{.dims = ..., .core = [..](writer& w, int to) { ... }};   write(f, steps, request, out);
#pragma once

#include "../../op/fused.hpp"
#include "steps.hpp"

#include <functional>

namespace benanza::backend::cudnn {

/// Adds operations that compute `to` from `from`; false where there is no way.
using stage = std::function<bool(writer&, int from, int to)>;

/// A layer in one layout, before its steps.
struct frame {
  shape output{}; ///< the layer's result in ONNX dims
  shape dims{};   ///< the same as the graph counts them
  shape padded{}; ///< with padding; empty: none
  layout in = layout::plain;
  bool turned = false;                         ///< described with the last dim as channels
  std::function<void(writer&, int to)> core{}; ///< adds operands and the first operation
  std::vector<stage> after{};                  ///< what the layer itself does on that
  bool adds_last = false; ///< the last of these adds a vector: a joined sum may come before it
  int operands = 1;       ///< that the layer itself has
  std::string before{}, layouts{};
  std::string operand_layouts{}, result_layout{}; ///< empty: none that other layers know
  dtype result = dtype::real;                     ///< `real`: the request's
  cudnnDataType_t core_type = CUDNN_DATA_FLOAT;   ///< of the core's result, if stages follow

  shape strides() const { return strides_in(in, padded.empty() ? dims : padded); }
};

namespace detail {
/// Dims in which an operand that broadcasts to `whole` meets a result of the graph's `dims`;
/// nothing where the graph counts dims another way.
inline std::optional<shape> meeting_dims(const shape& operand, const shape& whole,
                                         const shape& dims) {
  if (operand == whole) return dims;
  if (elements(operand) == 1) return shape::filled(dims.size, 1);
  const shape full = expanded(operand, whole.size);
  if (dims.size == whole.size) return full;
  // Dims of one were put in, or outer dims merged: what is one dim alone is still one.
  if (whole.size >= 3 && dims == widened(whole, dims.size)) return widened(full, dims.size);
  if (full[full.size - 1] != elements(operand) || dims[dims.size - 1] != full[full.size - 1])
    return std::nullopt;
  shape out = shape::filled(dims.size, 1);
  out[dims.size - 1] = full[full.size - 1];
  return out;
}

/// The layout that a joined operand has, as other layers know it.
inline std::string joined_layout(layout l, const shape& operand) {
  return std::string(name(same_memory(layout::plain, l, operand) ? layout::plain : l));
}
} // namespace detail

/// Adds the recipe of a frame with steps, unless cuDNN has no way.
inline void write(const frame& f, const op::step_list& steps, const request& r, recipes& out) {
  writer w(r);
  std::vector<stage> stages = f.after;
  std::string operand_layouts = f.operand_layouts;
  int input = f.operands;
  for (const op::step& s : steps) {
    if (!s.joins) {
      stages.push_back(
          [s](writer& to, int a, int y) { return add_function(to, s.function, a, y); });
      continue;
    }
    const shape operand = s.operand.empty() ? f.output : s.operand;
    const auto dims = detail::meeting_dims(operand, f.output, f.dims);
    if (!dims) return;
    if (!operand_layouts.empty()) operand_layouts += ',' + detail::joined_layout(f.in, operand);
    stages.push_back([s, dims = *dims, input, &f](writer& to, int a, int y) {
      shape padded = dims;
      if (!f.padded.empty() && dims[1] > 1) padded[1] = f.padded[1];
      const int b = f.turned ? to.turned_operand(input, dims, to.source_type())
                             : to.padded_operand(input, dims, padded, strides_in(f.in, padded),
                                                 to.source_type());
      return add_function(to, s.join, a, b, y);
    });
    ++input;
  }
  // Engines that are compiled beforehand add a whole tensor first, and then the vector.
  const bool sum = steps.size > 0 && steps.at[0] == op::step(op::binary_function::add);
  if (f.adds_last && sum) std::swap(stages[f.after.size() - 1], stages[f.after.size()]);
  const dtype type = f.result == dtype::real ? w.result_type() : f.result;
  const int y = f.turned           ? w.turned_operand(placed::result, f.dims, type)
                : f.padded.empty() ? w.result(f.dims, f.strides(), type)
                                   : w.padded_result(f.dims, f.padded, f.strides(), type);
  const auto& facts = w.graph.facts(y);
  const shape dims = facts.dims, strides = facts.strides;
  int at = stages.empty() ? y : w.graph.between(dims, strides, f.core_type);
  f.core(w, at);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const int to = i + 1 == stages.size() ? y : w.graph.between(dims, strides);
    if (!stages[i](w, at, to)) return;
    at = to;
  }
  w.made.before = f.before;
  w.made.layouts = f.layouts;
  w.made.operand_layouts = f.result_layout.empty() ? "" : operand_layouts;
  w.made.result_layout = operand_layouts.empty() ? "" : f.result_layout;
  out.push_back(w.finish());
}

/// y = x * the layer's output scale: what integers do on their exact result.
inline stage scaled() {
  return [](writer& w, int x, int y) {
    const int s = w.number(w.graph.facts(y).dims.size, 1, true);
    w.graph.pointwise(CUDNN_POINTWISE_MUL, x, s, y);
    return true;
  };
}

/// y = x + a vector of parameters, one a channel.
inline stage biased(int input, std::int64_t channels, std::int64_t padded) {
  return [=](writer& w, int x, int y) {
    const int rank = w.graph.facts(y).dims.size;
    shape dims = shape::filled(rank, 1), all = dims;
    dims[1] = channels;
    all[1] = padded;
    const int b = w.padded_operand(input, dims, all, packed(all), w.vector_type());
    w.graph.pointwise(CUDNN_POINTWISE_ADD, x, b, y);
    return true;
  };
}

} // namespace benanza::backend::cudnn
