// SPDX-License-Identifier: Apache-2.0
// Which input row does each row of a padded tensor take, and what is next to it? Tables of offsets
// for the outer dims, and of positions for the last: what is cut off first, what is kept as one
// run, and what is filled around it, from the run or with zeros.
//
//   padding_plan plan = plan_of(pad);   plan.rows(from, to, 0, row_count);
#pragma once

#include "../../operands.hpp"
#include "copy.hpp"

#include <vector>

namespace benanza::backend::host::detail {

/// Tables of one padding. Offsets and positions count bytes; -1 means a zero.
struct padding_plan {
  loops<1> outer;                    // all dims but the last, of the output; one at least
  std::vector<std::int64_t> from[8]; // for each of them: the input offset of every position
  std::vector<std::int64_t> left,
      right;                       // of each element next to the run: its place in the input row
  std::int64_t first, copied, row; // the run's place in the input row, its length; row length
  std::int64_t width;              // of an element
  bool zeros;                      // what is next to the run is never taken from the input

  void rows(const std::byte* input, std::byte* output, std::int64_t begin, std::int64_t end) const {
    const int inner = outer.rank - 1;
    const std::int64_t height = outer.size[inner];
    const std::byte* limit = output + end * row;
    walker<1> at(outer, inner, begin / height);
    for (std::int64_t k = begin % height; begin < end; k = 0, at.next()) {
      const std::int64_t count = std::min(height - k, end - begin);
      std::byte* to = output + begin * row;
      begin += count;
      std::int64_t base = 0;
      bool inside = true;
      for (int i = 0; i < inner; ++i) {
        const std::int64_t taken = from[i][static_cast<std::size_t>(at.place(i))];
        inside = inside && taken >= 0;
        base += taken;
      }
      const std::int64_t* offset = from[inner].data() + k;
      for (std::int64_t r = 0; r < count; ++r, to += row)
        if (inside && offset[r] >= 0)
          one_row(to, input + base + offset[r], limit);
        else
          std::memset(to, 0, static_cast<std::size_t>(row));
    }
  }

private:
  /// Writes one row; nothing at or behind `limit`.
  void one_row(std::byte* to, const std::byte* source, const std::byte* limit) const {
    const auto before = static_cast<std::int64_t>(left.size()) * width;
    const auto after = static_cast<std::int64_t>(right.size()) * width;
    std::byte* last = to + before + copied;
    if (zeros && before <= 32 && after <= 32 && limit - to >= row + 32) {
      // Fixed sizes cost less than calls: what is too much is written over, by the run or by the
      // next row.
      std::memset(to, 0, 32);
      copy_bytes(to + before, source + first, copied);
      std::memset(last, 0, 32);
      return;
    }
    copy_bytes(to + before, source + first, copied);
    beside(to, source, left);
    beside(last, source, right);
  }

  void beside(std::byte* to, const std::byte* source,
              const std::vector<std::int64_t>& taken) const {
    if (zeros) {
      std::memset(to, 0, taken.size() * static_cast<std::size_t>(width));
      return;
    }
    with_width(width, [&](auto e) {
      using element = decltype(e);
      auto* out = reinterpret_cast<element*>(to);
      for (std::int64_t place : taken)
        *out++ = *reinterpret_cast<const element*>(source + place);
    });
  }
};

/// The position that Pad takes for position `i` relative to what it keeps; -1: its constant.
inline std::int64_t padded_position(op::pad_mode mode, std::int64_t i, std::int64_t size) {
  if (i >= 0 && i < size) return i;
  const auto within = [i](std::int64_t period) { return (i % period + period) % period; };
  switch (mode) {
  case op::pad_mode::constant: break;
  case op::pad_mode::edge: return i < 0 ? 0 : size - 1;
  case op::pad_mode::wrap: return within(size);
  case op::pad_mode::reflect:
    if (size == 1) return 0;
    return within(2 * size - 2) < size ? within(2 * size - 2) : 2 * size - 2 - within(2 * size - 2);
  }
  return -1;
}

/// One dim of a padding: its size, what is cut off its begin, what is left, what is put around
/// that.
struct padded_dim {
  std::int64_t size, cut, kept, begin, end;
  bool plain() const { return begin == 0 && end == 0 && kept == size; }
};

/// The tables of a padding of elements of `width` bytes.
inline padding_plan plan_of(const op::pad& p, std::int64_t width) {
  // Dims that stay as they are become part of the dim before them, except where only whole rows of
  // it could be mirrored.
  std::vector<padded_dim> dims;
  const shape kept = p.kept();
  for (int i = 0; i < p.input.size; ++i) {
    const std::int64_t n = p.input[i];
    const padded_dim own{n, std::max<std::int64_t>(-p.begins[i], 0), kept[i],
                         std::max<std::int64_t>(p.begins[i], 0),
                         std::max<std::int64_t>(p.ends[i], 0)};
    if (!dims.empty() && own.plain() && (p.mode == op::pad_mode::constant || dims.back().plain()))
      for (std::int64_t* v : {&dims.back().size, &dims.back().cut, &dims.back().kept,
                              &dims.back().begin, &dims.back().end})
        *v *= n;
    else
      dims.push_back(own);
  }
  padding_plan plan{};
  plan.zeros = p.mode == op::pad_mode::constant;
  if (dims.size() < 2) dims.insert(dims.begin(), {1, 0, 1, 0, 0});
  const padded_dim last = dims.back();
  dims.pop_back();
  std::int64_t stride = last.size * width;
  for (std::size_t i = dims.size(); i-- > 0;) {
    for (std::int64_t at = 0; at < dims[i].begin + dims[i].kept + dims[i].end; ++at) {
      const std::int64_t taken = padded_position(p.mode, at - dims[i].begin, dims[i].kept);
      plan.from[i].push_back(taken < 0 ? -1 : (taken + dims[i].cut) * stride);
    }
    stride *= dims[i].size;
  }
  for (const padded_dim& d : dims)
    plan.outer.push(d.begin + d.kept + d.end, {0});
  plan.width = width;
  plan.row = (last.begin + last.kept + last.end) * width;
  plan.first = last.cut * width;
  plan.copied = last.kept * width;
  const auto beside = [&](std::int64_t at) {
    const std::int64_t taken = padded_position(p.mode, at, last.kept);
    return taken < 0 ? -1 : (taken + last.cut) * width;
  };
  for (std::int64_t at = 0; at < last.begin; ++at)
    plan.left.push_back(beside(at - last.begin));
  for (std::int64_t at = 0; at < last.end; ++at)
    plan.right.push_back(beside(last.kept + at));
  return plan;
}

} // namespace benanza::backend::host::detail
