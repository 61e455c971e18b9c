// SPDX-License-Identifier: Apache-2.0
// Which layers are nothing but blocks of elements that go somewhere else? Slice, Transpose,
// DepthToSpace, SpaceToDepth, Concat, Split, Pad with zeros, and changes of layout: each block is a
// nest of loops with a stride in its operand and one in the result, both counted in elements; loops
// that can be one are one. No GPU is needed for any of this.
//
//   blocks b = *blocks_of(op::transpose{.input = {8, 12, 64}, .order = {1, 0, 2}});
//   b.moved[0].loops == {{12, 512, 64}, {8, 64, 768}, {64, 1, 1}};
#pragma once

#include "../../op/kinds.hpp"

#include <optional>
#include <vector>

namespace benanza::backend::cuda {

/// One loop: how often, and how far elements are apart in the result and in the operand.
struct loop {
  std::int64_t count = 1, to = 0, from = 0;
  bool operator==(const loop&) const = default;
};

/// A block of elements of one operand, and where it goes.
struct block {
  int operand = 0;
  std::int64_t to = 0, from = 0; ///< places of its first element
  std::vector<loop> loops{};     ///< outermost first; none runs once, no two could be one

  /// Adds a loop inside of all others.
  void push(const loop& l) {
    if (l.count == 1) return;
    if (!loops.empty()) {
      loop& outer = loops.back();
      if (outer.to == l.to * l.count && outer.from == l.from * l.count) {
        outer = {outer.count * l.count, l.to, l.from};
        return;
      }
    }
    loops.push_back(l);
  }
  std::int64_t count() const {
    std::int64_t n = 1;
    for (const loop& l : loops)
      n *= l.count;
    return n;
  }
};

/// What a layer moves.
struct blocks {
  bool zeros_first = false; ///< the result is zero where no block goes
  std::vector<block> moved{};
};

namespace detail {

inline blocks one_block(block b) {
  blocks out;
  out.moved.push_back(std::move(b));
  return out;
}

inline blocks blocks_of(const op::transpose& p) {
  const shape in = packed(p.input), out = packed(p.output());
  block b;
  for (int i = 0; i < p.order.size; ++i) {
    const int from = static_cast<int>(p.order[i]);
    b.push({p.input[from], out[i], in[from]});
  }
  return one_block(std::move(b));
}

inline blocks blocks_of(const op::slice& p) {
  const shape in = packed(p.input), out = packed(p.sizes);
  block b;
  for (int i = 0; i < p.sizes.size; ++i) {
    b.from += in[i] * p.start(i);
    b.push({p.sizes[i], out[i], in[i] * p.step(i)});
  }
  return one_block(std::move(b));
}

/// A transposition of six dims.
inline blocks blocks_of(const op::depth_to_space& p) {
  const std::int64_t b = p.block, n = p.input[0];
  const std::int64_t c = p.inverse ? p.input[1] : p.input[1] / (b * b);
  const std::int64_t h = p.inverse ? p.input[2] / b : p.input[2];
  const std::int64_t w = p.inverse ? p.input[3] / b : p.input[3];
  if (p.inverse)
    return blocks_of(op::transpose{.input = {n, c, h, b, w, b},
                                   .order = p.column_row_depth ? shape{0, 1, 3, 5, 2, 4}
                                                               : shape{0, 3, 5, 1, 2, 4}});
  if (p.column_row_depth)
    return blocks_of(op::transpose{.input = {n, c, b, b, h, w}, .order = {0, 1, 4, 2, 5, 3}});
  return blocks_of(op::transpose{.input = {n, b, b, c, h, w}, .order = {0, 3, 4, 1, 5, 2}});
}

inline blocks blocks_of(const op::concat& p) {
  const std::int64_t rows = elements(p.whole, 0, p.axis),
                     row = elements(p.whole, p.axis, p.whole.size);
  blocks out;
  std::int64_t first = 0;
  for (std::int64_t i = 0; i < p.parts; ++i) {
    const shape part = op::part_of(p.whole, p.axis, p.parts, i);
    const std::int64_t length = elements(part, p.axis, part.size);
    block b{.operand = static_cast<int>(i), .to = first};
    b.push({rows, row, length});
    b.push({length, 1, 1});
    out.moved.push_back(std::move(b));
    first += length;
  }
  return out;
}

/// The parts follow each other in the result.
inline blocks blocks_of(const op::split& p) {
  const std::int64_t rows = elements(p.whole, 0, p.axis),
                     row = elements(p.whole, p.axis, p.whole.size);
  blocks out;
  std::int64_t first = 0;
  for (std::int64_t i = 0; i < p.parts; ++i) {
    const shape part = op::part_of(p.whole, p.axis, p.parts, i);
    const std::int64_t length = elements(part, p.axis, part.size);
    block b{.to = first * rows, .from = first};
    b.push({rows, length, row});
    b.push({length, 1, 1});
    out.moved.push_back(std::move(b));
    first += length;
  }
  return out;
}

/// Between ONNX's order and channels last; there are no blocked layouts on a GPU.
inline std::optional<blocks> blocks_of(const op::reorder& p) {
  const auto known = [](layout l) { return l == layout::plain || l == layout::channels_last; };
  if (!known(p.from) || !known(p.to)) return std::nullopt;
  const std::int64_t n = p.input[0], c = p.input[1], plane = elements(p.input, 2, p.input.size);
  const shape from = p.from == layout::plain ? shape{n, c, plane} : shape{n, plane, c};
  return blocks_of(op::transpose{.input = from, .order = {0, 2, 1}});
}

inline std::optional<blocks> blocks_of(const op::pad& p) {
  const shape kept = p.kept(), in = packed(p.input), out = packed(p.output());
  if (kept != p.output() && p.mode != op::pad_mode::constant) return std::nullopt;
  blocks made{.zeros_first = kept != p.output()};
  if (elements(kept) == 0) return made;
  block b;
  for (int i = 0; i < kept.size; ++i) {
    b.to += out[i] * std::max<std::int64_t>(p.begins[i], 0);
    b.from += in[i] * std::max<std::int64_t>(-p.begins[i], 0);
    b.push({kept[i], out[i], in[i]});
  }
  made.moved.push_back(std::move(b));
  return made;
}

} // namespace detail

/// True for layers whose result, or first operand, has no elements.
inline bool is_empty(const op::layer& l) {
  return op::visit(
      [&l](const auto& p) {
        if constexpr (requires { p.input; })
          if (elements(p.input) == 0) return true;
        return elements(op::output(l)) == 0;
      },
      l);
}

/// The blocks that a layer moves; nothing for layers that do something else.
inline std::optional<blocks> blocks_of(const op::layer& l) {
  return op::visit(
      [](const auto& p) -> std::optional<blocks> {
        if constexpr (requires { detail::blocks_of(p); })
          return detail::blocks_of(p);
        else
          return std::nullopt;
      },
      l);
}

} // namespace benanza::backend::cuda
