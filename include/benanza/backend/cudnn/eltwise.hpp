// SPDX-License-Identifier: Apache-2.0
// Elementwise layers, and layers that only change the layout, for cuDNN. Dims are merged to the
// three that it takes; operands broadcast as NumPy says.
//
//   recipes out;   describe(op::unary{...}, {}, {numeric::f32}, out);
#pragma once

#include "../../op/reorder.hpp"
#include "frame.hpp"

namespace benanza::backend::cudnn {

namespace detail {
/// Neighbouring dims that all operands of an elementwise layer may merge. Its engines take packed
/// tensors of three dims, and no packed ones of four.
class merged_dims {
public:
  /// Nothing where three dims do not suffice for what broadcasts.
  static std::optional<merged_dims> of(const shape& whole, const std::vector<shape>& operands) {
    merged_dims m(whole);
    for (int i = 0; i < whole.size; ++i) {
      if (whole[i] == 1) continue;
      const auto kind = [&](int at, const shape& s) { return expanded(s, whole.size)[at] == 1; };
      bool joins = !m.last_.empty();
      for (const shape& s : operands)
        joins = joins && kind(i, s) == kind(static_cast<int>(m.last_.back()), s);
      if (!joins) m.last_.push(i);
      m.last_[m.last_.size - 1] = i;
    }
    if (m.last_.size > 3) return std::nullopt;
    // One dim alone is split, as long as vectors of it stay whole.
    const std::int64_t count = elements(whole);
    if (m.last_.size <= 1)
      while (m.inner_ < 1024 && count % (2 * m.inner_) == 0)
        m.inner_ *= 2;
    return m;
  }

  /// The dims of an operand that broadcasts to the whole.
  std::optional<shape> operator()(const shape& operand) const {
    const shape full = expanded(operand, whole_.size);
    if (inner_ > 1) {
      const std::int64_t count = elements(full);
      if (count == 1) return shape{1, 1, 1};
      if (count != elements(whole_)) return std::nullopt;
      return shape{1, count / inner_, inner_};
    }
    shape out = shape::filled(3 - last_.size, 1);
    int first = 0;
    for (const std::int64_t last : last_) {
      const int end = static_cast<int>(last) + 1;
      const std::int64_t n = elements(full, first, end);
      if (n != 1 && n != elements(whole_, first, end)) return std::nullopt;
      out.push(n);
      first = end;
    }
    return out;
  }

private:
  explicit merged_dims(const shape& whole)
      : whole_(whole) {}

  shape whole_;
  shape last_{};            ///< the last dim of each group
  std::int64_t inner_ = 1; ///< of the only dim, the part that is a dim of its own
};

/// The operands that steps join.
inline std::vector<shape> joined_by(const op::step_list& steps, const shape& whole) {
  std::vector<shape> out;
  for (const op::step& s : steps)
    if (s.joins) out.push_back(s.operand.empty() ? whole : s.operand);
  return out;
}
} // namespace detail

inline void describe(const op::unary& p, const op::step_list& steps, const request& r,
                     recipes& out) {
  const dtype type = storage_of(p.element, r.type);
  if (!data_type_of(type) || (p.element == dtype::real && quantised(r.type))) return;
  const auto merged = detail::merged_dims::of(p.input, detail::joined_by(steps, p.input));
  if (!merged) return;
  frame f{.output = p.input, .dims = *(*merged)(p.input), .meeting = *merged};
  bool known = true;
  f.core = [&known, p, dims = f.dims, type](writer& to, int y) {
    const int x = to.operand(0, dims, packed(dims), type);
    known = add_function(to, p.function, x, y);
  };
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
  const bool truth = p.comparison() || p.function >= op::binary_function::logical_and;
  if (!data_type_of(type) || (p.element == dtype::real && quantised(r.type))) return;
  if (p.operands < 2 || p.operands > 8) return;
  std::vector<shape> operands = detail::joined_by(steps, p.output());
  operands.push_back(p.a);
  operands.push_back(p.b);
  const auto merged = detail::merged_dims::of(p.output(), operands);
  if (!merged) return;
  frame f{.output = p.output(), .dims = *(*merged)(p.output()), .meeting = *merged};
  bool known = true;
  const shape a = *(*merged)(p.a), other = *(*merged)(p.b);
  f.core = [&known, p, a, other, rank = f.dims.size, type](writer& to, int y) {
    int at = to.operand(0, a, packed(a), type);
    for (std::int64_t i = 1; i < p.operands; ++i) {
      const int b = to.operand(static_cast<int>(i), other, packed(other), type);
      const bool last = i + 1 == p.operands && p.function != op::binary_function::mean;
      const int next = last ? y : to.between(y);
      known = known && add_function(to, p.function, at, b, next);
      at = next;
    }
    if (p.function == op::binary_function::mean) {
      const int share = to.number(rank, 1 / static_cast<float>(p.operands));
      to.graph.pointwise(CUDNN_POINTWISE_MUL, at, share, y);
    }
  };
  f.operands = static_cast<int>(p.operands);
  f.operand_layouts = f.result_layout =
      p.a == p.b ? any_layout_name : name(layout::plain);
  f.result = truth ? dtype::boolean : type;
  recipes made;
  write(f, steps, r, made);
  if (!known) return;
  for (recipe& m : made)
    out.push_back(std::move(m));
}

/// A reorder is the identity between tensors of other strides.
inline void describe(const op::reorder& p, const op::step_list&, const request& r, recipes& out) {
  const auto taken = [](layout l) { return l == layout::plain || l == layout::channels_last; };
  if (!taken(p.from) || !taken(p.to)) return;
  writer w(r);
  const shape dims = widened(p.input, p.input.size < 4 ? 4 : p.input.size);
  const int x = w.operand(0, dims, strides_in(p.from, dims), w.source_type());
  const int y = w.result(dims, strides_in(p.to, dims), w.result_type());
  w.graph.pointwise(CUDNN_POINTWISE_IDENTITY, x, std::nullopt, y);
  w.made.layouts = activation_letters(p.from, p.input.size) + ',' +
                   activation_letters(p.to, p.input.size);
  w.made.operand_layouts = name(p.from);
  w.made.result_layout = name(p.to);
  out.push_back(w.finish());
}

} // namespace benanza::backend::cudnn
