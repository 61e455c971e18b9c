// SPDX-License-Identifier: Apache-2.0
// Elementwise layers for cuDNN. Dims are merged to the four or five that it takes; operands
// broadcast as NumPy says.
//
//   recipes out;   describe(op::unary{...}, {}, {numeric::f32}, out);
#pragma once

#include "frame.hpp"

namespace benanza::backend::cudnn {

namespace detail {
/// `dims` as cuDNN takes them: three to five; outer ones are merged, ones are put before.
inline shape of_rank(const shape& dims) {
  if (dims.size < 4) return expanded(dims, 4);
  if (dims.size <= 5) return dims;
  shape out{elements(dims, 0, dims.size - 4)};
  for (int i = dims.size - 4; i < dims.size; ++i)
    out.push(dims[i]);
  return out;
}

/// Dims of both operands and of the result; nothing where merging them would change what they say.
struct broadcast_dims {
  shape a, b, out;
};
inline std::optional<broadcast_dims> broadcasting(const shape& a, const shape& b,
                                                  const shape& out) {
  if (out.size <= 5) {
    const int rank = out.size < 4 ? 4 : out.size;
    return broadcast_dims{expanded(a, rank), expanded(b, rank), expanded(out, rank)};
  }
  const shape fa = expanded(a, out.size), fb = expanded(b, out.size);
  const int outer = out.size - 4;
  const auto uniform = [&](const shape& s) {
    const std::int64_t n = elements(s, 0, outer);
    return n == elements(out, 0, outer) || n == 1;
  };
  if (!uniform(fa) || !uniform(fb)) return std::nullopt;
  return broadcast_dims{of_rank(fa), of_rank(fb), of_rank(out)};
}
} // namespace detail

inline void describe(const op::unary& p, const op::step_list& steps, const request& r,
                     recipes& out) {
  const dtype type = storage_of(p.element, r.type);
  if (!data_type_of(type)) return;
  frame f{.output = p.input, .dims = detail::of_rank(p.input), .turned = true};
  bool known = true;
  f.core = [&known, p, dims = f.dims, type](writer& to, int y) {
    const int x = to.turned_operand(0, dims, type);
    known = add_function(to, p.function, x, y);
  };
  if (p.element == dtype::real && quantised(r.type)) f.after.push_back(scaled());
  f.operand_layouts = f.result_layout = any_layout_name;
  f.result = type;
  recipes made;
  write(f, steps, r, made);
  if (!known) return;
  for (recipe& m : made)
    out.push_back(std::move(m));
}

inline void describe(const op::binary& p, const op::step_list& steps, const request& r,
                     recipes& out) {
  const dtype type = storage_of(p.element, r.type);
  const bool truth = p.truth();
  if (!data_type_of(type)) return;
  if (p.operands < 2 || p.operands > 8) return;
  const auto dims = detail::broadcasting(p.a, p.b, p.output());
  if (!dims) return;
  frame f{.output = p.output(), .dims = dims->out, .turned = true};
  bool known = true;
  f.core = [&known, p, d = *dims, type](writer& to, int y) {
    int at = to.turned_operand(0, d.a, type);
    for (std::int64_t i = 1; i < p.operands; ++i) {
      const int b = to.turned_operand(static_cast<int>(i), d.b, type);
      const bool last = i + 1 == p.operands && p.function != op::binary_function::mean;
      const int next = last ? y : to.between(y);
      known = known && add_function(to, p.function, at, b, next);
      at = next;
    }
    if (p.function == op::binary_function::mean) {
      const int share = to.number(d.out.size, 1 / static_cast<float>(p.operands));
      to.graph.pointwise(CUDNN_POINTWISE_MUL, at, share, y);
    }
  };
  if (p.element == dtype::real && quantised(r.type) && !truth) f.after.push_back(scaled());
  f.operands = static_cast<int>(p.operands);
  f.operand_layouts = f.result_layout = p.a == p.b ? any_layout_name : name(layout::plain);
  f.result = truth ? dtype::boolean : type;
  recipes made;
  write(f, steps, r, made);
  if (!known) return;
  for (recipe& m : made)
    out.push_back(std::move(m));
}

} // namespace benanza::backend::cudnn
